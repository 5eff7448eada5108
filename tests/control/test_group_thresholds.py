"""Thresholds by group: against a plain program, fairlearn's metrics, and other people's learners."""

import numpy as np
import pytest
from fairlearn.metrics import demographic_parity_difference, equalized_odds_difference, true_positive_rate
from sklearn.linear_model import LogisticRegression

import aranyani_tf as ar
from aranyani_tf.errors import ArgumentError, RowError


def made_up(num_rows=20_000, num_groups=2, seed=0):
    """Calibrated probabilities whose level differs by group, with labels drawn from them."""
    random = np.random.default_rng(seed)
    groups = random.integers(0, num_groups, num_rows)
    score = random.normal(size=num_rows) + np.linspace(-0.6, 0.6, num_groups)[groups]
    probabilities = 1 / (1 + np.exp(-1.5 * score))
    return probabilities, (random.random(num_rows) < probabilities).astype(int), groups


def plain_program(p, y, a, target, conditions, rate=0.003, gain=3.0, memory=200.0):
    """The rule once more, by dictionaries and lists; conditions: label → its names, or None for all rows."""
    pairs = [(i, j) for i in (0, 1) for j in (0, 1) if i != j]
    price = {(c, *pair): 0.0 for c in conditions for pair in pairs}
    at_once = dict(price)
    rows = {(c, k): [] for c in conditions for k in (0, 1)}  # (when, decided)
    seen, scores = 0.0, []

    def rates(c, k, now, weight):
        weights = np.array([weight(when, now) for when, _ in rows[c, k]])
        return weights.sum(), (weights * [decided for _, decided in rows[c, k]]).sum() / weights.sum()

    def recently(when, now):
        return (1 - 1 / memory) ** (now - when)

    def later(when, now):  # falls like (when/now)², as the product of what is kept after each row
        return np.prod(1 - 3 / np.arange(when + 1, now + 1))

    for now, (probability, label, group) in enumerate(zip(p, y, a, strict=True), 1):
        score = probability
        for c in conditions:
            likely = {None: 1.0, 1: probability, 0: 1 - probability}[c]
            other = 1 - group
            recent = sum(recently(when, now - 1) for when, _ in rows[c, group])
            share = max(recent, 1) / max(seen, 1)
            score -= sum(each[c, group, other] - each[c, other, group] for each in (price, at_once)) * likely / share
        scores.append(score)
        seen = seen * (1 - 1 / memory) + 1
        for c in conditions:
            if c is None or c == label:
                rows[c, group].append((now, score >= 0.5))
            if all(len(rows[c, k]) >= 20 for k in (0, 1)):
                gaps = []
                for weight in (lambda when, now: 1.0, later, recently):
                    (few, low), (many, high) = (rates(c, k, now, weight) for k in (0, 1))
                    gaps.append(high - low if min(few, many) >= 20 else gaps[0])
                up = max(price[c, 1, 0] + rate * (max(gaps) - target), 0)
                down = max(price[c, 0, 1] + rate * (max(-gap for gap in gaps) - target), 0)
                price[c, 1, 0], price[c, 0, 1] = up - min(up, down), down - min(up, down)
                at_once[c, 1, 0] = gain * max(max(gaps[:2]) - target, 0)
                at_once[c, 0, 1] = gain * max(max(-gap for gap in gaps[:2]) - target, 0)
    return np.array(scores)


@pytest.mark.parametrize(("notion", "conditions"), [
    ("demographic_parity", [None]), ("equal_opportunity", [1]), ("equalized_odds", [0, 1])])
def test_scores_are_those_of_a_plain_program(notion, conditions):
    p, y, a = made_up(300)
    scores = ar.GroupThresholds(target=0.05, notion=notion).decide_then_learn(p, y, a)
    np.testing.assert_allclose(scores, plain_program(p, y, a, 0.05, conditions), rtol=0, atol=1e-9)
    assert (scores != p).any()


@pytest.mark.parametrize("target", [0.1, 0.02])
def test_the_rates_differ_by_the_target_and_fairlearn_agrees(target):
    p, y, a = made_up()
    decided = ar.GroupThresholds(target=target).decide_then_learn(p, y, a) >= 0.5
    assert demographic_parity_difference(y, p >= 0.5, sensitive_features=a) > 0.25
    for rows in (slice(None), slice(10_000, None)):
        assert demographic_parity_difference(y[rows], decided[rows], sensitive_features=a[rows]) < 1.2 * target
    assert (decided == y).mean() > ((p >= 0.5) == y).mean() - 0.055


def test_equal_opportunity_and_equalized_odds_are_kept():
    p, y, a = made_up()
    decided = ar.GroupThresholds(target=0.03, notion="equal_opportunity").decide_then_learn(p, y, a) >= 0.5
    rates = [true_positive_rate(y[a == k], decided[a == k]) for k in (0, 1)]
    assert abs(rates[0] - rates[1]) < 1.2 * 0.03
    decided = ar.GroupThresholds(target=0.05, notion="equalized_odds").decide_then_learn(p, y, a) >= 0.5
    assert equalized_odds_difference(y, p >= 0.5, sensitive_features=a) > 0.15
    assert equalized_odds_difference(y, decided, sensitive_features=a) < 1.2 * 0.05


def test_five_groups_are_all_within_the_target():
    p, y, a = made_up(num_groups=5)
    decided = ar.GroupThresholds(target=0.05, num_groups=5).decide_then_learn(p, y, a) >= 0.5
    assert demographic_parity_difference(y, decided, sensitive_features=a) < 1.2 * 0.05


def test_a_gap_that_is_smaller_than_the_target_is_left_alone():
    p, y, a = made_up()
    np.testing.assert_array_equal(ar.GroupThresholds(target=0.9).decide_then_learn(p, y, a), p)


def test_it_decides_as_accurately_as_the_best_pair_of_thresholds_allows():
    """Of all pairs of fixed thresholds that keep the gap, the best, chosen with hindsight."""
    p, y, a = made_up()
    steered = ar.GroupThresholds(target=0.05)
    decided = steered.decide_then_learn(p, y, a) >= 0.5
    grid = np.linspace(0.2, 0.8, 61)
    rate = [[(p[a == k] >= t).mean() for t in grid] for k in (0, 1)]
    right = [[((p[a == k] >= t) == y[a == k]).sum() for t in grid] for k in (0, 1)]
    allowed = np.abs(np.subtract.outer(rate[0], rate[1])) <= 0.05
    best = np.where(allowed, np.add.outer(right[0], right[1]), 0).max() / len(y)
    assert (decided == y).mean() > best - 0.01
    assert steered.thresholds[0] < 0.5 < steered.thresholds[1]


def test_a_learner_of_ours_with_a_lambda_of_its_own_goes_through_a_stream():
    stream = ar.datasets.load("synthetic", num_rows=3000, seed=0)
    for weight in (0.0, 10.0):
        fair = ar.GroupThresholds(ar.Aranyani(num_trees=1, height=2, fairness_weight=weight, seed=0), target=0.04)
        end = ar.learn_stream(fair, stream).iloc[-1]
        assert end["demographic_parity"] < 1.2 * 0.04
        assert fair.so_far()["rows"] == 3000  # the learner's own


def test_scores_of_scikit_learn_are_decided_row_by_row_and_learned_later():
    stream = ar.datasets.load("synthetic", num_rows=6000, seed=0)
    scores = LogisticRegression().fit(stream.features[:1000], stream.labels[:1000]).predict_proba(
        stream.features[1000:])[:, 1]
    labels, groups = stream.labels[1000:], stream.groups[1000:]
    at_once, one_by_one = ar.GroupThresholds(target=0.05), ar.GroupThresholds(target=0.05)
    wanted = at_once.decide_then_learn(scores, labels, groups)
    found = []
    for p, y, a in zip(scores, labels, groups, strict=True):
        found.append(float(one_by_one.decide(p, a)))
        one_by_one.learn(found[-1] >= 0.5, y, a)
    np.testing.assert_array_equal(found, wanted)
    assert demographic_parity_difference(labels, wanted >= 0.5, sensitive_features=groups) < 1.2 * 0.05


def test_the_state_goes_on_in_another_object():
    p, y, a = made_up(3000)
    whole = ar.GroupThresholds(target=0.05).decide_then_learn(p, y, a)
    first, second = ar.GroupThresholds(target=0.05), ar.GroupThresholds(target=0.05)
    first.decide_then_learn(p[:1234], y[:1234], a[:1234])
    second.set_state(first.get_state())
    np.testing.assert_array_equal(second.decide_then_learn(p[1234:], y[1234:], a[1234:]), whole[1234:])
    with pytest.raises(ArgumentError, match="the state is of other settings"):
        ar.GroupThresholds(target=0.05, num_groups=3).set_state(first.get_state())


def test_a_row_without_a_group_is_decided_as_it_is_and_counts_for_nothing():
    p, y, a = made_up(2000)
    steered = ar.GroupThresholds(target=0.05)
    steered.decide_then_learn(p, y, a)
    before = steered.counts[2].copy()
    assert steered.decide(0.7, -1) == 0.7
    steered.learn([1], [1], [-1])
    np.testing.assert_array_equal(steered.counts[2], before)


def test_the_answers_largest_is_what_was_decided():
    class Half:
        def predict_then_learn(self, x, y, a):
            return np.full((len(x), 2), 0.5)

    answers = ar.GroupThresholds(Half(), target=0.5).predict_then_learn(np.zeros((3, 1)), [0, 1, 0], [0, 1, 1])
    assert (answers.argmax(axis=1) == 1).all()


def test_bad_rows_and_settings_are_told():
    steered = ar.GroupThresholds(target=0.05)
    with pytest.raises(RowError, match=r"row 1: the probability is 1\.5"):
        steered.decide([0.5, 1.5], [0, 1])
    with pytest.raises(RowError, match="row 0: group is 2, must be a whole number from 0 to 1"):
        steered.decide([0.5], [2])
    with pytest.raises(RowError, match="got shapes"):
        steered.decide([0.5, 0.5], [0])
    with pytest.raises(ArgumentError, match="there is no learner"):
        steered.predict_then_learn(np.zeros((1, 2)), [0], [0])
    with pytest.raises(ArgumentError, match="need two labels"):
        ar.GroupThresholds(ar.Aranyani(num_labels=3), target=0.05)
    with pytest.raises(ArgumentError, match="memory must be a finite number above 1"):
        ar.GroupThresholds(target=0.05, memory=1)
