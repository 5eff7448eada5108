"""Methods at the same gap: hulls, mixes that other seeds chose, intervals; and what is matched with what."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

import matched
from harness import matching
from harness.intervals import Interval

CONSTANT = pd.Series(dict.fromkeys(matching.MIXED, 0.0) | {"accuracy": 0.7, "late_accuracy": 0.7})


def runs_of(accuracies=(0.9, 0.8), gaps=(0.2, 0.1), seeds=(0, 1), **settings):
    """Made-up runs of one setting, λ = 0, 1, …, alike for all seeds."""
    return pd.DataFrame([{"dataset": "adult", "preprocessing": "released", "method": "aranyani", "rule": "released",
                          "decay": np.nan, "order": "file", "drop_group": False, "fairness_weight": float(weight),
                          "seed": seed, "step": 100, "accuracy": accuracy, "demographic_parity": gap,
                          "late_accuracy": accuracy, "late_demographic_parity": gap, "equal_opportunity": gap / 2,
                          "window_demographic_parity": gap} | settings
                         for seed in seeds
                         for weight, (accuracy, gap) in enumerate(zip(accuracies, gaps, strict=True))])


def majority_rows():
    """The constant answer, and λ = 0."""
    return pd.concat([runs_of((0.7,), (0.0,), method="majority", probability=0.0),
                      runs_of((0.9,), (0.2,), method="majority", probability=1.0)])


def best_by_linear_programme(points, gap, constant):
    """The most accurate mix with at most this gap, by a solver."""
    everything = np.vstack([points, [0.0, constant]])
    found = linprog(-everything[:, 1], A_ub=[everything[:, 0]], b_ub=[gap], A_eq=[np.ones(len(everything))], b_eq=[1])
    return -found.fun


@pytest.mark.parametrize("seed", range(20))
def test_the_mix_is_the_best_that_a_solver_finds_and_one_more_setting_never_lowers_it(seed):
    random = np.random.default_rng(seed)
    points = np.stack([random.uniform(0, 0.3, 6), random.uniform(0.6, 0.9, 6)], axis=1)
    for gap in (0.0, 0.01, 0.05, 0.2, 0.5):
        mix = matching.mix_at(points, gap, constant=0.7)
        accuracy = mix.shares @ points[:, 1] + mix.constant * 0.7
        assert mix.shares.sum() + mix.constant == pytest.approx(1) and mix.shares @ points[:, 0] <= gap + 1e-12
        assert accuracy == pytest.approx(best_by_linear_programme(points, gap, 0.7))
        fewer = matching.mix_at(points[:-1], gap, constant=0.7)
        assert fewer.shares @ points[:-1, 1] + fewer.constant * 0.7 <= accuracy + 1e-12


def test_the_area_is_the_mean_accuracy_of_the_mixes():
    points = np.array([[0.2, 0.84], [0.1, 0.82], [0.1, 0.80], [0.02, 0.78]])
    gaps = np.linspace(0, 0.15, 3001)
    expected = np.mean([best_by_linear_programme(points, gap, 0.75) for gap in gaps[::100]])
    assert matching.area(points, 0.15, 0.75) == pytest.approx(expected, abs=2e-3)


def test_a_mix_is_chosen_on_half_of_the_seeds_and_judged_on_the_other():
    lucky = pd.concat([runs_of((0.9, 0.8), (0.2, 0.1), seeds=(0, 2)), runs_of((0.9, 0.8), (0.2, 0.3), seeds=(1, 3))])
    found = matching.at_gap(lucky, 0.1, CONSTANT)
    assert found["elsewhere"].all() and list(found.index) == [0, 1, 2, 3]
    assert found.loc[1, "demographic_parity"] == pytest.approx(0.3)  # λ = 1 was fair on seeds 0 and 2, which chose it
    assert found.loc[0, "constant"] == pytest.approx(0.5)  # on seeds 1 and 3 only the constant answer helps
    assert found.loc[0, "equal_opportunity"] == pytest.approx(0.05)  # half of λ = 0's, which is half of the gap
    alone = matching.at_gap(runs_of(seeds=(0,)), 0.1, CONSTANT)
    assert not alone["elsewhere"].any() and alone["accuracy"].iloc[0] == pytest.approx(0.8)


def test_no_two_settings_are_matched_as_one():
    better = {"accuracies": (0.95, 0.85)}
    frame = pd.concat([runs_of(), runs_of(rule="l2", **better), runs_of(height=5, **better), majority_rows()])
    found = matched.matched(frame.fillna({"height": 4})).query(
        "demographic_parity == 0.15 and method == 'aranyani'")
    assert {(rule, height): round(accuracy, 3) for rule, height, accuracy in zip(
        found["rule"], found["height"], found["accuracy"], strict=True)} == {
            ("released", 4): 0.85, ("l2", 4): 0.9, ("released", 5): 0.9}
    assert found["bound"].all() and (found["seeds_above_gap"] == 0).all()
    assert found["over_majority"].round(3).tolist() == [0.0, 0.05, 0.05]  # which has 0.85 at 0.15
    with pytest.raises(ValueError, match="runs that differ in rule, height do not belong to one curve"):
        matching.at_gap(frame[frame["method"] == "aranyani"], 0.1, CONSTANT)


def test_runs_that_two_figures_share_count_once_and_must_agree():
    shared = matched.joined([runs_of(), pd.concat([runs_of(), runs_of(decay=0.01)])])
    assert len(shared) == 8 and set(shared["forget"]) == {"rows"}
    with pytest.raises(ValueError, match=r"other numbers for the same run, .*'method': 'aranyani'"):
        matched.joined([runs_of(), runs_of((0.9, 0.75))])


def test_an_interval_covers_the_mean_of_many_draws_as_often_as_it_says():
    random, inside = np.random.default_rng(0), 0
    for _ in range(200):
        found = Interval.of(random.normal(1.0, 1.0, 20))
        inside += found.low <= 1.0 <= found.high
    assert 0.87 <= inside / 200 <= 0.99  # a bootstrap of 20 values is a little short of 95 %


def test_a_paired_difference_is_sharper_than_an_unpaired_one():
    random = np.random.default_rng(0)
    noise = pd.Series(random.normal(0, 1, 10))
    paired = Interval.of_difference(noise + 0.1, noise)
    apart = Interval.of_difference(noise + 0.1, noise.set_axis(range(10, 20)))
    assert paired.above_zero and not apart.above_zero and paired.mean == pytest.approx(apart.mean)


def test_the_committed_table_is_above_majority_where_it_says_so():
    found = pd.read_csv(matched.RESULTS / "matched.csv")
    for low, mean, high in itertools.chain(found[["low", "accuracy", "high"]].dropna().to_numpy(),
                                           found[["over_majority_low", "over_majority",
                                                  "over_majority_high"]].dropna().to_numpy()):
        assert low <= mean + 1e-4 and mean <= high + 1e-4
    assert {"adult", "census", "compas"} <= set(found["dataset"]) and (found["constant_share"].between(0, 1)).all()
