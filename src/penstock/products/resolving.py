"""The resolver: which canonical product a source product is.

Each source product has one root, a key that says what it is. It is a function of the facts in
the store, so the order in which they came does not matter:

1. a GTIN, if its source is trusted with them;
2. else brand, calibre, grain and rounds, if all are known. If trusted offers of exactly one GTIN
   say the same of themselves, the root is that GTIN;
3. else brand and manufacturer's number. If the offers with that number have exactly one root by
   1 and 2, the root is that one;
4. else nothing: the source product is a product of its own.

Where more than one would fit, none is taken. `product_keys` says which product stands for a root.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import orjson
from sqlalchemy import (
    BindParameter,
    Column,
    ColumnElement,
    Select,
    and_,
    bindparam,
    case,
    func,
    or_,
    select,
    update,
)

from penstock.core.ids import new_id
from penstock.products.tables import (
    product_keys,
    products,
    source_products,
    source_trust_config,
)
from penstock.store.unit import Unit

Row = Mapping[str, Any]
#: Roots by their first word, the strongest first.
STRENGTH = {"gtin": 0, "attributes": 1, "mpn": 2, "offer": 3}
#: What a product takes over from its source products, as long as it does not know it.
PRODUCT_FACTS = ("brand", "upc", "mpn", "caliber", "grain_weight", "round_count")
GTIN_DIGITS = 14
AT_ONCE = 500
TURN = "resolver"


class Keys(NamedTuple):
    """What a source product can be recognised by."""

    gtin: str | None = None
    attributes: str | None = None
    mpn: str | None = None


class Group(NamedTuple):
    """Source products that are alike to the resolver; `gtin` only if it is trusted."""

    gtin: str | None
    attributes: str | None
    mpn: str | None
    product_id: str | None


def keys_of(facts: Row) -> Keys:
    """The keys of a source product, each only if all of its parts are known."""
    brand, mpn = _plain(facts["brand"]), _plain(facts["mpn"])
    attributes = [brand, _plain(facts["caliber"]), facts["grain_weight"], facts["round_count"]]
    gtin = facts["upc"]
    return Keys(
        gtin=f"gtin:{gtin.zfill(GTIN_DIGITS)}" if gtin else None,
        attributes=_key("attributes", attributes),
        mpn=_key("mpn", [brand, mpn]),
    )


def _plain(text: str | None) -> str | None:
    """A text without differences in case, space and form of characters."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()) if text else None


def _key(kind: str, parts: Sequence[Any]) -> str | None:
    if not all(parts):
        return None
    plain = [f"{part.normalize():f}" if isinstance(part, Decimal) else part for part in parts]
    return f"{kind}:{orjson.dumps(plain).decode()}"


def take_turn(unit: Unit) -> None:
    """Be the only one who links source products, until the transaction is over."""
    unit.take_turns(TURN)


def resolve_again(unit: Unit, source_id: str) -> None:
    """Link the source products of a source anew: what its GTINs are worth has changed."""
    take_turn(unit)
    theirs = source_products.c.source_id == source_id, source_products.c.gtin_key.is_not(None)
    ids = unit.run(select(source_products.c.id).where(*theirs)).scalars().all()
    for start in range(0, len(ids), AT_ONCE):
        resolve(unit, ids[start : start + AT_ONCE])


def resolve(unit: Unit, ids: Sequence[str], former: Iterable[Keys] = ()) -> None:
    """Link source products, and others that are affected; `former` are keys they had before.

    To be called after `take_turn`.
    """
    changed = _load(unit, ids)
    before = list(former)
    attributes = [row["attributes_key"] for row in changed] + [keys.attributes for keys in before]
    numbers = [row["mpn_key"] for row in changed] + [keys.mpn for keys in before]
    known = _Known(unit, set(filter(None, attributes)), set(filter(None, numbers)))
    roots = {row["id"]: known.root_of(_group_of(row), row["id"]) for row in changed}
    moving = {group: known.root_of(group) for group in known.affected()}
    weaker = known.leading_to() | {f"offer:{each}": root for each, root in roots.items()}
    found = _find_products(unit, {*roots.values(), *moving.values()}, weaker)
    facts = _facts_of(unit, changed, roots, moving)
    fresh = _create_products(unit, found, facts)
    _link(unit, changed, {each: found.product_of[root] for each, root in roots.items()})
    _fill_gaps(unit, [row for row in changed if row["id"] not in fresh], roots, found)
    for group, root in moving.items():
        if group.product_id not in {None, found.product_of[root]}:
            _move(unit, group, found.product_of[root])


def _load(unit: Unit, ids: Sequence[str]) -> list[dict[str, Any]]:
    trusted = _trusted_gtin().label("gtin")
    query = _with_trust(select(source_products, trusted))
    return list(unit.rows(query.where(unit.among(source_products.c.id, ids))))


def _trusted_gtin() -> ColumnElement[str | None]:
    return case((source_trust_config.c.upc_trusted.is_(True), source_products.c.gtin_key))


def _with_trust(query: Select[Any]) -> Select[Any]:
    same_source = source_trust_config.c.source_id == source_products.c.source_id
    return query.select_from(source_products.outerjoin(source_trust_config, same_source))


def _group_of(row: Row) -> Group:
    return Group(row["gtin"], row["attributes_key"], row["mpn_key"], row["product_id"])


class _Known:
    """What the store knows around some keys: enough to say the root of whoever has them."""

    def __init__(self, unit: Unit, attributes: set[str], numbers: set[str]) -> None:
        self._attributes = attributes
        column = source_products.c
        near = _groups(unit, column.attributes_key, attributes)
        self._numbers = numbers | {group.mpn for group in near if group.mpn}
        alike = _groups(unit, column.mpn_key, self._numbers)
        others = {group.attributes for group in alike if group.attributes} - attributes
        far = _groups(unit, column.attributes_key, others)
        self._groups = {*near, *alike}
        self._root_of_attributes = _only_ones(
            (group.attributes, group.gtin) for group in {*near, *alike, *far}
        )
        self._root_of_number = _only_ones((group.mpn, self._described(group)) for group in alike)

    def _described(self, group: Group) -> str | None:
        """The root by a trusted GTIN or by all attributes."""
        if group.gtin or not group.attributes:
            return group.gtin
        return self._root_of_attributes.get(group.attributes, group.attributes)

    def root_of(self, group: Group, source_product_id: str = "") -> str:
        """What a source product is."""
        if described := self._described(group):
            return described
        if group.mpn:
            return self._root_of_number.get(group.mpn, group.mpn)
        return f"offer:{source_product_id}"

    def affected(self) -> list[Group]:
        """Source products without a trusted GTIN whose root may be another one now."""
        return sorted(
            (group for group in self._groups if not group.gtin and self._is_near(group)), key=repr
        )

    def _is_near(self, group: Group) -> bool:
        if group.attributes:
            return group.attributes in self._attributes
        return group.mpn in self._numbers

    def leading_to(self) -> dict[str, str]:
        """Keys that are no root themselves, with the root that they lead to."""
        return self._root_of_number | self._root_of_attributes


def _groups(unit: Unit, column: Any, keys: set[str]) -> set[Group]:
    """The source products that have one of some keys."""
    if not keys:
        return set()
    traits = (
        _trusted_gtin(),
        source_products.c.attributes_key,
        source_products.c.mpn_key,
        source_products.c.product_id,
    )
    query = _with_trust(select(*traits).distinct()).where(unit.among(column, sorted(keys)))
    return {Group(*row) for row in unit.run(query)}


def _only_ones(pairs: Iterable[tuple[str | None, str | None]]) -> dict[str, str]:
    """The keys that lead to one root and no other."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for key, root in pairs:
        if key and root:
            found[key].add(root)
    return {key: next(iter(roots)) for key, roots in found.items() if len(roots) == 1}


class _Found(NamedTuple):
    """The product of each root, and which roots did not have theirs before."""

    product_of: dict[str, str]
    adopted: set[str]
    created: set[str]


def _find_products(unit: Unit, roots: set[str], weaker: Mapping[str, str]) -> _Found:
    """The product of each root: its own, else that of a weaker key that leads to it, or a new one.

    So a product that people know keeps its id when more is learned about it.
    """
    owned = _owned(unit, roots | {key for key, root in weaker.items() if root in roots})
    product_of = {root: owned[root] for root in roots if root in owned}
    adopted: set[str] = set()
    for key in sorted(weaker, key=_strength):
        root = weaker[key]
        if key in owned and key not in roots and root in roots and root not in product_of:
            product_of[root] = owned[key]
            adopted.add(root)
    created = roots - product_of.keys()
    return _Found(product_of | {root: new_id() for root in created}, adopted, created)


def _facts_of(
    unit: Unit, changed: Sequence[Row], roots: Mapping[str, str], moving: Mapping[Group, str]
) -> Callable[[str], Row]:
    """A way to find a source product that tells what a root is."""
    by_root = {roots[row["id"]]: row for row in sorted(changed, key=lambda row: bool(row["gtin"]))}
    groups = {root: group for group, root in moving.items()}

    def find(root: str) -> Row:
        if root in by_root:
            return by_root[root]
        query = _with_trust(select(source_products, _trusted_gtin().label("gtin")))
        return next(unit.rows(query.where(_is_in(groups[root])).limit(1)))

    return find


def _create_products(unit: Unit, found: _Found, facts: Callable[[str], Row]) -> set[str]:
    """Make the products that are missing; the source products that gave them their facts."""
    models = {root: facts(root) for root in sorted(found.created)}
    rows = [_new_product(unit, found.product_of[root], model) for root, model in models.items()]
    unit.insert_all(products, rows)
    taken = [*models, *sorted(found.adopted)]
    keys = [{"key": root, "product_id": found.product_of[root]} for root in taken]
    unit.insert_all(product_keys, keys, _take_over)
    return {model["id"] for model in models.values()}


def _strength(key: str) -> tuple[int, str]:
    return STRENGTH[key.partition(":")[0]], key


def _take_over(insert: Any) -> Any:
    return insert.on_conflict_do_update(
        index_elements=["key"], set_={"product_id": insert.excluded.product_id}
    )


def _owned(unit: Unit, keys: set[str]) -> dict[str, str]:
    """The products that belong to some keys: that have no stronger one."""
    mine = product_keys.alias()
    query = select(product_keys.c.key, product_keys.c.product_id).where(
        product_keys.c.product_id.in_(
            select(mine.c.product_id).where(unit.among(mine.c.key, sorted(keys)))
        )
    )
    by_product: defaultdict[str, list[str]] = defaultdict(list)
    for key, product_id in unit.run(query):
        by_product[product_id].append(key)
    owners = {min(theirs, key=_strength): product for product, theirs in by_product.items()}
    return {key: product for key, product in owners.items() if key in keys}


def _new_product(unit: Unit, product_id: str, facts: Row) -> dict[str, Any]:
    return {
        "id": product_id,
        "name": facts["title"],
        **_product_facts(facts),
        "created_at": unit.now,
        "updated_at": unit.now,
    }


def _product_facts(row: Row) -> dict[str, Any]:
    """What a source product says of its product; a GTIN only if it is trusted."""
    return {name: row[name] for name in PRODUCT_FACTS} | {"upc": row["gtin"] and row["upc"]}


def _link(unit: Unit, changed: Sequence[Row], product_of: Mapping[str, str]) -> None:
    """Give source products their product."""
    moved = [row["id"] for row in changed if row["product_id"] != product_of[row["id"]]]
    rows = [{"id": each, "product_id": product_of[each]} for each in moved]
    unit.update_all(source_products, rows)


def _fill_gaps(unit: Unit, rows: Sequence[Row], roots: Mapping[str, str], found: _Found) -> None:
    """Give products the facts that they lack."""
    if not rows:
        return
    columns = [products.c[name] for name in PRODUCT_FACTS]
    lacks = [and_(column.is_(None), _new(column).is_not(None)) for column in columns]
    fill = (
        update(products)
        .where(products.c.id == bindparam("which"), or_(*lacks))
        .values({column: func.coalesce(column, _new(column)) for column in columns})
        .values(updated_at=unit.now)
    )
    facts = [
        {"which": found.product_of[roots[row["id"]]]}
        | {f"new_{name}": value for name, value in _product_facts(row).items()}
        for row in rows
    ]
    unit.run(fill, facts)


def _new(column: Column[Any]) -> BindParameter[Any]:
    return bindparam(f"new_{column.name}", type_=column.type)


def _move(unit: Unit, group: Group, product_id: str) -> None:
    """Link a whole group of source products to another product."""
    unit.run(update(source_products).where(_is_in(group)).values(product_id=product_id))


def _is_in(group: Group) -> ColumnElement[bool]:
    """Whether a source product without a trusted GTIN is one of a group."""
    column = source_products.c
    trusted = select(source_trust_config.c.source_id).where(
        source_trust_config.c.upc_trusted.is_(True)
    )
    return and_(
        column.attributes_key == group.attributes,
        column.mpn_key == group.mpn,
        column.product_id == group.product_id,
        or_(column.gtin_key.is_(None), column.source_id.not_in(trusted)),
    )
