"""examples/service through HTTP: predictions now, feedback later, twice, never, or wrong."""

import asyncio
import json
import math
import re

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

import checks
from app import PAGE, make_app
from first_model import people
from saves import load

pytestmark = pytest.mark.filterwarnings("ignore:column")  # categories that the first rows have not


@pytest.fixture(scope="module")
def rows():
    """(row, label, group) of the first people."""
    return [(row, row.pop("income"), row.pop("gender")) for row in people()[:400].to_dict("records")]


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with TestClient(make_app(tmp_path_factory.mktemp("service"), save_every=50, max_pending=30)) as client:
        yield client


def post(client, path, **body):
    response = client.post(path, json=body)
    return response.status_code, response.json()


def digest(client):
    return client.app.state.service.learner.digest()


def served(client, rows, name):
    """Rows asked, and told about, one by one; their decisions."""
    decisions = []
    for number, (row, label, group) in enumerate(rows):
        decisions.append(post(client, "/predict", id=f"{name} {number}", row=row)[1]["label"])
        assert post(client, "/feedback", id=f"{name} {number}", label=label, group=group)[1]["status"] == "learned"
    return decisions


def test_predict_gives_a_label_by_name_and_probabilities(client, rows):
    status, answer = post(client, "/predict", id="first", row=rows[0][0])
    assert status == 200 and answer["id"] == "first" and set(answer["probabilities"]) == {"<=50K", ">50K"}
    assert answer["probability"] == max(answer["probabilities"].values())
    assert math.isclose(sum(answer["probabilities"].values()), 1, abs_tol=1e-5)
    assert len(post(client, "/predict", row=rows[0][0])[1]["id"]) == 32  # without an id, it gets one


def test_feedback_out_of_order_twice_and_without_label_or_group(client, rows):
    before = digest(client)
    for number in range(4):
        post(client, "/predict", id=f"out {number}", row=rows[number][0])
    assert digest(client) == before  # predictions teach nothing
    said = [post(client, "/feedback", id="out 3", label=rows[3][1], group=rows[3][2]),
            post(client, "/feedback", id="out 1", label=rows[1][1]),
            post(client, "/feedback", id="out 2", group=rows[2][2])]
    assert [(status, answer["status"]) for status, answer in said] == [(200, "learned")] * 3
    after = digest(client)
    assert after != before
    assert post(client, "/feedback", id="out 3", label=">50K", group="Male") == (
        200, {"id": "out 3", "status": "already learned"})
    assert digest(client) == after
    assert post(client, "/predict", id="out 3", row=rows[3][0])[0] == 409


def test_what_is_scored_is_the_decision_that_was_given(client, rows):
    """Rows are predicted first, all of them, and the model then learns that everybody earns much."""
    monitor = client.app.state.service.learner.monitor
    before = monitor.counts.all.copy()
    given = [post(client, "/predict", id=f"given {number}", row=row)[1]["label"]
             for number, (row, *_) in enumerate(rows[:25])]
    for number in range(25):
        post(client, "/feedback", id=f"given {number}", label=">50K", group="Male")
    counted = (monitor.counts.all - before)[1, 1]  # of men who earn much: (decision,)
    assert counted.tolist() == [given.count("<=50K"), given.count(">50K")]


def test_the_oldest_predictions_are_dropped_and_their_feedback_may_bring_the_row(client, rows):
    for number in range(31):  # one more than are remembered
        post(client, "/predict", id=f"old {number}", row=rows[number][0])
    status, answer = post(client, "/feedback", id="old 0", label="<=50K", group="Male")
    assert status == 404 and "old 0" in answer["error"] and answer["field"] == "id"
    service = client.app.state.service
    scored = service.learner.monitor.seen().rows
    told = {"label": "<=50K", "group": "Male", "row": rows[0][0]}
    assert post(client, "/feedback", id="old 0", **told)[1] == {"id": "old 0", "status": "learned", "scored": False}
    assert service.learner.monitor.seen().rows == scored
    assert post(client, "/feedback", id="older", decision=">50K", **told)[1]["scored"]
    assert service.learner.monitor.seen().rows == scored + 1
    assert post(client, "/feedback", id="older", decision=">50K", **told)[1]["status"] == "already learned"


def test_the_same_question_again_gets_the_same_answer(client, rows):
    first = post(client, "/predict", id="again", row=rows[5][0])
    served(client, rows[:5], "between")
    assert post(client, "/predict", id="again", row=rows[5][0]) == first
    status, answer = post(client, "/predict", id="again", row=rows[6][0])
    assert status == 409 and "another row" in answer["error"]


@pytest.mark.parametrize(("path", "change", "status", "field", "words"), [
    ("/predict", {"row": None}, 422, "row", "must be an object"),
    ("/predict", {"age": None}, 422, "row", "'age' of this row is empty"),
    ("/predict", {"age": "old"}, 422, "row", "age"),
    ("/predict", {"age": [39]}, 422, "age", "must be a text, a number"),
    ("/predict", {"age": 10**400}, 422, "row", "too large"),
    ("/predict", {"without": "age"}, 422, "age", "no column 'age'"),
    ("/predict", {"id": True}, 422, "id", "1 to 200 characters"),
    ("/predict", {"id": "x" * 201}, 422, "id", "1 to 200 characters"),
    ("/predict", {"rows": []}, 422, "rows", "no field 'rows'"),
    ("/feedback", {"id": "bad", "label": "rich"}, 422, "label", "rich"),
    ("/feedback", {"id": "bad", "label": {}}, 422, "label", "must be a text"),
    ("/feedback", {"id": "bad", "label": "<=50K", "group": "Other"}, 422, "group", "Other"),
    ("/feedback", {"id": "bad", "label": None}, 422, "label", "a label, a group or both"),
    ("/feedback", {"label": "<=50K"}, 422, "id", "id must be"),
    ("/feedback", {"id": "bad", "lable": "<=50K"}, 422, "lable", "no field 'lable'"),
    ("/feedback", {"id": "nobody's", "label": "<=50K"}, 404, "id", "nobody's"),
    ("/feedback", {"id": "nobody's", "label": "<=50K", "decision": "rich"}, 422, "decision", "rich"),
    ("/feedback", {"id": "nobody's", "label": "<=50K", "row": {"age": 3}}, 422, "workclass", "no column"),
])
def test_bad_input_is_refused_with_the_field_and_changes_nothing(client, rows, path, change, status, field, words):
    post(client, "/predict", id="bad", row=rows[0][0])
    before, body = digest(client), dict(change)
    if path == "/predict":
        row = dict(rows[1][0])
        row.pop(body.pop("without", None), None)
        row |= {"age": body.pop("age")} if "age" in body else {}
        body = {"id": "new", "row": row} | body
    found, answer = post(client, path, **body)
    assert (found, answer["field"]) == (status, field) and words in answer["error"], answer
    assert digest(client) == before


@pytest.mark.parametrize(("text", "status"), [
    ("{", 400), ("[]", 400), ('{"id": NaN}', 400), ("[" * 100_000, 400), ("\xff", 400), ('{"id": "\\ud800"}', 400),
    ('{"id": "\xed\xa0\x80"}', 400), ('{"\\ud800": 1}', 400), (" " * 100_001, 413)])
def test_what_is_no_json_object_is_refused(client, text, status):
    response = client.post("/predict", content=text.encode("latin-1"))
    assert response.status_code == status and response.json()["error"]


def test_no_more_is_read_of_a_request_than_shows_that_it_is_too_large():
    read = []

    async def endless():
        while True:
            read.append(1000)
            yield bytes(1000)

    with pytest.raises(checks.Refused, match="more than 100,000 bytes") as refused:
        asyncio.run(checks.text_of(endless()))
    assert refused.value.status == 413 and sum(read) == checks.LARGEST + 1000


def test_the_curl_commands_of_the_readme_get_the_answers_that_it_shows(tmp_path):
    text = (PAGE.parent / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"^curl localhost:8000(/\w+) -d '(.+)'\n# (.+)$", text, re.MULTILINE)
    assert [path for path, *_ in shown] == ["/predict", "/feedback", "/feedback"]
    with TestClient(make_app(tmp_path)) as client:
        for path, body, answer in shown:
            pattern = re.escape(answer).replace("…", r"\d+")
            assert re.fullmatch(pattern, client.post(path, content=body).text), client.post(path, content=body).text


def test_a_request_whose_sender_goes_away_is_no_error_of_the_service(client):
    said = []

    async def leave():
        return {"type": "http.disconnect"}

    async def hear(message):
        said.append(message)

    scope = {"type": "http", "method": "POST", "path": "/feedback", "headers": [], "query_string": b""}
    asyncio.run(client.app(scope, leave, hear))
    assert said[0]["status"] == 499
    assert 'service_requests_total{path="/feedback",status="499"} 1' in client.get("/metrics").text


def test_other_addresses_and_methods_are_told_apart(client):
    assert client.get("/predict").status_code == 405 and client.get("/nowhere").status_code == 404
    assert client.get("/health").json() == {"status": "ready"}


def test_metrics_are_read_by_prometheus_s_own_parser(client, rows):
    served(client, rows[:3], "metrics")
    found = {family.name: family.samples for family in
             text_string_to_metric_families(client.get("/metrics").text)}
    assert found["aranyani_watched_gap"] and found["service_fairness_weight"][0].value >= 0
    count = {(s.labels["path"], s.labels["status"]): s.value for s in found["service_requests"]}
    assert count["/predict", "200"] >= 3 and count["/feedback", "404"] >= 1 and "other" in {path for path, _ in count}
    buckets = [s.value for s in found["service_request_seconds"] if s.labels.get("path") == "/predict"]
    assert buckets[:10] == sorted(buckets[:10]) and buckets[9] == buckets[-1] == sum(
        value for (path, _), value in count.items() if path == "/predict")


def test_a_service_that_ended_goes_on_and_its_model_is_the_same(tmp_path, rows):
    """Beside a service that never ended: the same decisions, and the same bits at the end."""
    with TestClient(make_app(tmp_path / "one", save_every=50)) as one:
        expected = served(one, rows[:60], "a") + served(one, rows[60:120], "b")
    with TestClient(make_app(tmp_path / "two", save_every=50)) as two:
        said = served(two, rows[:60], "a")
        post(two, "/predict", id="b 0", row=rows[60][0])  # its feedback comes after the end
    with TestClient(make_app(tmp_path / "two", save_every=50)) as two:
        said += served(two, rows[60:120], "b")
        assert post(two, "/feedback", id="a 3", label="<=50K")[1]["status"] == "already learned"
    assert said == expected
    learners = [load(tmp_path / name) for name in ("one", "two")]
    arrays = [learner.tabular.get_weights() for learner in learners]
    assert all((ours == theirs).all() for ours, theirs in zip(*arrays, strict=True)) and len(arrays[0]) > 5
    assert learners[0].state() == learners[1].state()
    assert json.loads(learners[0].monitor.to_json()) == json.loads(learners[1].monitor.to_json())
