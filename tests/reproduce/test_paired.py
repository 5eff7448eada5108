"""Paired differences: what is called better in the README and the docs, and ours against each in the field."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import paired
from harness import field_pairs
from harness.field_choice import case_name
from harness.intervals import Interval
from ledger import curve_pairs
from prepare import field_numbers

ROOT = Path(__file__).parents[2]
DP = "demographic_parity"


def runs_of(method, accuracies, gap):
    """Of one case, an order each."""
    return [{"dataset": "adult", "preprocessing": "one_hot", "groups": "", "drop_group": False, "method": method,
             "seed": seed, "told": DP, "fairness_weight": 0.05, "knob_value": "0.002",
             "chosen_for": case_name(DP, 0.05),
             "accuracy": accuracy, "rows": 1000, "speed": 1.0, "bytes": 1.0,
             **{f"{part}{DP}": gap for part in ("", "late_", "window_")}}
            for seed, accuracy in enumerate(accuracies)]


@pytest.fixture
def records():
    ours = [0.80, 0.81, 0.82, 0.83, 0.84]
    near = [0.80, 0.82, 0.81, 0.84, 0.83]
    return pd.DataFrame([
        *runs_of("recommended", ours, 0.04), *runs_of("mlp", [each - 0.02 for each in near], 0.05),
        *runs_of("ht", near, 0.03), *runs_of("leaf", [each + 0.1 for each in near], 0.05),
        *runs_of("sgd", ours, 0.2), *runs_of("thresholds", ours, 0.04)])


def test_ours_is_better_where_both_keep_the_gap_and_the_student_interval_of_paired_differences_is_above_0(records):
    found = field_pairs.field_pairs(records).set_index("second")
    assert found["told"].to_dict() == {"mlp": "better", "ht": "not told apart", "leaf": "worse",
                                       "sgd": "keeps the gap alone"}  # the by-group class has none of ours here
    around = stats.t.interval(0.95, 4, 0.02, stats.sem([0.0, -0.01, 0.01, -0.01, 0.01]))
    assert tuple(found.loc["mlp", ["low", "high"]]) == pytest.approx(around) and found.loc["mlp", "seeds"] == 5
    counts = field_pairs.counted(found.reset_index()).set_index("second")
    assert counts.loc["mlp", "better"] == 1 and counts.loc["mlp", "difference"] == pytest.approx(0.02)
    assert np.isnan(counts.loc["sgd", "difference"]) and counts.loc["sgd", field_pairs.ALONE] == 1


def test_a_gap_that_ours_misses_counts_against_it_whatever_the_accuracy(records):
    records.loc[records["method"] == "recommended", DP] = 0.2
    told = field_pairs.field_pairs(records).set_index("second")["told"]
    assert told["mlp"] == "misses the gap alone" and told["sgd"] == "neither keeps the gap"


def test_the_table_of_rivals_has_every_verdict_and_says_so_while_there_are_none(records, tmp_path):
    found = field_pairs.field_pairs(records).assign(id=None)
    found.to_csv(tmp_path / "paired.csv", index=False)
    text = field_numbers.rivals(tmp_path)
    assert "| MLP | 1 | 0 | 0 | 0 | 0 | 0 | +2.00 |" in text and "| SGD | 0 | 0 | 0 | 1 | 0 | 0 |  |" in text
    found.assign(id="sentence").to_csv(tmp_path / "paired.csv", index=False)
    assert "has not been run" in field_numbers.rivals(tmp_path)


def test_every_sentence_that_is_tested_says_what_its_interval_says_and_cites_it():
    found = pd.read_csv(ROOT / "results" / "paired.csv").set_index("id")
    pages = "".join((ROOT / page).read_text(encoding="utf-8") for page in ("README.md", "docs/deviations.md"))
    asked = set(re.findall(r"<!--paired ([a-z-]+)-->", pages))
    assert asked == {each.id for each in curve_pairs.SENTENCES}
    assert (found.loc[sorted(asked), "low"] > 0).all() and (found.loc[sorted(asked), "told"] == "better").all()


def test_the_committed_differences_of_sentences_are_those_of_the_committed_curves():
    again = curve_pairs.curve_pairs(paired.Results(ROOT / "results")).set_index("id")
    found = pd.read_csv(ROOT / "results" / "paired.csv").dropna(subset="id").set_index("id")
    for column in ("difference", "low", "high"):
        assert found[column].to_dict() == pytest.approx(again[column].to_dict(), rel=1e-4), column


@pytest.mark.parametrize(("low", "high", "told"), [(0.1, 0.2, "better"), (-0.2, -0.1, "worse"),
                                                   (-0.1, 0.1, "not told apart"), (np.nan, np.nan, "not told apart")])
def test_an_interval_that_reaches_0_or_is_not_known_tells_nothing(low, high, told):
    assert field_pairs.verdict(Interval(0.0, low, high)) == told
