"""Sources and retailers: closed at first, opened by people who are named."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from penstock.products import sources
from penstock.products.sources import Visibility
from penstock.products.tables import source_trust_config
from penstock.store.store import Store
from penstock.web.errors import Conflict, InvalidRequest, NotFound
from tests.stores import Stores, rows_of

Row = dict[str, Any]


@pytest.fixture
async def store(stores: Stores) -> Store:
    return await stores.open()


@pytest.fixture
async def retailer(store: Store) -> Row:
    return await store.write(
        lambda unit: sources.create_retailer(unit, "SG Ammo", "https://www.sgammo.com/", who="ann")
    )


@pytest.fixture
async def source(store: Store, retailer: Row) -> Row:
    return await store.write(
        lambda unit: sources.create_source(
            unit, "sgammo", "WWW.SGAmmo.com", retailer["id"], who="ann", adapter_id="sgammo"
        )
    )


async def test_new_source_is_ineligible_untrusted_and_not_approved(
    store: Store, source: Row
) -> None:
    assert source["visibility_status"] == "INELIGIBLE"
    assert source["upc_trusted"] is False
    assert (source["tos_reviewed_at"], source["tos_approved_by"]) == (None, None)
    assert source["robots_compliant"] is True
    assert (source["domain"], source["retailer"]) == ("sgammo.com", "SG Ammo")
    assert source["updated_by"] == "ann"
    (trust,) = await rows_of(store, source_trust_config)
    assert (trust["upc_trusted"], trust["updated_by"]) == (False, "ann")


async def test_source_is_found_by_id_name_or_domain(store: Store, source: Row) -> None:
    by_id = await store.read(lambda unit: sources.get_source(unit, source["id"]))
    by_name = await store.read(lambda unit: sources.get_source(unit, "sgammo"))
    listed = await store.read(lambda unit: sources.list_sources(unit, domain="shop.sgammo.com"))
    others = await store.read(lambda unit: sources.list_sources(unit, domain="other.example"))

    assert by_id == by_name == source
    assert (listed, others) == ([source], [])


async def test_one_domain_may_have_several_sources(
    store: Store, source: Row, retailer: Row
) -> None:
    await store.write(
        lambda unit: sources.create_source(unit, "outlet", "sgammo.com", retailer["id"], who="ann")
    )

    assert len(await store.read(sources.list_sources)) == 2


async def test_terms_are_approved_and_revoked_by_somebody(
    store: Store, source: Row, stores: Stores
) -> None:
    approved = await store.write(
        lambda unit: sources.approve_terms(unit, source["id"], who="lawyer")
    )
    revoked = await store.write(lambda unit: sources.revoke_terms(unit, source["id"], who="bob"))

    assert approved["tos_approved_by"] == "lawyer"
    assert approved["tos_reviewed_at"] >= source["created_at"]
    assert (revoked["tos_approved_by"], revoked["tos_reviewed_at"]) == (None, None)
    assert revoked["updated_by"] == "bob"


async def test_approval_is_of_the_terms_of_one_site(store: Store, source: Row) -> None:
    await store.write(lambda unit: sources.approve_terms(unit, source["id"], who="lawyer"))

    renamed = await store.write(
        lambda unit: sources.edit_source(unit, source["id"], who="ann", name="SGAmmo")
    )
    moved = await store.write(
        lambda unit: sources.edit_source(unit, source["id"], who="ann", domain="other.example")
    )

    assert renamed["tos_approved_by"] == "lawyer"
    assert moved["tos_approved_by"] is None


async def test_visibility_and_trust_are_set_by_somebody(store: Store, source: Row) -> None:
    await store.write(
        lambda unit: sources.set_visibility(unit, "sgammo", Visibility.ELIGIBLE, who="bob")
    )
    found = await store.write(
        lambda unit: sources.set_trust(unit, "sgammo", upc_trusted=True, who="eve")
    )

    assert (found["visibility_status"], found["updated_by"]) == ("ELIGIBLE", "bob")
    assert found["upc_trusted"] is True
    (trust,) = await rows_of(store, source_trust_config)
    assert trust["updated_by"] == "eve"


async def test_scrape_config_is_kept_as_it_is(store: Store, source: Row) -> None:
    config = {"fetcherType": "playwright", "rateLimit": {"requestsPerSecond": 0.5}}
    edit = partial(sources.edit_source, source_id=source["id"], who="ann")

    edited = await store.write(partial(edit, scrape_config=config))
    with pytest.raises(InvalidRequest, match="fetcherType"):
        await store.write(partial(edit, scrape_config={"fetcherType": "curl"}))

    assert edited["scrape_config"] == config
    assert await store.read(lambda unit: sources.get_source(unit, source["id"])) == edited


async def test_retailer_is_edited_and_listed(store: Store, retailer: Row) -> None:
    edited = await store.write(
        lambda unit: sources.edit_retailer(unit, retailer["id"], who="bob", name="SGAmmo")
    )

    assert (edited["name"], edited["updated_by"]) == ("SGAmmo", "bob")
    assert edited["website_url"] == "https://www.sgammo.com/"
    assert await store.read(sources.list_retailers) == [edited]


NEW: Row = {"name": "x", "domain": "x.example", "retailer_id": "SG Ammo", "who": "ann"}
IMPOSSIBLE: list[tuple[Callable[..., Row], Row, type[Exception]]] = [
    (sources.create_source, NEW | {"name": "sgammo"}, Conflict),
    (sources.create_source, NEW | {"name": " "}, InvalidRequest),
    (sources.create_source, NEW | {"domain": "https://x.example/a"}, InvalidRequest),
    (sources.create_source, NEW | {"retailer_id": "nobody"}, NotFound),
    (sources.create_source, NEW | {"who": ""}, InvalidRequest),
    (sources.create_retailer, {"name": "SG Ammo", "who": "ann"}, Conflict),
    (sources.create_retailer, {"name": "x", "website_url": "x", "who": "ann"}, InvalidRequest),
    (sources.edit_source, {"source_id": "sgammo", "who": "ann", "id": "1"}, InvalidRequest),
    (
        sources.edit_source,
        {"source_id": "sgammo", "who": "ann", "visibility_status": "ELIGIBLE"},
        InvalidRequest,
    ),
    (sources.edit_source, {"source_id": "sgammo", "who": " ", "name": "y"}, InvalidRequest),
    (sources.edit_source, {"source_id": "nobody", "who": "ann", "name": "y"}, NotFound),
    (sources.approve_terms, {"source_id": "sgammo", "who": ""}, InvalidRequest),
    (
        sources.set_trust,
        {"source_id": "sgammo", "upc_trusted": True, "who": ""},
        InvalidRequest,
    ),
]


async def test_what_cannot_be_is_refused(store: Store, source: Row) -> None:
    for change, values, error in IMPOSSIBLE:
        with pytest.raises(error):
            await store.write(partial(change, **values))

    assert await store.read(sources.list_sources) == [source]


async def test_name_of_another_source_is_not_taken(
    store: Store, source: Row, retailer: Row
) -> None:
    await store.write(partial(sources.create_source, **(NEW | {"name": "other"})))

    with pytest.raises(Conflict, match="name"):
        await store.write(
            lambda unit: sources.edit_source(unit, source["id"], who="ann", name="other")
        )
