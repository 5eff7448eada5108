"""When a monitor's alarm is sounded, how often, how soon, and who hears it."""

import logging
import sys

import numpy as np
import pytest
import wandb

import aranyani_tf as ar
from wandb_files import records


def decide(seed, n, low, high):
    """Decisions of two groups of equal size with these rates."""
    random = np.random.default_rng(seed)
    groups = random.integers(0, 2, n)
    return (random.random(n) < np.where(groups, high, low)).astype(int), groups


def rows_until_alarm(seed, low, high, n=20_000, **settings):
    monitor = ar.FairnessMonitor(**settings)
    for row, (decision, group) in enumerate(zip(*(part.tolist() for part in decide(seed, n, low, high)), strict=True)):
        monitor.add(decision, group)
        if monitor.alarmed:
            return row + 1
    return np.inf


def test_with_a_gap_above_the_limit_the_alarm_comes_and_sooner_if_the_gap_is_larger():
    large, small = ([rows_until_alarm(seed, 0.3, high, limit=0.05) for seed in range(8)] for high in (0.6, 0.45))
    assert max(large) < 1200 and max(small) < 8000  # of 20,000
    assert np.median(large) < np.median(small) / 3


def test_with_a_gap_at_the_limit_chance_seldom_sounds_it():
    alarms = [rows_until_alarm(seed, 0.3, 0.4, n=800, limit=0.1) < np.inf for seed in range(40)]
    assert sum(alarms) <= 0.05 * 40


@pytest.mark.parametrize("piece", [1, 500])
def test_it_is_sounded_once_with_a_report_and_again_after_rearm(piece, caplog):
    heard = []
    monitor = ar.FairnessMonitor(limit=0.05, on_alarm=heard.append, group_names=["women", "men"])
    decisions, groups = decide(0, 4000, 0.2, 0.6)

    def watch():
        for start in range(0, 4000, piece):
            rows = slice(start, start + piece) if piece > 1 else start
            monitor.add(decisions[rows], groups[rows])

    with caplog.at_level(logging.WARNING):
        watch()
        monitor.report()
    (report,) = heard
    assert report.low > 0.05 and report.alarmed and report.rows < 4000 and report.groups["men"]["rows"] > 0
    (line,) = caplog.records
    assert line.name.startswith("aranyani_tf")
    assert "demographic_parity gap" in line.message and "limit 0.05" in line.message
    monitor.rearm()
    assert not monitor.report().alarmed and np.isnan(monitor.report().gap)  # watched anew; rates are of all rows
    assert monitor.report().rows == 4000 and monitor.report().metrics["demographic_parity"] > 0.3
    watch()
    assert len(heard) == 2 and heard[1].rows > 4000


def test_the_alarm_is_not_sounded_a_second_time_after_loading_nor_by_a_sum(tmp_path):
    heard = []
    monitor = ar.FairnessMonitor(limit=0.05, on_alarm=heard.append)
    rows = decide(1, 3000, 0.2, 0.6)
    monitor.add(*rows)
    monitor.save(tmp_path / "monitor.json")
    loaded = ar.FairnessMonitor.load(tmp_path / "monitor.json", on_alarm=heard.append)
    both = loaded + ar.FairnessMonitor(limit=0.05)
    for each in (loaded, both):
        each.add(*rows)
        assert each.report().alarmed
    assert len(heard) == 1
    loaded.rearm()
    loaded.add(*rows)
    assert len(heard) == 2


def test_a_gap_that_shows_only_in_the_sum_of_two_monitors_is_told_when_one_looks():
    heard = []
    parts = [ar.FairnessMonitor(limit=0.05, on_alarm=heard.append) for _ in range(2)]
    for seed, part in enumerate(parts):
        part.add(*decide(seed, 500, 0.3, 0.52))
    assert not heard
    both = parts[0] + parts[1]
    assert both.report().alarmed and len(heard) == 1


def test_a_function_may_ask_the_monitor_and_one_that_fails_is_not_called_twice():
    def fails(report):
        assert monitor.report().alarmed  # no waiting for itself
        raise OSError("no mail today")

    monitor = ar.FairnessMonitor(limit=0.05, on_alarm=fails)
    rows = decide(2, 3000, 0.2, 0.6)
    with pytest.raises(OSError, match="no mail"):
        monitor.add(*rows)
    monitor.add(*rows)
    assert monitor.report().rows == 6000  # all were counted


@pytest.mark.parametrize("given", [True, False], ids=["a run that was given", "the run that is active"])
def test_an_alert_reaches_weights_and_biases(given, tmp_path):
    run = wandb.init(project="fair", mode="offline", dir=tmp_path, settings=wandb.Settings(silent=True))
    monitor = ar.FairnessMonitor(limit=0.05, run=run if given else None)
    for seed in range(3):
        monitor.add(*decide(seed, 3000, 0.2, 0.6))
    run.finish()
    (file,) = tmp_path.glob("wandb/offline-run-*/*.wandb")
    (alert,) = (record.alert for record in records(file) if record.WhichOneof("record_type") == "alert")
    assert alert.title == "demographic_parity above 0.05" and alert.level == "WARN" and "confidence" in alert.text


def test_without_a_run_nobody_needs_weights_and_biases(monkeypatch):
    assert wandb.run is None
    for step in ("imported, but not in use", "not imported"):
        monitor = ar.FairnessMonitor(limit=0.05)
        monitor.add(*decide(0, 3000, 0.2, 0.6))
        assert monitor.alarmed, step
        monkeypatch.delitem(sys.modules, "wandb", raising=False)
