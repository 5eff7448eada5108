"""FABBOO: against a loop written from its rules one by one, and each rule by itself."""

import numpy as np
import pytest
from river.tree import HoeffdingTreeClassifier

import aranyani_tf as ar
from aranyani_tf.baselines.fabboo import ClassImbalance, Fabboo, RefusedConfidences, boosting_weights
from aranyani_tf.errors import ArgumentError, RowError

EARLY = {"grace_period": 20, "delta": 0.1}  # trees that split within a few hundred rows
PLAIN = {"num_trees": 3, "weak_learner": "plain", **EARLY}


def biased_stream(num_rows=400, seed=0):
    """Group 1 is positive half as often; its rows look the same otherwise."""
    random = np.random.default_rng(seed)
    groups = random.integers(0, 2, num_rows)
    labels = (random.random(num_rows) < np.where(groups == 0, 0.5, 0.25)).astype(int)
    features = np.column_stack([labels + random.normal(0, 0.7, num_rows), groups, random.normal(size=num_rows)])
    return features, labels, groups


def parity_gap(said, groups):
    decisions = said.argmax(axis=1)
    return decisions[groups == 0].mean() - decisions[groups == 1].mean()


def by_the_rules(features, labels, groups, notion, num_trees, decay, size, gamma, tolerance, deprived=1):
    """Decisions and boundaries, row by row: every tree is asked again before it learns, every list sorted anew."""
    trees = [HoeffdingTreeClassifier(**EARLY) for _ in range(num_trees)]
    positive_share = negative_share = 0.0
    boundary, history, refused = 0.5, [], []
    decisions, boundaries = [], []
    for x, y, a in zip(features, labels, groups, strict=True):
        x = dict(enumerate(x.tolist()))
        positive_share = decay * positive_share + (1 - decay) * (y == 1)
        negative_share = decay * negative_share + (1 - decay) * (y == 0)
        total = positive_share + negative_share + 0.1
        positive_share, negative_share = positive_share / total, negative_share / total

        said = [vote for vote in (tree.predict_proba_one(x) for tree in trees) if vote]
        confidence = np.mean([vote.get(1, 0.0) for vote in said]) if said else 0.5
        decision = int(confidence > (boundary if a == deprived else 0.5))
        if a == deprived and y == 1 and not decision:
            refused.append(confidence)
        if notion == "demographic_parity" or y == 1:
            history.append((a, decision))

        own = [d for g, d in history if g == deprived]
        others = [d for g, d in history if g != deprived]
        if own and others and abs(np.mean(others) - np.mean(own)) >= tolerance:
            missing = int(len(own) * sum(others) / len(others) - sum(own))
            best_first = sorted(refused[-size:], reverse=True)
            if missing < 0:
                boundary = (boundary + 0.5) / 2
            else:
                boundary = best_first[min(missing, len(best_first) - 1)] if best_first else 0.5

        margin, weight = 0.0, 1.0
        for tree in trees:
            is_right = tree.predict_one(x) == y
            tree.learn_one(x, y, w=weight)
            margin += (1 if is_right else -1) - gamma / (2 + gamma)
            weight = (1 - gamma) ** (margin / 2) if margin > 0 else 1
            imbalance = negative_share - positive_share
            weight = weight / (1 - imbalance) if y == 1 else weight / (1 + imbalance)
        decisions.append(decision)
        boundaries.append(boundary)
    return np.array(decisions), np.array(boundaries)


@pytest.mark.parametrize("notion", ["demographic_parity", "equal_opportunity"])
def test_every_decision_and_every_boundary_is_that_of_the_rules(notion):
    rows = biased_stream()
    decisions, boundaries = by_the_rules(*rows, notion, num_trees=3, decay=0.7, size=15, gamma=0.2, tolerance=0.02)
    learner = Fabboo(notion, deprived_group=1, label_decay=0.7, buffer_size=15, gamma=0.2, tolerance=0.02, **PLAIN)
    said, own = [], []
    for row in range(len(decisions)):
        said.append(learner.predict_then_learn(*(column[row:row + 1] for column in rows))[0].argmax())
        own.append(learner.boundary)
    np.testing.assert_array_equal(said, decisions)
    np.testing.assert_allclose(own, boundaries, atol=1e-9)
    assert len(set(np.round(boundaries, 6))) > 10  # it did move
    assert learner.trees[0].n_branches > 0


# --- one rule at a time -----------------------------------------------------------------------------------------

def test_a_tree_sees_rows_lighter_that_the_trees_before_it_knew():
    theta = 0.1 / 2.1
    weights = boosting_weights([True, False, True, True], gamma=0.1, label_weight=1.0)
    # margins: 1 − θ, then −2θ, which is below 0 and weighs 1, then 1 − 3θ
    np.testing.assert_allclose(weights, [1, 0.9 ** ((1 - theta) / 2), 1, 0.9 ** ((1 - 3 * theta) / 2)])
    doubled = boosting_weights([True, False, True, True], gamma=0.1, label_weight=2.0)
    np.testing.assert_allclose(doubled, [1, *(2 * np.array(weights[1:]))])  # the first tree sees all labels alike


def test_label_weights_come_to_rest_where_the_recursion_does():
    """After many negatives the share s solves s = (λs + 1 − λ)/(λs + 1 − λ + 0.1)."""
    imbalance = ClassImbalance(0.8)
    for _ in range(500):
        imbalance.count(0)
    share = max(np.roots([0.8, 0.2 + 0.1 - 0.8, -0.2]))
    assert imbalance.weight(1) == pytest.approx(1 / (1 - share))
    assert imbalance.weight(0) == pytest.approx(1 / (1 + share))


def test_without_memory_the_last_label_is_all_there_is():
    imbalance = ClassImbalance(0.0)
    for label in (0, 0, 1):
        imbalance.count(label)
    np.testing.assert_allclose(imbalance.shares, [0, 1 / 1.1])


def test_as_many_pass_above_the_boundary_as_were_missing():
    random = np.random.default_rng(3)
    for count in (1, 2, 7, 40):
        confidences = random.random(count) / 2
        refused = RefusedConfidences(100)
        for confidence in confidences:
            refused.add(confidence)
        for missing in range(count):
            assert (confidences > refused.boundary(missing)).sum() == missing
        for missing in (count, count + 1, 10 * count):
            assert refused.boundary(missing) == confidences.min()


def test_the_buffer_has_the_last_ones_also_if_some_are_equal():
    random, refused, everything = np.random.default_rng(4), RefusedConfidences(9), []
    for confidence in random.integers(0, 5, 200) / 10:
        refused.add(confidence)
        everything.append(confidence)
        assert refused.ascending == sorted(everything[-9:])


# --- what comes of it --------------------------------------------------------------------------------------------

def test_the_boundary_closes_the_gap_and_too_much_tolerance_leaves_it_open():
    rows = biased_stream(800)
    gaps = {tolerance: parity_gap(Fabboo(tolerance=tolerance, **PLAIN).predict_then_learn(*rows), rows[2])
            for tolerance in (0.001, 1.0)}
    assert gaps[1.0] > 0.15
    assert abs(gaps[0.001]) < 0.03


def test_full_tolerance_and_no_notion_are_the_same_boosting_which_no_group_can_change():
    features, labels, groups = biased_stream(200)
    none = Fabboo("none", **PLAIN).predict_then_learn(features, labels, groups)
    np.testing.assert_array_equal(none, Fabboo("none", **PLAIN).predict_then_learn(features, labels, 1 - groups))
    tolerant = Fabboo(tolerance=1.0, **PLAIN).predict_then_learn(features, labels, groups)
    np.testing.assert_array_equal(tolerant.argmax(axis=1), none.argmax(axis=1))


@pytest.mark.parametrize("swapped", [False, True])
def test_the_group_with_fewer_positive_labels_is_found(swapped):
    features, labels, groups = biased_stream(300)
    groups = 1 - groups if swapped else groups
    learner = Fabboo(**PLAIN)
    learner.predict_then_learn(features, labels, groups)
    assert learner.deprived == (0 if swapped else 1)


def test_rows_without_a_group_are_learned_but_neither_counted_nor_favoured():
    features, labels, groups = biased_stream(200)
    nobody = np.full(200, -1)
    learner = Fabboo(**PLAIN)
    said = learner.predict_then_learn(features, labels, nobody)
    np.testing.assert_array_equal(said, Fabboo("none", **PLAIN).predict_then_learn(features, labels, groups))
    assert learner.decisions == [[0, 0], [0, 0]] and learner.deprived is None


def test_rows_without_a_label_teach_nothing_but_their_decisions_count():
    features, labels, groups = biased_stream(200)
    learner = Fabboo("demographic_parity", **PLAIN)
    learner.predict_then_learn(features, labels, groups)
    before = learner.trees[2].summary["total_observed_weight"], list(learner.imbalance.shares)
    said = learner.predict_then_learn(features[:50], np.full(50, -1), groups[:50])
    assert said.shape == (50, 2) and sum(map(sum, learner.decisions)) == 250
    assert sum(map(sum, learner.labels)) == 200
    assert (learner.trees[2].summary["total_observed_weight"], learner.imbalance.shares) == before


def test_pieces_give_what_the_whole_gives_and_a_seed_the_same_bytes():
    rows = biased_stream(300)
    whole = Fabboo(num_trees=2, seed=5, **EARLY).predict_then_learn(*rows)
    np.testing.assert_allclose(whole.sum(axis=1), 1)
    learner = Fabboo(num_trees=2, seed=5, **EARLY)
    pieces = [learner.predict_then_learn(*(column[start:stop] for column in rows))
              for start, stop in ((0, 1), (1, 120), (120, 300))]
    assert np.concatenate(pieces).tobytes() == whole.tobytes()
    assert learner.state_bytes > 1000
    other = Fabboo(num_trees=2, seed=6, **EARLY).predict_then_learn(*rows)
    assert np.abs(other - whole).max() > 1e-6


@pytest.mark.parametrize("settings", [
    {"notion": "equalized_odds"}, {"weak_learner": "stump"}, {"num_trees": 0}, {"gamma": 1.0},
    {"buffer_size": 0}, {"label_decay": 1.0}, {"tolerance": -0.1}, {"deprived_group": 2}, {"seed": -1}])
def test_settings_that_cannot_be_are_refused_by_name(settings):
    with pytest.raises(ArgumentError, match=next(iter(settings))):
        Fabboo(**settings)


def test_more_than_two_labels_or_groups_are_refused():
    features, labels, groups = biased_stream(30)
    for name, wrong in {"label": (features, labels + 1, groups), "group": (features, labels, groups + 1)}.items():
        with pytest.raises(ArgumentError, match=f"two labels and two groups, got {name} 2"):
            Fabboo(**PLAIN).predict_then_learn(*wrong)
    with pytest.raises(RowError, match="row 0"):
        Fabboo(**PLAIN).predict_then_learn(features * np.nan, labels, groups)


def test_a_stream_of_the_package_runs_through():
    stream = ar.datasets.load("synthetic", num_rows=60)
    assert Fabboo(**PLAIN).predict_then_learn(stream.features, stream.labels, stream.groups).shape == (60, 2)
