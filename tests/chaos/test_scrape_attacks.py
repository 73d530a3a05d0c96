"""Nobody is led to a private address through any entry of the scrape service.

The list is that of the kernel; the canary stands for a private service and must not be contacted.
"""

from urllib.parse import quote

import pytest

from tests.chaos.attacks import HOSTS, SCHEMES, WHOLE_URLS
from tests.services import Service, wanted
from tests.site import Reply, Site

GOOD = "http://shop01.test/product/1"


def attacks(port: int) -> list[str]:
    """Every spelling of an address that leads to the canary or to another private place."""
    return [
        *(f"http://{host}:{port}/" for host in HOSTS),
        *(url.format(port=port) for url in WHOLE_URLS),
        *(url.format(port=port) for url in SCHEMES),
    ]


async def test_every_spelling_is_refused_at_every_entry(service: Service, site: Site) -> None:
    for url in attacks(site.canary.port):
        entries = [
            ("/scrape", wanted(url)),
            ("/scrape/sync", wanted(url)),
            ("/scrape/batch", {"targets": [wanted(GOOD), wanted(url)]}),
            ("/scrape", wanted(GOOD, callback_url=url)),
            ("/scrape/batch", {"targets": [wanted(GOOD)], "callback_url": url}),
            ("/scrape/batch", {"targets": [wanted(GOOD, callback_url=url)]}),
        ]
        for path, body in entries:
            answer = await service.post(path, body)
            assert answer.status_code == 422, (url, path)
            places = [each["field"] for each in answer.json()["meta"]["errors"]]
            assert all(place.endswith(("target_url", "callback_url")) for place in places)
    assert (await service.get("/scrape")).json()["data"] == []
    assert site.canary.connections == 0


@pytest.mark.parametrize("target_type", ["page", "product"])
async def test_redirects_to_private_places_are_refused(
    service: Service, site: Site, target_type: str
) -> None:
    canary = f"http://127.0.0.1:{site.canary.port}/"
    site.reply("shop01.test", "/away", Reply(302, "", {"Location": canary}))
    urls = [
        "http://shop01.test/away",
        "http://moved.test/to-private",
        "http://moved.test/to-metadata",
        f"http://moved.test/redirect?to={quote(canary, safe='')}",
    ]
    job_id = await service.submit_batch([wanted(url, target_type) for url in urls])

    job = await service.finished_job(job_id)
    listed = (await service.get("/scrape", job_id=job_id)).json()["data"]

    assert job["status"] == "failed"
    assert all(task["error"].startswith("admission_") for task in listed), listed
    assert site.canary.connections == 0
