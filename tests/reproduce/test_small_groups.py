"""The study on small groups: its grid, what is compared with what, its pages; and the story of two tables."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import aranyani_tf as ar
import forked
import small_groups
from harness import group_changes, group_study, scales
from harness.experiments import Experiment
from prepare import own_tables

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"


@pytest.fixture
def everything_there(monkeypatch):
    monkeypatch.setattr(group_study, "available", lambda dataset: True)


def test_the_grid_has_every_share_level_rate_and_discount(everything_there):
    grid = group_study.small_groups()
    assert {each.share for each in grid} == {None, 0.1, 0.02, 0.002}
    assert {each.method for each in grid} == {"output", "aranyani"}
    assert {each.seeds for each in grid} == {(0, 1, 2, 3, 4)}
    assert {(each.decay, each.forget) for each in grid} == set(group_study.WAYS)
    assert {each.chance for each in grid} == {0, 1, 2, 3}
    assert {each.dataset for each in grid} == {"adult", "acs_employment", "bank", "synthetic", "rate_jumps"}
    assert len(grid) == len(set(grid))
    on_bank = [each for each in grid if each.dataset == "bank"]
    assert len(on_bank) == 1 + 2 * 5 * 4 and sum(each.fairness_weights == (0.0,) for each in on_bank) == 1
    places = {(each.dataset, each.groups, each.order, each.share) for each in grid}
    without = [(each.dataset, each.groups, each.order, each.share) for each in grid if each.fairness_weights == (0.0,)]
    assert set(without) == places and len(without) == len(places)  # each has its λ = 0, once


def test_streams_that_cannot_be_fetched_are_left_out(monkeypatch):
    monkeypatch.setattr(group_study, "available", lambda dataset: dataset not in ("bank", "acs_employment"))
    assert {each.dataset for each in group_study.small_groups()} == {"adult", "synthetic", "rate_jumps"}


def test_rows_of_tiny_groups_are_held_out_without_their_group():
    groups = np.array([0] * 6000 + [1] * 5000 + [2] * 50)
    stream = group_study.LargeHeldOut(ar.Stream(np.zeros((len(groups), 1)), np.zeros(len(groups), int), groups))
    rest, aside = stream.held_out(0.5)
    assert set(rest.groups) == {0, 1, 2} and set(aside.groups) == {-1, 0, 1}
    assert len(rest) + len(aside) == len(groups)


def test_a_study_is_no_plain_experiment_and_is_recorded_at_the_end():
    settings = {"method": "output", "rows": 300, "num_trees": 1, "height": 1}
    plain, study = (kind("synthetic", (0.0,), (0,), **settings) for kind in (Experiment, group_study.GroupStudy))
    assert study.key != plain.key and study.run()["step"].tolist() == [300]


def records(**columns):
    base = {"dataset": "adult", "groups": np.nan, "order": "file", "held_out": 0.0, "share": 0.02, "decay": np.nan,
            "forget": "rows", "chance": 0.0, "method": "output", "step": 100, "late_demographic_parity": 0.1,
            "window_demographic_parity": 0.1}
    return pd.DataFrame(base | columns)


def test_a_setting_is_compared_with_the_same_seed_and_counts_only_beyond_the_interval():
    accuracy, gaps = [0.8, 0.9, 0.7, 0.8], np.array([0.10, 0.30, 0.20, 0.40])
    frame = pd.concat([
        records(fairness_weight=0.0, seed=range(4), accuracy=accuracy, demographic_parity=gaps),
        records(fairness_weight=1.0, seed=range(4), accuracy=accuracy,  # fairer by 0.05 with every seed
                demographic_parity=gaps - np.array([0.05, 0.051, 0.049, 0.05])),
        records(fairness_weight=1.0, seed=range(4), accuracy=accuracy, decay=0.01,  # less fair, but for one seed
                demographic_parity=gaps + np.array([0.05, 0.10, -0.10, 0.05])),
        records(fairness_weight=1.0, seed=range(4), accuracy=accuracy, decay=0.001,  # less fair, hardly
                demographic_parity=gaps + np.array([0.005, 0.0051, 0.005, 0.005]))])
    found = group_changes.changes(group_changes.paired(group_changes.runs(frame)))
    by_decay = found[found["quantity"] == "gap"].set_index("decay")
    assert by_decay["mean"].to_dict() == pytest.approx({0.0: -0.05, 0.01: 0.025, 0.001: 0.005025})
    assert by_decay["verdict"].to_dict() == {0.0: -1, 0.01: 0, 0.001: 0}
    assert (found.loc[found["quantity"] == "accuracy", "mean"] == 0).all()
    reading = small_groups.read(frame)
    assert "| plain means | 0 | 1 | 1 | -0.017 |" in reading  # two other gaps stayed
    assert "forget 0.01 by rows | 0 | 0 | 1" in reading and "4 seeds" in reading


def test_with_nine_groups_the_gap_is_the_mean_of_what_was_held_out():
    both = {"dataset": "acs_employment", "groups": "race", "held_out": 0.1, "seed": 0, "share": np.nan,
            "demographic_parity": 0.9}
    frame = records(**both, fairness_weight=0.0, accuracy=[0.7, 0.8], step=[50, 100],
                    held_out_demographic_parity=[0.1, 0.3])
    (run,) = group_changes.runs(frame).to_dict("records")
    assert run["gap"] == pytest.approx(0.2) and run["accuracy"] == 0.8 and np.isnan(run["window"])


def test_the_script_from_start_to_end_in_a_tiny_mode(tmp_path):
    result = forked.python(ROOT / "reproduce" / "small_groups.py", "--tiny", "--no-wandb", "--results", tmp_path,
                           cwd=tmp_path, as_tests=True)
    assert result.returncode == 0, result.stderr[-2000:]
    for ending in ("csv", "png", "pdf"):
        assert (tmp_path / f"small_groups_tiny.{ending}").stat().st_size > 1000
    frame = pd.read_csv(tmp_path / "small_groups_tiny.csv")
    wanted = group_study.small_groups(scales.TINY)
    assert set(frame["dataset"]) == {each.dataset for each in wanted}
    assert "Nowhere less fair than λ = 0" in result.stdout and "Output level, λ = 1" in result.stdout


def test_the_committed_page_and_reading_say_what_the_committed_numbers_say():
    reading = small_groups.read(pd.read_csv(RESULTS / "small_groups.csv"))
    assert reading in small_groups.PAGE.read_text(encoding="utf-8") and "nan" not in reading
    assert reading in (RESULTS / "README.md").read_text(encoding="utf-8")


def test_a_page_takes_the_reading_in_the_place_of_the_older_one(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("above\n<!-- begin: by a script -->\nold\nlines\n<!-- end -->\nbelow\n", encoding="utf-8")
    for reading in ("new \\1", "newer"):
        small_groups.write_page(reading, page)
        assert page.read_text(encoding="utf-8") == (
            f"above\n<!-- begin: by a script -->\n{reading}\n<!-- end -->\nbelow\n")


def test_a_page_s_blocks_are_run_in_one_session_and_keep_what_they_print():
    page = ("One\n\n```python\nx = 1\n```\n\nTwo\n\n"
            "```python\nimport warnings\nwarnings.warn('mind')\nprint(x + 1)\n```\n")
    done = own_tables.run(page)
    assert done == page.replace("print(x + 1)\n```\n", "print(x + 1)\n```\n\n```text\nUserWarning: mind\n2\n```\n")
    assert own_tables.run(done) == done  # what was printed before is replaced


def test_the_story_was_run_and_names_no_path_of_a_machine():
    text = own_tables.PAGE.read_text(encoding="utf-8")
    assert text.count("```text") >= 8 and "make own_tables" in text
    assert not any(folder in text for folder in ("/root", "/home", "/tmp", "/work", ".cache"))


def window_gaps(stream, **settings):
    """Demographic parity in windows, the mean of two seeds."""
    settings = {"num_trees": 1, "height": 2, "constraint": "output", "penalty": ar.Huber(linear_slope=1.0)} | settings
    found = ar.Grove(settings, fairness_weights=[0.0, 1.0], seeds=[0, 1]).fit(
        stream, checkpoints=[len(stream)], verbose=0)
    return found.groupby("fairness_weight")["window_demographic_parity"].mean()


def test_where_rates_jump_forgetting_by_rows_makes_a_gap_and_forgetting_in_time_does_not():
    stream = ar.datasets.load("rate_jumps", num_rows=40_000, jump_every=10_000, minority=0.02)
    by_rows = window_gaps(stream, decay=0.001)
    in_time = window_gaps(stream, decay=0.001, forget="time", chance=2.0)
    assert by_rows[0.0] == pytest.approx(in_time[0.0], abs=1e-3)
    assert by_rows[1.0] > by_rows[0.0] + 0.03  # both groups have the same rate: there was nothing to mend
    assert in_time[1.0] < in_time[0.0] + 0.01
