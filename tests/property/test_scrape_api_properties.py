"""The API of the scrape service, whatever is sent to it."""

import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.workloads.scrape.model import Format, TargetType, fields_of
from tests.services import KEY, ServiceThread, wanted

MANY = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
AN_ID = "019570c2-51f0-7c3a-9c1e-2f6f0a3b4c5d"
JOB, TASK = f"/scrape/jobs/{AN_ID}", f"/scrape/{AN_ID}"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceThread]:
    """A service whose tasks stay queued: nobody works."""
    folder = tmp_path_factory.mktemp("service")
    limits = {"max_queue_depth": 1_000_000}
    with ServiceThread(folder, works=False, scrape=limits) as running:
        yield running


hosts = st.sampled_from([f"shop{number:02}.test" for number in range(1, 11)])
urls = st.builds("http://{}/product/{}".format, hosts, st.integers(1, 20))


@st.composite
def scrape_requests(draw: st.DrawFn) -> dict[str, Any]:
    """Requests that are as they should be."""
    kind = draw(st.sampled_from(TargetType))
    body = wanted(draw(urls), kind.value)
    body["workspace_id"] = draw(st.text("abcdefgh-0123", min_size=1, max_size=20))
    if draw(st.booleans()):
        names = st.lists(st.sampled_from(fields_of(kind)), max_size=5)
        body["requested_fields"] = draw(st.none() | names)
    if kind is TargetType.PAGE and draw(st.booleans()):
        forms = st.lists(st.sampled_from(Format).map(str), min_size=1, max_size=4)
        body["formats"] = draw(forms)
    if draw(st.booleans()):
        body["callback_url"] = draw(st.none() | urls)
    return body


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
paths = st.sampled_from(
    [
        *["/scrape", "/scrape/sync", "/scrape/batch", "/scrape/jobs", "/adapters", "/nowhere"],
        *[JOB, f"{JOB}/results", f"{JOB}/cancel", "/scrape/xyz", "/scrape/x/files/html"],
    ]
)
methods = st.sampled_from(["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
contents = json_values.map(lambda value: {"json": value}) | st.binary(max_size=200).map(
    lambda data: {"content": data}
)


def is_envelope(body: Any, status: int) -> bool:
    if set(body) != {"success", "data", "error", "meta"}:
        return False
    if not isinstance(body["meta"], dict | None):
        return False
    if status >= 400:
        return body["success"] is False and isinstance(body["error"], str) and bool(body["error"])
    return body["success"] is True


# Feature: scraping-microservices, Property 1: JSON envelope consistency
@MANY
@given(method=methods, path=paths, content=contents, key=st.sampled_from([KEY, "wrong", ""]))
def test_every_answer_is_an_envelope(
    running: ServiceThread, method: str, path: str, content: dict[str, Any], key: str
) -> None:
    if "json" in content:
        # Whatever JSON there is for it, halves of characters and NaN included.
        content = {"content": _as_json(content["json"])}

    answer = running.request(method, f"/api/v1{path}", **content, headers={"X-Service-Key": key})

    assert is_envelope(answer.json(), answer.status_code), (answer.status_code, answer.text)
    assert answer.status_code < 500


def _as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


# Feature: scraping-microservices, Property 3: Request ID uniqueness
@MANY
@given(st.lists(st.tuples(methods, paths), min_size=1, max_size=5))
def test_no_two_answers_have_the_same_request_id(
    running: ServiceThread, calls: list[tuple[str, str]]
) -> None:
    answers = [running.request(method, f"/api/v1{path}") for method, path in calls]
    answers += [running.request("GET", "/health"), running.request("GET", "/metrics")]
    ids = [answer.headers["X-Request-ID"] for answer in answers]

    assert len({uuid.UUID(each) for each in ids}) == len(answers)


keys = st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=60)
#: Almost right is the likeliest way to be wrong.
nearly = st.sampled_from([KEY, KEY.upper(), KEY[:-1], KEY + "x", "", "service", "x" * 5000])


# Feature: scraping-microservices, Property 4: Service key authentication
@MANY
@given(
    key=keys | nearly | st.none(),
    path=st.sampled_from(["/scrape", "/scrape/jobs", "/adapters", JOB, f"{JOB}/results", TASK]),
)
def test_only_the_right_key_is_let_in(running: ServiceThread, key: str | None, path: str) -> None:
    headers = {} if key is None else {"X-Service-Key": key}
    http = running.service.http

    async def call() -> int:
        # Without the key that the client has by itself.
        request = http.build_request("GET", f"/api/v1{path}")
        del request.headers["X-Service-Key"]
        request.headers.update(headers)
        return (await http.send(request)).status_code

    assert (running.run(call()) != 401) == (key == KEY)


@st.composite
def broken_requests(draw: st.DrawFn) -> tuple[dict[str, Any], str]:
    """Requests with one thing wrong, and the field that is to blame."""
    body = draw(scrape_requests())
    name = draw(st.sampled_from(["target_type", "target_url", "workspace_id"]))
    match draw(st.sampled_from(["missing", "type", "value", "extra", "fields"])):
        case "missing":
            del body[name]
        case "type":
            body[name] = draw(st.integers() | st.lists(st.integers()) | st.none())
        case "value":
            wrong = {
                "target_type": ["web", "PRODUCT", ""],
                "target_url": ["", "no url", "ftp://shop01.test/", "http://127.0.0.1/"],
                "workspace_id": ["", "with space", "x" * 201],
            }
            body[name] = draw(st.sampled_from(wrong[name]))
        case "extra":
            name = "surplus"
            body[name] = draw(st.booleans())
        case "fields":
            name = "requested_fields"
            body[name] = ["no_such_field"]
    return body, name


# Feature: scraping-microservices, Property 5: Pydantic validation produces 422 with field errors
@MANY
@given(broken_requests())
def test_what_is_wrong_with_a_request_is_told_by_field(
    running: ServiceThread, broken: tuple[dict[str, Any], str]
) -> None:
    body, name = broken

    alone = running.post("/scrape", body)
    in_batch = running.post("/scrape/batch", {"targets": [body]})

    for answer in (alone, in_batch):
        assert answer.status_code == 422, answer.text
        assert is_envelope(answer.json(), 422)
        errors = answer.json()["meta"]["errors"]
        assert any(name in each["field"].split(".") for each in errors), errors


# Feature: scraping-microservices, Property 6: Async task creation returns queued status
@MANY
@given(scrape_requests())
def test_a_valid_request_is_queued_under_a_uuid(
    running: ServiceThread, body: dict[str, Any]
) -> None:
    answer = running.post("/scrape", body)

    assert answer.status_code == 202, answer.text
    data = answer.json()["data"]
    assert str(uuid.UUID(data["task_id"])) == data["task_id"]
    assert data["status"] == "queued"


# Feature: scraping-microservices, Property 8: Batch job creates one task per target
@MANY
@given(bodies=st.lists(scrape_requests(), min_size=1, max_size=4), number=st.integers(1, 100))
def test_a_job_has_one_task_for_every_target(
    running: ServiceThread, bodies: list[dict[str, Any]], number: int
) -> None:
    targets = [bodies[place % len(bodies)] for place in range(number)]

    answer = running.post("/scrape/batch", {"targets": targets})

    assert answer.status_code == 202, answer.text
    job_id = answer.json()["data"]["job_id"]
    assert uuid.UUID(job_id)
    listed = running.get("/scrape", job_id=job_id, limit=200).json()["data"]
    asked = sorted(target["target_url"] for target in targets)
    assert sorted(task["target_url"] for task in listed) == asked
    assert running.get(f"/scrape/jobs/{job_id}").json()["data"]["total_tasks"] == number
