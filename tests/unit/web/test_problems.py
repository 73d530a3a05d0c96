"""What callers are told when something is wrong on our side."""

import httpx
from fastapi import FastAPI

from penstock.core.errors import StoreLost
from penstock.web.problems import handle_problems


async def test_a_store_that_was_lost_may_have_done_what_was_asked() -> None:
    app = FastAPI()
    handle_problems(app, [])

    @app.post("/rules")
    async def add_rule() -> None:
        raise StoreLost("the store is out of reach")

    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://service.test") as http:
        answer = await http.post("/rules")

    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert answer.json()["meta"] == {"unsure": True}
