"""FairnessMonitor: its numbers beside fairlearn's, rows in any pieces, late labels, merging, files."""

import json
import logging
import re
import runpy
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from fairlearn.metrics import (
    MetricFrame,
    demographic_parity_difference,
    equal_opportunity_difference,
    equalized_odds_difference,
    false_positive_rate,
    selection_rate,
    true_positive_rate,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families
from sklearn.metrics import accuracy_score

import aranyani_tf as ar
from aranyani_tf.evaluation.monitor_report import GROUP_METRICS
from aranyani_tf.evaluation.prequential import Prequential
from benchmarks.monitor import microseconds

ROOT = Path(__file__).parents[2]


def rows(seed, num_groups=2, n=500, num_labels=2):
    """Decisions, groups and labels that have to do with each other; every group with every label."""
    random = np.random.default_rng(seed)
    labels, groups = random.integers(0, num_labels, n), random.integers(0, num_groups, n)
    decisions = np.where(random.random(n) < 0.6 - 0.1 * groups, labels, random.integers(0, num_labels, n))
    every = np.indices((num_groups, num_labels)).reshape(2, -1)
    return (np.append(decisions, every[1]), np.append(groups, every[0]), np.append(labels, every[1]))


@given(seed=st.integers(0, 10**6), num_groups=st.integers(2, 5), n=st.integers(0, 80), cut=st.floats(0, 1))
@settings(max_examples=25, deadline=None)
def test_rates_and_gaps_are_those_of_fairlearn_and_scikit_learn(seed, num_groups, n, cut):
    decisions, groups, labels = rows(seed, num_groups, n)
    monitor, cut = ar.FairnessMonitor(num_groups), int(cut * n)
    monitor.add(decisions[:cut], groups[:cut], labels[:cut])  # some at once, the others one by one
    for row in zip(decisions[cut:], groups[cut:], labels[cut:], strict=True):
        monitor.add(*row)
    report = monitor.report()
    assert report.rows == len(labels) and report.low <= report.gap <= report.high
    assert report.metrics["accuracy"] == pytest.approx(accuracy_score(labels, decisions))
    for name, function in (("demographic_parity", demographic_parity_difference),
                           ("equal_opportunity", equal_opportunity_difference),
                           ("equalized_odds", equalized_odds_difference)):
        assert report.metrics[name] == pytest.approx(function(labels, decisions, sensitive_features=groups)), name
    functions = {"selection_rate": selection_rate, "accuracy": accuracy_score,
                 "true_positive_rate": true_positive_rate, "false_positive_rate": false_positive_rate}
    theirs = MetricFrame(metrics=functions, y_true=labels, y_pred=decisions, sensitive_features=groups).by_group
    ours = monitor.frame()
    np.testing.assert_allclose(ours[list(functions)], theirs[list(functions)].astype(float))
    assert ours["rows"].tolist() == np.bincount(groups).tolist() == ours["labelled"].tolist()


def test_the_recent_past_is_that_of_the_models_metrics_and_other_rates_of_forgetting_are_weighted_means():
    decisions, groups, labels = rows(0, n=3000)
    monitor, theirs = ar.FairnessMonitor(), Prequential(2, 2)
    monitor.add(decisions, groups, labels)
    theirs.update_state(labels, groups, np.eye(2)[decisions])
    for name in ("accuracy", "demographic_parity"):
        assert monitor.report().recent[name] == pytest.approx(float(theirs.result()[f"recent_{name}"]), abs=1e-6)
    monitor = ar.FairnessMonitor(decay=0.01)
    monitor.add(decisions, groups, labels)
    weights = 0.99 ** np.arange(len(labels))[::-1]
    frame = monitor.frame()
    for group in (0, 1):
        own = groups == group
        expected = np.average(decisions[own], weights=weights[own])
        assert frame["recent_selection_rate"].iloc[group] == pytest.approx(expected)
    assert not ar.FairnessMonitor(decay=None).report().recent


@pytest.mark.parametrize("num_labels", [2, 3])
def test_it_makes_no_difference_in_which_pieces_rows_come(num_labels):
    decisions, groups, labels = rows(1, 3, num_labels=num_labels)
    labels[::3], groups[::7], decisions[::11] = -1, -1, -1  # missing; some rows without anything
    monitors = [ar.FairnessMonitor(3, num_labels) for _ in range(3)]
    monitors[0].add(decisions, groups, labels)
    for row in zip(decisions.tolist(), groups.tolist(), labels.tolist(), strict=True):
        monitors[1].add(*row)
    for start in range(0, len(labels), 17):
        piece = slice(start, start + 17)
        monitors[2].add(decisions[piece], groups[piece].astype(float), labels[piece].tolist())
    counted = (decisions >= 0) & ((groups >= 0) | (labels >= 0))
    assert monitors[0].report().rows == counted.sum() < len(labels)
    for other in monitors[1:]:
        np.testing.assert_array_equal(other.counts.all, monitors[0].counts.all)
        np.testing.assert_allclose(other.counts.recent, monitors[0].counts.recent, rtol=1e-12)


def test_labels_that_come_late_give_what_labels_at_once_give_and_decisions_count_before():
    decisions, groups, labels = rows(2)
    at_once, late = ar.FairnessMonitor(notion="equalized_odds"), ar.FairnessMonitor(notion="equalized_odds")
    at_once.add(decisions, groups, labels)
    late.add(decisions, groups)
    before = late.report()
    assert before.metrics["demographic_parity"] == at_once.report().metrics["demographic_parity"]
    assert np.isnan(before.metrics["accuracy"]) and (before.low, before.high) == (0, 1)
    recent = before.recent["demographic_parity"]
    order = np.random.default_rng(0).permutation(len(labels))  # out of order
    late.add_labels(decisions[order][:300], groups[order][:300], labels[order][:300])
    for row in zip(decisions[order][300:], groups[order][300:], labels[order][300:], strict=True):
        late.add_labels(*row)
    assert late.report().recent["demographic_parity"] == pytest.approx(recent)
    np.testing.assert_array_equal(late.counts.all, at_once.counts.all)
    assert late.report().low == at_once.report().low
    with pytest.raises(ar.errors.RowError, match="0 rows wait"):
        late.add_labels(1, 0, 1)  # twice
    np.testing.assert_array_equal(late.counts.all, at_once.counts.all)


@pytest.mark.parametrize(("decisions", "groups", "labels", "words"), [
    ([0, 2], [0, 1], [0, 1], "row 1: decision is 2, must be a whole number from 0 to 1, or −1"),
    (1, 5, 0, "group is 5"), (1, 0, 7, "label is 7"), ([0.5], [0], [0], "decision is 0.5"),
    ([0, 1], [0], None, "groups must have shape"), (["yes"], [0], [1], "decisions must be numbers"),
    (float("nan"), 0, 1, "decision is nan")])
def test_rows_that_cannot_be_are_refused_by_name_and_none_is_counted(decisions, groups, labels, words):
    monitor = ar.FairnessMonitor()
    with pytest.raises(ar.errors.RowError, match=words):
        monitor.add(decisions, groups, labels)
    assert not monitor.counts.all.any() and not monitor.counts.recent.any()


@pytest.mark.parametrize(("wrong", "words"), [
    ({"num_groups": "2"}, "num_groups"), ({"notion": "luck"}, "demographic_parity"), ({"level": 0}, "level"),
    ({"limit": 1.5}, "limit"), ({"decay": 1.0}, "decay"), ({"positive_label": 2}, "positive_label"),
    ({"group_names": ["a"]}, "2 different names"), ({"on_alarm": "mail"}, "on_alarm")])
def test_settings_that_cannot_be_are_refused_by_name(wrong, words):
    with pytest.raises(ar.errors.ArgumentError, match=words):
        ar.FairnessMonitor(**wrong)


def test_monitors_of_different_rows_add_up_to_one_that_saw_them_all():
    decisions, groups, labels = rows(3, 3, n=900)
    parts = [ar.FairnessMonitor(3, notion="equal_opportunity") for _ in range(3)]
    whole = ar.FairnessMonitor(3, notion="equal_opportunity")
    for index, part in enumerate(parts):
        part.add(decisions[index::3], groups[index::3], labels[index::3])
    whole.add(decisions, groups, labels)
    merged = parts[0] + parts[1] + parts[2]
    both, wanted = merged.report(), whole.report()
    assert both.metrics == wanted.metrics and (both.gap, both.low, both.high) == (wanted.gap, wanted.low, wanted.high)
    np.testing.assert_allclose(merged.counts.recent, sum(part.counts.recent for part in parts))
    assert parts[0].report().rows == len(decisions[::3])  # which stay as they were
    with pytest.raises(ar.errors.ArgumentError, match="differ in level, limit"):
        parts[0] + ar.FairnessMonitor(3, notion="equal_opportunity", level=0.1, limit=0.2)
    with pytest.raises(TypeError):
        parts[0] + 1


def test_a_saved_monitor_goes_on_to_the_last_digit(tmp_path):
    decisions, groups, labels = rows(4, n=900)
    never, saved = (ar.FairnessMonitor(limit=np.float32(0.3), group_names=["ä\n", '"b"']) for _ in range(2))
    for start in (0, 450):
        piece = slice(start, start + 450)
        never.add(decisions[piece], groups[piece], labels[piece])
        saved.add(decisions[piece], groups[piece], labels[piece])
        saved.save(tmp_path / "monitor.json")
        saved = ar.FairnessMonitor.load(tmp_path / "monitor.json")
    assert saved.to_json() == never.to_json() and saved.report() == never.report()
    assert [path.name for path in tmp_path.iterdir()] == ["monitor.json"]


def test_a_file_that_was_changed_cut_or_is_something_else_is_refused_by_its_name(tmp_path):
    monitor = ar.FairnessMonitor()
    monitor.add([1, 0], [0, 1], [1, 1])
    text, path = monitor.to_json(), tmp_path / "monitor.json"
    later = json.dumps(json.loads(text) | {"version": 2})
    for wrong, words in ((text.replace("1.0", "2.0", 1), "check sum"), (text[:-20], "damaged"), ("[]", "is no Fair"),
                         (later, "version 2"), (text.replace("FairnessMonitor", "Form"), "is no FairnessMonitor")):
        path.write_text(wrong, encoding="utf-8")
        with pytest.raises(ar.errors.DamagedFileError, match=words) as caught:
            ar.FairnessMonitor.load(path)
        assert "monitor.json" in str(caught.value)


def test_prometheus_s_own_parser_reads_every_number_and_name():
    monitor = ar.FairnessMonitor(3, limit=0.1, group_names=['a "b" nan', "c\\d\n{}", "f"])
    monitor.add(*rows(5, 2))  # nobody of the third group
    report = monitor.report()
    families = {family.name: family for family in text_string_to_metric_families(monitor.prometheus(model='m"1'))}
    assert {family.type for family in families.values()} == {"counter", "gauge"}
    assert all(family.documentation for family in families.values())

    def value(family, **labels):
        (found,) = (sample.value for sample in families[f"aranyani_{family}"].samples
                    if sample.labels == {"model": 'm"1'} | labels)
        return found

    for name, numbers in report.groups.items():
        assert value("rows", group=name) == numbers["rows"]
        for metric in GROUP_METRICS:
            np.testing.assert_equal(value(metric, group=name, rows="all"), numbers[metric])
            np.testing.assert_equal(value(metric, group=name, rows="recent"), numbers[f"recent_{metric}"])
    assert np.isnan(value("selection_rate", group="f", rows="all"))
    for notion in ("demographic_parity", "equal_opportunity", "equalized_odds"):
        assert value("gap", notion=notion, rows="all") == report.metrics[notion]
    watched = {"notion": "demographic_parity"}
    assert (value("watched_gap_low", **watched), value("watched_gap_high", **watched)) == (report.low, report.high)
    assert value("alarm", **watched) == report.alarmed == 0 and value("gap_limit", **watched) == 0.1


def test_threads_share_a_monitor_and_no_row_is_lost():
    monitor = ar.FairnessMonitor(limit=0.9)
    decisions, groups, labels = (part.tolist() for part in rows(6, n=2000))

    def work():
        for row in zip(decisions, groups, labels, strict=True):
            monitor.add(*row)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert monitor.report().rows == 4 * len(labels)


def test_the_page_s_example_runs_and_its_tables_are_those_that_the_benchmark_prints(capsys, monkeypatch):
    page = (ROOT / "docs" / "live.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n((?:(?!```).)*FairnessMonitor.*?)```", page, flags=re.DOTALL)
    exec(compile(example, "docs/live.md", "exec"), {})
    assert "demographic_parity gap" in capsys.readouterr().out
    monkeypatch.setattr(logging.getLogger("aranyani_tf"), "level", logging.ERROR)  # so that it is put back
    monkeypatch.setattr(sys, "argv", ["monitor.py", "--streams", "2", "--rows", "60", "--repeats", "1"])
    runpy.run_path(str(ROOT / "benchmarks" / "monitor.py"), run_name="__main__")
    printed = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert len(printed) == 5 + 2 + 6

    def headings(lines):  # the first column and the heads of the tables: all that is not measured
        return [line if "rows until" in line or "usual" in line else line.split("|")[1] for line in lines]

    assert set(headings(printed)) <= set(headings(line for line in page.splitlines() if line.startswith("|")))


def test_a_row_takes_some_microseconds():
    """Generous, for a busy machine: the median of 20,000 is about two."""
    assert microseconds(20_000)[0] < 20
