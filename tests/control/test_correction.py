"""Offsets of the gaps: their rule, that both engines learn by them, and what they are for."""

import keras
import numpy as np
import pytest

import aranyani_tf as ar
from aranyani_tf.baselines.reservoir import Reservoir
from aranyani_tf.control.correction import AT_ONCE, FEW, MOST, SUMMED, Correction, spread_over
from aranyani_tf.engine.shares import OutputShares
from aranyani_tf.fairness.notions import DemographicParity, EqualizedOdds, EqualOpportunity

STREAM = ar.datasets.load("synthetic", num_rows=3000, seed=1)
ROWS = STREAM.features, STREAM.labels, STREAM.groups


def beyond(gap, limit):
    return np.sign(gap) * max(abs(gap) - limit, 0)


def rate_and_count(table, label, chosen):
    """Of rows (label + 1, group + 1, decision) that are chosen: how often the label was decided, and how many."""
    found = table[chosen].reshape(-1, table.shape[-1]).sum(axis=0)
    return found[label] / max(found.sum(), 1), found.sum()


# Each contrast is (cells of the one side, cells of the other), a cell being (labels, groups) of the table.
EVERY = slice(None)
GAPS_OF = {
    "parity": (DemographicParity(), "demographic_parity", 2, 2, [((EVERY, 0), (EVERY, 1))]),
    "opportunity": (EqualOpportunity(), "equal_opportunity", 2, 2, [((1, 0), (1, 1))]),
    "odds": (EqualizedOdds(), "equalized_odds", 2, 2, [((0, 0), (0, 1)), ((1, 0), (1, 1))]),
    "three groups, three labels": (DemographicParity(), "demographic_parity", 3, 3,
                                   [((EVERY, slice(0, 3)), (EVERY, group)) for group in range(3)])}


@pytest.mark.parametrize("case", GAPS_OF)
def test_offsets_follow_the_rule_of_a_plain_program(case):
    notion, metric, num_labels, num_groups, contrasts = GAPS_OF[case]
    random = np.random.default_rng(0)
    correction = Correction(notion, metric, num_labels=num_labels, num_groups=num_groups, positive_label=1)
    labels = [1] if num_labels == 2 else range(num_labels)
    target = 0.04 if num_groups == 2 else 0.04 / 2
    summed = np.zeros((len(contrasts), len(labels)))
    for size in (3, 30, 300, 3000):  # with 3 there are cells of too few rows
        tables = random.integers(0, size, (3, num_labels + 1, num_groups + 1, num_labels)).astype(float)
        correction.move(tuple(tables), 0.04, None)
        for c, (one, other) in enumerate(contrasts):
            for j, label in enumerate(labels):
                gaps, errors = [], []
                for table in tables:
                    (p, n), (q, m) = (rate_and_count(table, label, side) for side in (one, other))
                    enough = min(n, m) >= FEW
                    both = (p * n + q * m) / max(n + m, 1)
                    gaps.append(p - q if enough else 0.0)
                    errors.append(np.sqrt(both * (1 - both) * (1 / n + 1 / m)) if enough else 0.0)
                summed[c, j] = np.clip(summed[c, j] + SUMMED * beyond(max(gaps, key=abs), target), -MOST, MOST)
                sure = [beyond(gaps[0], errors[0]), beyond(gaps[2], np.sqrt(0.6) * errors[2])]
                wanted = np.clip(summed[c, j] + AT_ONCE * beyond(max(sure, key=abs), target / 2), -MOST, MOST)
                assert correction.offsets[c, j] == pytest.approx(wanted, abs=1e-12)
    assert np.abs(summed).max() > 0


def corrected(constraint="output", engine="auto", **settings):
    model = ar.Aranyani(num_trees=1, height=2, fairness_weight=ar.ParityTarget(0.01, every=40, start=1.0),
                        constraint=constraint, seed=0, **settings)
    model.compile(engine=engine)
    return model


@pytest.mark.parametrize("constraint", ["node", "leaf", "output"])
def test_both_engines_add_the_same_offsets_to_the_gaps(constraint):
    numba, xla = corrected(constraint), corrected(constraint, engine="xla")
    said = [model.predict_then_learn(*(array[:1000] for array in ROWS)) for model in (numba, xla)]
    assert np.abs(numba.steering.offsets).max() > 0.005  # so that there is something to agree on
    np.testing.assert_allclose(said[0], said[1], atol=2e-5)
    np.testing.assert_allclose(numba.steering.offsets, xla.steering.offsets, atol=1e-6)
    used = xla.offsets.variable.numpy()[:, : numba.steering.offsets.shape[1]]
    np.testing.assert_allclose(used, xla.steering.offsets, rtol=1e-6)


@pytest.mark.parametrize("constraint", ["node", "leaf"])
def test_offsets_of_nodes_and_leaves_are_the_same_live_in_calls_and_from_a_file(constraint, tmp_path):
    model, calls = corrected(constraint), corrected(constraint)
    calls.predict_then_learn(*(array[:900] for array in ROWS))
    with model.live() as live:
        for start, end in ((0, 1), (1, 70), (70, 455)):
            live.learn(*(array[start:end] for array in ROWS))
    model.save(tmp_path / "model.keras")
    model = keras.saving.load_model(tmp_path / "model.keras")
    model.predict_then_learn(*(array[455:900] for array in ROWS))
    assert all(map(np.array_equal, model.get_weights(), calls.get_weights()))
    assert np.array_equal(model.steering.offsets, calls.steering.offsets) and model.steering.offsets.any()


NUM_TREES, HEIGHT = 2, 3


def output_of(decisions, reached, logits):
    """p of two trees, label by label, of (tree, node) decisions or of (tree, leaf) probabilities of reaching it."""
    if reached is None:
        reached = np.ones((NUM_TREES, 2**HEIGHT))
        for leaf in range(2**HEIGHT):
            node = 0
            for depth in reversed(range(HEIGHT)):
                right = leaf >> depth & 1
                reached[:, leaf] *= 1 - decisions[:, node] if right else decisions[:, node]
                node = 2 * node + 1 + right
    says = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    return np.einsum("tl,tlk->k", reached, says) / NUM_TREES


@pytest.mark.parametrize("by_leaf", [False, True])
@pytest.mark.parametrize("num_labels", [2, 3])
def test_shares_are_what_the_output_gains_when_one_value_does(by_leaf, num_labels):
    random = np.random.default_rng(0)
    logits = random.normal(size=(NUM_TREES, 2**HEIGHT, num_labels))
    means = random.random((NUM_TREES, 2**HEIGHT - (not by_leaf)))
    columns = [1] if num_labels == 2 else slice(None)
    wanted, small = [], 1e-6
    for each in range(means.size):
        moved = np.stack([means, means])
        moved.reshape(2, -1)[:, each] += small, -small
        up, down = (output_of(None, at, logits) if by_leaf else output_of(at, None, logits) for at in moved)
        wanted.append((up - down)[columns] / (2 * small))
    found = OutputShares(NUM_TREES, HEIGHT, by_leaf=by_leaf).by_tree(means, logits)
    np.testing.assert_allclose(found, wanted, atol=1e-8)


@pytest.mark.parametrize("num_labels", [1, 3])
def test_spread_offsets_move_the_output_as_asked_and_none_smaller_do(num_labels):
    random = np.random.default_rng(0)
    shares, offsets = random.normal(size=(7, num_labels)), random.normal(0, 0.02, (2, num_labels))
    if num_labels == 3:
        shares -= shares.mean(axis=1, keepdims=True)  # what one label gains the others lose
        offsets -= offsets.mean(axis=1, keepdims=True)
    spread = spread_over(shares, offsets)
    np.testing.assert_allclose(spread @ shares, offsets, atol=1e-12)
    smallest = np.linalg.lstsq(shares.T, offsets.T, rcond=None)[0].T  # LAPACK's of least norm
    np.testing.assert_allclose(spread, smallest, atol=1e-12)
    assert not spread_over(np.zeros_like(shares), offsets).any()


class Own(ar.Aranyani):
    """A model whose constraint might be anything."""

    def make_constraint(self, objective, num_features):
        return super().make_constraint(objective, num_features)


def test_there_are_none_where_it_is_not_known_what_the_gaps_make_of_the_output():
    goal = ar.ParityTarget(0.05)
    stored = Reservoir(capacity=10)
    stored.fairness_weight = goal
    for model in (stored, Own(fairness_weight=goal), Own(fairness_weight=goal, constraint="node"),
                  ar.Aranyani(fairness_weight=ar.ParityTarget(0.05, metric="equalized_odds"))):
        assert model.steering.correction is None and not model.steering.offsets.size


def test_there_are_none_once_the_target_is_gone():
    model = corrected()
    model.predict_then_learn(*(array[:500] for array in ROWS))
    assert model.offsets.variable is not None
    model.fairness_weight = 0.5
    plain = ar.Aranyani(num_trees=1, height=2, fairness_weight=0.5, constraint="output", decay=0.01, forget="time",
                        penalty=ar.Huber(linear_slope=1.0), seed=0)
    plain.predict_then_learn(*(array[:500] for array in ROWS))  # only to be built
    plain.set_weights(model.get_weights())
    for ours, theirs in zip(model.optimizer.variables, plain.optimizer.variables, strict=True):
        theirs.assign(ours)
    said = [each.predict_then_learn(*(array[500:700] for array in ROWS)) for each in (model, plain)]
    assert np.array_equal(*said)


def test_in_a_live_session_a_target_may_come_and_go():
    model, calls = corrected(), corrected()
    with model.live() as live:
        live.learn(*(array[:400] for array in ROWS))
        model.fairness_weight = 0.5
        live.learn(*(array[400:600] for array in ROWS))
        model.fairness_weight = ar.ParityTarget(0.01, every=40)
        live.learn(*(array[600:1000] for array in ROWS))
    calls.predict_then_learn(*(array[:400] for array in ROWS))
    calls.fairness_weight = 0.5
    calls.predict_then_learn(*(array[400:600] for array in ROWS))
    calls.fairness_weight = ar.ParityTarget(0.01, every=40)
    calls.predict_then_learn(*(array[600:1000] for array in ROWS))
    assert all(map(np.array_equal, model.get_weights(), calls.get_weights()))
    assert np.array_equal(model.steering.offsets, calls.steering.offsets) and model.steering.offsets.any()


def test_decisions_are_alike_where_probabilities_that_are_alike_leave_them_apart():
    """Group 1 comes in two kinds, far from one half; group 0 in one, just below it: as probable on average."""
    random = np.random.default_rng(0)
    groups = random.integers(0, 2, 8000)
    kind = np.where(groups == 1, random.integers(1, 3, 8000), 0)
    labels = (random.random(8000) < np.array([0.4, 0.02, 0.78])[kind]).astype(int)
    features = np.eye(3, dtype="float32")[kind] + random.normal(0, 0.1, (8000, 3)).astype("float32")
    gaps = []
    for correction in (False, True):
        model = ar.Aranyani(num_trees=1, height=3, fairness_weight=ar.ParityTarget(0.05, correction=correction), seed=0)
        model.predict_then_learn(features, labels, groups)
        gaps.append(model.so_far()["demographic_parity"])
    assert gaps[0] > 0.15 and gaps[1] < 1.2 * 0.05


def test_a_target_of_an_earlier_file_goes_on_without_offsets():
    config = ar.ParityTarget(0.05).get_config()
    del config["correction"]
    assert not ar.ParityTarget.from_config(config).correction
