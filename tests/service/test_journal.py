"""What is on the disk: half a line, a save that was cut off at any step, a disk that is full, and a kill."""

import asyncio
import json
import os
import shutil
import signal
import threading

import pytest
from starlette.testclient import TestClient

import aranyani_tf as ar
import saves
from app import make_app
from clients import Clients, ask
from first_model import first_model, people
from journal import Journal
from learner import Learner
from load import Server, same_as_fresh_replay
from pending import Pending
from service import Service

pytestmark = pytest.mark.filterwarnings("ignore:column")


def entries(count, first=0):
    for number, row in enumerate(people()[first : first + count].to_dict("records"), first):
        told = {"label": row.pop("income"), "group": row.pop("gender"), "decision": ">50K"}
        yield {"id": str(number), "row": row} | told


def test_half_a_line_at_the_end_is_cut_off_and_damage_elsewhere_is_told(tmp_path):
    journal = Journal(tmp_path)
    journal.open(0)
    journal.append([{"id": 1}, {"id": 2}])
    journal.close()
    with journal.name(0).open("ab") as file:
        file.write(b'{"id": 3')
    journal.open(0)
    journal.append([{"id": 4}])
    assert [entry["id"] for entry in journal.entries(0)] == [1, 2, 4]
    journal.cut(2)
    journal.append([{"id": 5}])
    assert [path.name for _, path in journal.files()] == ["journal-000000000002.jsonl"]
    journal.close()
    journal.name(2).write_bytes(b'{"id"\n{"id": 5}\n')
    with pytest.raises(ar.errors.DamagedFileError, match="line 1 of"):
        list(journal.entries(2))


def test_entries_that_are_missing_are_told_by_their_numbers(tmp_path):
    journal = Journal(tmp_path, keep=True)
    journal.open(0)
    for first in (0, 2, 4):
        journal.append([{"id": first}, {"id": first + 1}])
        journal.cut(first + 2)
    journal.close()
    journal.name(2).unlink()
    assert [entry["id"] for entry in journal.entries(4)] == [4, 5]  # what a save covers is not needed
    with pytest.raises(ar.errors.DamagedFileError, match=r"entries 2 to 3 .* missing: .*journal-000000000004.*copy"):
        list(journal.entries(1))
    for _, path in journal.files():
        path.unlink()
    with pytest.raises(ar.errors.DamagedFileError, match=r"from 4 on are missing: .*journal-000000000004.*copy"):
        journal.open(4)
    assert journal.files() == []


def test_pending_predictions_outlive_the_process_and_the_oldest_go(tmp_path):
    pending = Pending(tmp_path, 3)
    for number in range(8):
        pending.add(str(number), {"row": number})
    pending.path.write_bytes(pending.path.read_bytes() + b'["9", {"ro')
    again = Pending(tmp_path, 3)
    assert list(again.waiting) == list(pending.waiting) == ["5", "6", "7"]
    again.add("8", {"row": 8})
    assert list(Pending(tmp_path, 3).waiting) == ["6", "7", "8"]


def test_a_prediction_that_waits_outlives_a_restart_however_many_were_answered_after_it(tmp_path):
    pending, answered = Pending(tmp_path, 3), [str(number) for number in range(20)]
    pending.add("waits", {"row": 0})
    for number, key in enumerate(answered):
        pending.add(key, {"row": number})
        pending.remove(key)
        again = Pending(tmp_path, 3, answered)
        assert list(again.waiting) == ["waits"] and again.num_lines <= 6
        again.close()
    pending.close()
    pending.path.rename(tmp_path / "predictions.old.jsonl")  # as an earlier version left it
    pending = Pending(tmp_path, 3, answered)
    pending.add("last", {"row": 1})
    assert list(Pending(tmp_path, 3, answered).waiting) == ["waits", "last"]
    assert [path.name for path in tmp_path.iterdir()] == ["predictions.jsonl"]


@pytest.mark.parametrize("step", ["model", "ids", "state", "cut"])
def test_a_save_that_was_killed_at_any_step_loses_nothing(tmp_path, step, monkeypatch):
    """The folder as it is after each step of a save; what comes then must be what was there."""
    learner, journal, given = Learner(*first_model()), Journal(tmp_path), list(entries(60))
    saves.save(learner, tmp_path)
    journal.open(0)
    for number, entry in enumerate(given):
        journal.append([entry])
        learner.take(entry)
        if number == 29:
            journal.cut(saves.save(learner, tmp_path))
    expected = learner.digest()

    class Killed(BaseException):
        pass

    def killed(*_):
        raise Killed

    if step == "model":
        monkeypatch.setattr(learner.tabular, "save", killed)
    if step == "ids":
        monkeypatch.setattr(saves, "sync", killed)  # learned-….txt is longer than state.json knows
    if step == "state":
        monkeypatch.setattr(type(saves.STATE), "write", killed)
    try:
        saves.save(learner, tmp_path)
    except Killed:
        assert step != "cut"
    else:
        assert step == "cut"  # saved, but the journal still has what it covers
    monkeypatch.undo()
    again = saves.load(tmp_path)
    assert again.offset == (60 if step == "cut" else 30)
    for entry in Journal(tmp_path).entries(again.offset):
        again.take(entry)
    assert again.digest() == expected and list(again.learned) == [entry["id"] for entry in given]


def test_a_disk_that_takes_nothing_more_ends_learning_and_is_told(tmp_path, monkeypatch):
    row = next(entries(1))["row"]
    with TestClient(make_app(tmp_path)) as client:
        client.post("/predict", json={"id": 1, "row": row})

        def full(entries):
            raise OSError(28, "No space left on device")

        service = client.app.state.service
        monkeypatch.setattr(service.journal, "append", full)
        before = service.learner.digest()
        answer = client.post("/feedback", json={"id": 1, "label": "<=50K"})
        assert answer.status_code == 503 and "No space left" in answer.json()["error"]
        assert client.get("/health").status_code == 503 and service.learner.digest() == before
        assert client.post("/predict", json={"id": 2, "row": row}).status_code == 200  # it still answers
        monkeypatch.undo()
        assert client.post("/feedback", json={"id": 2, "label": "<=50K"}).status_code == 503


def test_two_services_do_not_share_a_folder(tmp_path):
    with TestClient(make_app(tmp_path)), pytest.raises(ar.errors.InUseError, match=f"another .*{tmp_path.name}"), \
            TestClient(make_app(tmp_path)):
        pass


def test_killed_under_load_nothing_acknowledged_is_lost(tmp_path):
    """A process of its own, signal 9 in the middle of requests, and a second one in the same folder."""
    server = Server(tmp_path, "--save-every", "100")
    server.start()
    try:
        clients = Clients(server.port, people()[:1000].to_dict("records"), connections=3)
        killer = threading.Timer(1.5, lambda: server.process.send_signal(signal.SIGKILL))
        clients.begin()
        killer.start()
        server.process.wait()
        clients.end()
        acknowledged = set(clients.acknowledged)
        assert len(acknowledged) > 50
        server.start()
        assert acknowledged <= set(server.ids_on_disk())
        assert ask(server.port, "GET", "/status")[1]["now"]["learned"] == len(server.ids_on_disk())
        clients.send_unanswered_again()
        clients.send_all_feedback()  # by id: predictions from before the kill are known
    finally:
        server.end(signal.SIGTERM)
    learned = server.ids_on_disk()
    assert sorted(learned) == sorted(clients.acknowledged) and same_as_fresh_replay(tmp_path)


def test_the_same_entries_in_a_copy_of_the_folder_give_the_same_model(tmp_path):
    """And a single entry less gives another: the comparison can fail."""
    learner = Learner(*first_model())
    saves.save(learner, tmp_path / "one")
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    copies = [saves.load(tmp_path / name) for name in ("one", "two")]
    for entry in entries(20):
        for copy in copies:
            copy.take(json.loads(json.dumps(entry)))
    assert copies[0].digest() == copies[1].digest() != learner.digest()
    copies[0].take(next(entries(1, first=20)))
    assert copies[0].digest() != copies[1].digest() and os.listdir(tmp_path / "two")


def test_the_same_feedback_from_two_requests_at_once_is_learned_once(tmp_path):
    """Both wait in the queue together, where neither knows of the other."""
    entry = next(entries(1))

    async def ask_twice():
        service = Service(tmp_path)
        await service.start()
        service.predict({"id": "one", "row": entry["row"]})
        told = {"id": "one", "label": "<=50K", "group": "Male"}
        said = await asyncio.gather(service.feedback(told), service.feedback(told))
        written = list(service.journal.entries(0))
        await service.stop()
        return [answer["status"] for answer in said], len(written), service.learner.num_learned

    assert asyncio.run(ask_twice()) == (["learned", "already learned"], 2, 1)
