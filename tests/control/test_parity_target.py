"""λ that follows the gap: its rule, and that it makes no difference how rows come."""

import keras
import numpy as np
import pytest

import aranyani_tf as ar
from aranyani_tf.control.steering import KEPT, Steering
from aranyani_tf.errors import ArgumentError, DivergedError

STREAM = ar.datasets.load("synthetic", num_rows=6000, seed=1)
ROWS = STREAM.features, STREAM.labels, STREAM.groups


def made(target=0.03, **settings):
    return ar.Aranyani(num_trees=1, height=2, fairness_weight=ar.ParityTarget(target, every=40), seed=0, **settings)


def same(one, other):
    weights = zip(one.get_weights(), other.get_weights(), strict=True)
    return all(np.array_equal(a, b) for a, b in weights) and one.fairness_weight == other.fairness_weight and (
        one.fairness_weight_record.equals(other.fairness_weight_record))


@pytest.fixture(scope="module")
def at_once():
    model = made()
    model.fit(STREAM, verbose=0)
    return model


def test_lambda_follows_the_rule_of_a_plain_program():
    """νPI, of decisions that are made up: every step against the formula, by whole and fading counts."""
    random = np.random.default_rng(0)
    goal = ar.ParityTarget(0.05, every=20, memory=100, gain=0.7, damping=3.0, smoothing=0.6, most=2.0, warm_up=60)
    steering = Steering(goal, "demographic_parity", num_labels=2, num_groups=2, positive_label=1)
    groups = random.integers(0, 2, 2000)
    decided = (random.random(2000) < np.where(groups == 1, 0.55, 0.35)).astype(int)
    weight = average = 0.0
    totals, recents = np.zeros((2, 2)), np.zeros((2, 2))  # (group, [rows, decided])
    for start in range(0, 2000, 20):
        here = slice(start, start + 20)
        steering.take(np.zeros(20), groups[here], np.stack([1 - decided[here], decided[here]], 1).astype("float32"))
        fresh = np.array([[(groups[here] == k).sum(), decided[here][groups[here] == k].sum()] for k in (0, 1)])
        totals, recents = totals + fresh, recents * (1 - 1 / 100) ** 20 + fresh
        gap = max(abs(np.diff(table[:, 1] / table[:, 0])[0]) for table in (totals, recents))
        if start + 20 >= 60:
            before, average = average, 0.6 * average + 0.4 * (gap - 0.9 * 0.05)
            weight = np.clip(weight + 0.7 * (gap - 0.9 * 0.05) + 3.0 * (average - before), 0, 2.0)
        assert steering.weight == pytest.approx(weight, abs=1e-12)
    assert 0 < weight <= 2.0


def test_the_gap_comes_down_to_the_target_and_lambda_with_it(at_once):
    unfair = ar.Aranyani(num_trees=1, height=2, fairness_weight=0.0, seed=0)
    unfair.fit(STREAM, verbose=0)
    assert unfair.so_far()["demographic_parity"] > 0.1
    assert at_once.so_far()["demographic_parity"] < 1.2 * 0.03
    record = at_once.fairness_weight_record
    assert record["fairness_weight"].max() > 0.1
    assert record["row"].tolist() == list(range(40, 6001, 40))
    assert record["gap"].iloc[-1] == pytest.approx(at_once.so_far()["demographic_parity"], abs=1e-6)


@pytest.mark.parametrize("level", ["output", "node"])
def test_rows_in_any_pieces_and_live_give_the_same_bits(level):
    at_once, in_pieces, live_one = (made(constraint=level) for _ in range(3))
    at_once.fit(STREAM, verbose=0)
    for start, end in ((0, 1), (1, 39), (39, 40), (40, 133), (133, 2000), (2000, 6000)):
        in_pieces.predict_then_learn(*(array[start:end] for array in ROWS))
    with live_one.live() as live:
        for x, y, a in zip(*(array[:200] for array in ROWS), strict=True):
            live.predict_then_learn(x, y, a)
        live.learn(*(array[200:1711] for array in ROWS))
        live.learn(*(array[1711:] for array in ROWS))
    assert same(at_once, in_pieces)
    assert same(at_once, live_one)


def test_a_model_that_was_saved_between_two_moves_goes_on_the_same_way(at_once, tmp_path):
    model = made()
    model.predict_then_learn(*(array[:1999] for array in ROWS))
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert loaded.parity_target.target == 0.03
    assert loaded.fairness_weight == model.fairness_weight > 0
    loaded.predict_then_learn(*(array[1999:] for array in ROWS))
    assert same(at_once, loaded)


def test_rows_with_neither_label_nor_group_move_nothing(at_once):
    features = np.concatenate([STREAM.features, STREAM.features])
    nothing = np.full(6000, -1)
    order = np.argsort(np.concatenate([np.arange(6000), np.arange(6000) + 0.5]))  # every other row
    model = made()
    model.predict_then_learn(features[order], np.concatenate([STREAM.labels, nothing])[order],
                             np.concatenate([STREAM.groups, nothing])[order])
    assert same(at_once, model)


def test_a_chunk_in_which_the_model_diverges_leaves_lambda_as_it_was():
    model = made()
    model.predict_then_learn(*(array[:1000] for array in ROWS))
    before, moves = model.fairness_weight, len(model.fairness_weight_record)
    model.optimizer.learning_rate = 1e38
    with pytest.raises(DivergedError):
        model.predict_then_learn(*(array[1000:2000] for array in ROWS))
    assert (model.fairness_weight, len(model.fairness_weight_record)) == (before, moves)


def test_tensorflows_step_is_steered_too_and_so_is_a_keras_model():
    model = made()
    model.compile(engine="xla")
    model.fit(STREAM, verbose=0)
    assert len(model.fairness_weight_record) == 150
    assert model.so_far()["demographic_parity"] < 1.2 * 0.03
    network = keras.Sequential([keras.layers.Dense(8, "relu"), keras.layers.Dense(2, "softmax")])
    model = ar.Aranyani(predictor=network, fairness_weight=ar.ParityTarget(0.05, every=100))
    model.fit(STREAM[:1000], verbose=0)
    assert model.fairness_weight_record["row"].tolist() == list(range(100, 1001, 100))


def test_a_number_ends_the_target_and_a_target_begins_anew(at_once):
    model = made()
    model.predict_then_learn(*(array[:500] for array in ROWS))
    model.fairness_weight = 3.0
    model.predict_then_learn(*(array[500:600] for array in ROWS))
    assert model.fairness_weight == 3.0 and model.parity_target is None
    with pytest.raises(ArgumentError, match="λ stands still at 3"):
        _ = model.fairness_weight_record
    model.fairness_weight = ar.ParityTarget(0.03)
    assert model.fairness_weight == 0.0
    model.predict_then_learn(*(array[600:900] for array in ROWS))
    assert model.fairness_weight_record["row"].iloc[-1] == 300


def test_a_target_brings_the_settings_that_keep_it_unless_told_otherwise():
    model = ar.Aranyani(fairness_weight=ar.ParityTarget(0.05))
    assert (model.level, model.decay, model.forget, model.penalty.slope) == ("output", 0.01, "time", 1.0)
    model = ar.Aranyani(fairness_weight=ar.ParityTarget(0.05), constraint="node", decay=0.001, forget="rows",
                        penalty="l2")
    assert (model.level, model.decay, model.forget, type(model.penalty)) == ("node", 0.001, "rows", ar.L2)


def test_the_record_stays_short_however_long_the_stream():
    goal = ar.ParityTarget(0.05, every=1)
    steering = Steering(goal, "demographic_parity", num_labels=2, num_groups=2, positive_label=1)
    row = np.zeros(1), np.zeros(1, "int32"), np.array([[0.4, 0.6]], "float32")
    for _ in range(5 * KEPT):
        steering.take(*row)
    record = steering.frame()
    assert len(record) <= KEPT and (np.diff(record["row"]) == record["row"].diff().iloc[1]).all()


@pytest.mark.parametrize(("settings", "message"), [
    ({"target": 1.5}, "target must be a finite number of at least 0 and below 1, got 1.5"),
    ({"target": 0.1, "metric": "accuracy"}, "metric must be one of 'demographic_parity'"),
    ({"target": 0.1, "every": 0}, "every must be a whole number at least 1, got 0"),
    ({"target": 0.1, "gain": -1.0}, "gain must be a finite number of at least 0")])
def test_settings_that_cannot_be_are_refused(settings, message):
    with pytest.raises(ArgumentError, match=message):
        ar.ParityTarget(**settings)


def test_a_regression_has_no_decisions_to_steer_by():
    with pytest.raises(ArgumentError, match="num_labels=1 is regression"):
        ar.Aranyani(num_labels=1, fairness_weight=ar.ParityTarget(0.05))


def test_a_target_does_not_look_at_groups_that_are_never_told():
    with pytest.raises(ArgumentError, match="hides the groups of all other decisions"):
        made(update_when="predicted_positive")
    model = ar.Aranyani(update_when="predicted_positive")
    with pytest.raises(ArgumentError, match="hides the groups of all other decisions"):
        model.fairness_weight = ar.ParityTarget(0.05)
    assert model.parity_target is None and model.fairness_weight == 10.0
