"""Every exception of the client has a meaning; a new one of a new version is noticed."""

import inspect

import httpx
import pytest

from penstock.products.search.ports import SearchLost
from penstock.products.search.rest import RestSearch

#: What belongs to cookies and to streams, of which there are none here.
NOT_OF_REQUESTS = (httpx.CookieConflict, httpx.StreamError, httpx.HTTPStatusError)
FOREIGN = [
    thing
    for thing in vars(httpx).values()
    if inspect.isclass(thing)
    and issubclass(thing, Exception)
    and not issubclass(thing, NOT_OF_REQUESTS)
]


def test_the_client_exports_exceptions() -> None:
    assert len(FOREIGN) > 15


@pytest.mark.parametrize("kind", FOREIGN, ids=lambda kind: kind.__name__)
async def test_every_exception_of_the_client_means_that_the_server_is_lost(
    kind: type[Exception],
) -> None:
    def fail(_request: httpx.Request) -> httpx.Response:
        raise kind("http://ann:s3cret@search.test does not answer")

    http = httpx.AsyncClient(transport=httpx.MockTransport(fail), base_url="http://search.test")

    with pytest.raises(SearchLost, match=r"the search server search\.test") as trouble:
        await RestSearch(http, "products").count()
    assert "s3cret" not in str(trouble.value)
