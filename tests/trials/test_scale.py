"""The trial of Ray without Ray: what it compares, and how its table is told; `tests/scale` has the cluster."""

import numpy as np

import aranyani_tf as ar
from prepare import scale_numbers
from trials import scale_processes
from trials.scale import problems, shown, table
from trials.scale_averaging import measured, one_run
from trials.scale_grid import experiments
from trials.scale_sites import NUM_SITES, Making, rows_of


def test_sites_apart_and_one_central_stream_are_measured_on_the_same_rows():
    central, apart, alone = (one_run("work class", every, 0, 600) for every in (None, 200, 600))
    assert central[0] == apart[0] == alone[0] > 5  # work classes
    assert len({tuple(found.values()) for _, found in (central, apart, alone)}) == 3
    assert set(central[1]) == set(apart[1])


def test_accuracy_and_gap_are_of_the_decisions():
    stream = ar.datasets.load("adult")[:40]
    said = np.eye(2)[1 - stream.labels]
    assert measured(stream, said)["accuracy"] == 0 and measured(stream, np.eye(2)[stream.labels])["accuracy"] == 1
    assert measured(stream, np.eye(2)[stream.groups])["demographic_parity"] == 1


def test_what_must_not_be_is_told():
    def found(**measures):
        records = [{"part": "grid", "measure": name, "value": value} for name, value in measures.items()]
        return list(problems(table(records)))

    assert found(same_bytes=1.0, lost=0.0, killed=1.0) == []
    assert found(same_bits_with_a_kill=0.0, lost=0.0) == ["what Ray gave is not what one process gives"]
    assert found(same_bytes=1.0, lost=3.0) == ["rows that were acknowledged are lost"]
    assert len(found(killed=0.0)) == 1


def test_a_killer_kills_one_worker_or_none_once_it_is_over(monkeypatch):
    killed = []

    class Worker:
        def kill(self):
            killed.append(self)

    monkeypatch.setattr(scale_processes, "of_cluster", lambda: [("raylet", None), ("ray::called()", Worker())] * 2)
    for condition, is_killed in ((lambda: True, True), (lambda: False, False)):
        killer = scale_processes.Killer(condition)
        killer.start()
        if is_killed:
            killer.join(timeout=10)
        assert killer.end() == is_killed and not killer.is_alive()
    assert len(killed) == 1


def test_every_row_of_the_stream_has_one_site_and_each_site_a_model_of_its_own():
    stream = ar.datasets.load("adult")[:80]
    rows = np.concatenate([rows_of(stream, f"site {number}", 0, 10)[0] for number in range(NUM_SITES)])
    assert sorted(map(tuple, rows)) == sorted(map(tuple, stream.features))
    assert [Making(3)(f"site {number}").seed for number in (0, 7)] == [3, 10]
    assert len(set(experiments(0, quick=True))) == 4


def test_the_pages_tables_are_those_of_the_numbers(tmp_path):
    records = [{"part": "grid", "workers": workers, "measure": name, "value": 1.0}
               for workers in (2, 4) for name in scale_numbers.TIMES]
    records += [{"part": "many streams", "workers": workers, "num_sites": 8, "measure": name, "value": 0.0}
                for workers in (2, 4) for name in scale_numbers.STREAMS]
    records += [{"part": "one model", "split": "country", "num_sites": 42, "every": every, "seed": seed,
                 "measure": name, "value": 0.8 + 0.01 * seed} for every in (None, 100, 32561) for seed in range(2)
                for name in ("accuracy", "accuracy_of_smaller_sites", "demographic_parity")]
    table(records).to_csv(tmp_path / "scale.csv", index=False)
    assert "| the same bytes | yes | yes |" in scale_numbers.grid(tmp_path)
    assert "| the same bits as never killed | **no** | **no** |" in scale_numbers.streams(tmp_path)
    lines = scale_numbers.one_model(tmp_path).splitlines()
    assert [line.split("|")[3].strip() for line in lines[2:]] == ["one central stream", "100 rows", "never: each alone"]
    assert "80.50 ± 0.71" in lines[2]
    assert [len(part.splitlines()) for part in shown(table(records))] == [5, 5, 6]
