"""A soak of some seconds, with a kill in it, and what a verdict says about tables in which something is wrong."""

import random
import time
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from first_model import people
from forked import Background
from trials import soak_run
from trials.soak_client import Connection, Tally
from trials.soak_picture import draw
from trials.soak_service import ClientProcesses, SoakedServer
from trials.soak_stream import People
from trials.soak_verdict import slope, verdict


class Forked(SoakedServer):
    def launch(self):
        return Background(*self.command[1:])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("soak")
    server = Forked(folder / "state", save_every=100, max_pending=100, remember=1_000)
    return server, *soak_run.soak(folder, server, people()[:3000].to_dict("records"), seconds=6, processes=1,
                              connections=2, kills=1, seed=0)


def test_a_few_seconds_with_a_kill_lose_nothing_and_refuse_what_is_bad(run):
    _, records, problems = run
    last = records.iloc[-1]
    assert not problems and last["server_errors"] == last["problems"] == last["lost"] == last["twice"] == 0
    assert last["kills"] == 1 and last["life"] == 2 and last["learned"] == last["acknowledged"] > 30
    assert last["refused"] == last["bad"] and last[["bad", "sent_twice", "late"]].sum() > 5  # few on a busy machine
    assert records["disk_mb"].max() < last["disk_allowed_mb"] and records["resident_mb"].min() > 100
    found = verdict(records).set_index("what")
    assert found["holds"][["no feedback is lost", "none is learned twice", "bad requests are refused",
                           "no answer is wrong", "the disk is bounded"]].all(), found.to_string()
    assert len(draw(records).axes) == 6


def test_an_audit_sees_what_is_lost_and_what_is_twice(run):
    server = run[0]
    known = server.known_ids()

    class Clients:
        def take(self):
            return Counter(), [known[0], known[0], "never learned"], {"predict": [], "feedback": []}, []

    audited = soak_run.Soak(server, Clients(), 1, [])
    audited.audit()
    assert (audited.totals["lost"], audited.totals["twice"]) == (1, 1)
    audited.audit()
    assert audited.totals["twice"] == 1  # the same one, seen again


class Outside:
    """A service and its clients, made up: four feedbacks an audit, all of them learned."""

    remember, port, process = 10, 0, None

    def __init__(self, fails=None, forgets=0):
        self.fails, self.forgets, self.ids, self.audits, self.poll = fails, forgets, [], 0, lambda: 0
        self.process = self

    def start(self):
        pass

    end = failures = lambda self, *_: []

    @property
    def are_running(self):
        return self.audits < 12

    def take(self):
        self.audits += 1
        more = [f"{self.audits} {number}" for number in range(4)]
        self.ids += more
        return Counter(bad=1), more, {"predict": [], "feedback": []}, []

    def known_ids(self):
        if self.audits == self.fails:
            raise RuntimeError("the folder could not be read in peace")
        return self.ids[: len(self.ids) - self.forgets]

    def num_learned(self):
        return len(self.ids)

    def seen(self):
        return {}


def made_up_run(tmp_path, monkeypatch, outside):
    monkeypatch.setattr(soak_run, "ClientProcesses", lambda *_, **__: outside)
    return soak_run.soak(tmp_path, outside, [], seconds=0.2, processes=1, connections=1, kills=0, seed=0)


def test_an_audit_that_fails_keeps_the_lines_so_far_and_does_not_pass(tmp_path, monkeypatch):
    records, problems = made_up_run(tmp_path, monkeypatch, Outside(fails=9))
    assert len(records) and records["problems"].iloc[-1] == 1 and "in peace" in problems[0]
    monkeypatch.setattr(Outside, "remember", 3)
    with pytest.raises(RuntimeError, match=r"4 feedbacks .* between two audits, .* remembers 3 ids"):
        made_up_run(tmp_path, monkeypatch, Outside())


def test_what_the_last_audit_finds_is_in_the_last_line(tmp_path, monkeypatch):
    outside = Outside()
    records, problems = made_up_run(tmp_path, monkeypatch, outside)
    last = records.iloc[-1]
    assert not problems and last["acknowledged"] == last["learned"] == len(outside.ids) == 4 * outside.audits
    assert last["bad"] == outside.audits > len(records) and last["lost"] == last["twice"] == 0
    monkeypatch.setattr(Outside, "num_learned", lambda self: setattr(self, "forgets", 1) or len(self.ids) - 1)
    assert made_up_run(tmp_path, monkeypatch, Outside())[0]["lost"].iloc[-1] == 1


def test_a_client_that_fails_is_told():
    tally = Tally()
    link = Connection("0.0", port=9, people=None, began=time.time(), seconds=60, tally=tally)
    link.run()
    assert link.failed and tally.counts["problems"] == 1 and "AttributeError" in tally.problems[0][1]
    clients = ClientProcesses(1, connections=1)  # without all that it needs
    assert clients.failures() == ["client process 0 ended with status 1"]
    for thread in clients.threads:
        thread.join()


def made_up(**changes):
    """The table of an hour in which all is well."""
    minute = np.arange(1.0, 61)
    life = 1 + (minute > 15) + (minute > 45)
    wave = np.sin(minute)
    age = np.select([life == 1, life == 2], [minute, minute - 15], minute - 45)
    columns = {"minute": minute, "planned_minutes": 60, "planned_kills": 3, "limit": 0.1, "gap_given": 0.04,
               "life": life, "life_seconds": 60 * age, "kills": life - 1, "target": 0.05,
               "resident_mb": 900 + 0.1 * wave, "open_files": 15, "disk_mb": 5 + wave, "disk_allowed_mb": 9,
               "learned": 20_000 * minute, "acknowledged": 20_000 * minute, "lost": 0, "twice": 0, "sent_twice": 9,
               "refused": 7, "bad": 7, "server_errors": 0, "problems": 0, "alarms": 0, "gap": 0.02,
               "recent_gap": 0.03, "gap_of_labels": 0.2 * wave}
    return pd.DataFrame(columns | {name: change(minute) for name, change in changes.items()})


def test_all_is_well_where_all_is_well():
    assert verdict(made_up())["holds"].all()


@pytest.mark.parametrize(("what", "column", "change"), [
    ("it ran to its end", "planned_minutes", lambda _: 90), ("it ran to its end", "planned_kills", lambda _: 12),
    ("the gap that clients got is held", "gap_given", lambda _: 0.06),
    ("the gap that clients got is held", "gap_given", lambda minute: 0.02 + 0.1 * (minute % 8 == 0)),
    ("files are closed", "open_files", lambda minute: 15 + 0.2 * minute),
    ("memory is flat", "resident_mb", lambda minute: 900 + 0.5 * minute),
    ("no feedback is lost", "lost", lambda minute: minute == 60), ("none is learned twice", "twice", lambda _: 1),
    ("bad requests are refused", "refused", lambda _: 6), ("no answer is wrong", "server_errors", lambda _: 1),
    ("no answer is wrong", "problems", lambda _: 1), ("the gap is held", "gap", lambda minute: 0.001 * minute),
    ("the gap of late is held", "recent_gap", lambda _: 0.06), ("there is no alarm", "alarms", lambda _: 1),
    ("the disk is bounded", "disk_mb", lambda minute: minute),
    ("files are closed", "open_files", lambda minute: minute)])
def test_a_verdict_names_what_does_not_hold(what, column, change):
    found = verdict(made_up(**{column: change}))
    assert found.loc[~found["holds"], "what"].tolist() == [what]


def test_a_soak_without_bad_requests_has_shown_nothing_about_them():
    found = verdict(made_up(bad=lambda _: 0, refused=lambda _: 0)).set_index("what")
    assert not found["holds"]["it ran to its end"]


def test_the_slope_of_memory_is_that_of_one_life_after_its_beginning():
    records = made_up(resident_mb=lambda minute: 900 + 0.1 * minute + 50 * (minute % 15 < 2))
    assert slope(records[20:45])[0] == pytest.approx(6.0)


def test_kills_come_outside_the_quiet_time():
    found = np.array(soak_run.moments(12, 3600, seed=0)) / 3600
    assert len(found) == 12 and (np.diff(found) > 0).all() and not ((found > 0.25) & (found < 0.75)).any()
    assert (found < 0.25).sum() == 6


def test_groups_and_labels_drift_and_swap():
    drawn, chance = People(people()[:3000].to_dict("records")), random.Random(0)

    def rates(position):
        rows = pd.DataFrame([drawn.draw(chance, position) for _ in range(2000)], columns=["row", "label", "group"])
        rich = (rows["label"] == ">50K").groupby(rows["group"]).mean()
        return (rows["group"] == "Male").mean(), rich["Male"], rich["Female"]

    for position, wanted in ((0.1, (0.67, 0.31, 0.11)), (0.3, (0.535, 0.405, 0.155)), (0.399, (0.4, 0.5, 0.2)),
                             (0.401, (0.4, 0.15, 0.4)), (0.9, (0.95, 0.31, 0.11))):
        assert rates(position) == pytest.approx(wanted, abs=0.09)
