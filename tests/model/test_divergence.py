"""What cannot be known is NaN, and a model that diverges says so and is left as it was."""

import keras
import numpy as np
import pytest

import aranyani_tf as ar
from aranyani_tf.evaluation.prequential import Prequential, RegressionPrequential
from aranyani_tf.evaluation.records import StreamRecord
from rewind import Rewindable

SMALL = {"num_trees": 1, "height": 2, "seed": 0}
GAPS = ("demographic_parity", "soft_demographic_parity", "equal_opportunity", "equalized_odds",
        "recent_demographic_parity")


def rows(n=60):
    random = np.random.default_rng(0)
    return random.normal(size=(n, 3)).astype("float32"), random.integers(0, 2, n), random.integers(0, 2, n)


@pytest.mark.parametrize(("labels", "groups", "unknown"), [
    (None, 0, GAPS), (None, -1, GAPS),
    (-1, None, ("accuracy", "recent_accuracy", "equal_opportunity", "equalized_odds")),
    (0, None, ("equal_opportunity",))], ids=["one group", "no groups", "no labels", "no positive label"])
def test_gaps_that_cannot_be_known_are_nan_in_fit_and_in_records(labels, groups, unknown):
    x, y, a = rows()
    y = y if labels is None else np.full(60, labels)
    a = a if groups is None else np.full(60, groups)
    history = ar.Aranyani(**SMALL).fit(ar.Stream(x, y, a), verbose=0).history
    settings = {key: value for key, value in SMALL.items() if key != "seed"}
    records = ar.Grove(settings, fairness_weights=[0.1], seeds=[0]).fit(ar.Stream(x, y, a), verbose=0).iloc[-1]
    for found in ({name: values[-1] for name, values in history.items()}, records.to_dict()):
        for name in (*GAPS, "accuracy", "recent_accuracy"):
            if name in found:
                assert np.isnan(found[name]) == (name in unknown), (name, found[name])


def test_windows_without_two_groups_do_not_make_the_mean_over_windows_unknown():
    record = StreamRecord(200, checkpoints=[200])
    groups = np.where(np.arange(200) < 100, 0, np.arange(200) % 2)  # the second group comes late
    record.add(np.zeros(200, int), groups, np.tile([[[0.9, 0.1]]], (200, 1, 1)))
    assert record.frame()["window_demographic_parity"].iloc[-1] == 0


def test_nan_answers_make_metrics_nan_instead_of_label_0():
    metric = Prequential()
    metric.update_state([0, 1], [0, 1], [[0.9, 0.1], [np.nan, np.nan]])
    assert all(np.isnan(float(value)) for value in metric.result().values())
    metric = RegressionPrequential()
    metric.update_state(np.array([0.0, 1.0], "float32"), [0, 1], [[0.9], [np.nan]])
    assert all(np.isnan(float(value)) for value in metric.result().values())


@pytest.mark.xla
def test_a_model_that_diverges_says_so_and_keeps_the_state_before():
    """In `fit` and in `predict_then_learn`, by one compiled model."""
    x, y, a = rows()
    model = ar.Aranyani(**SMALL)
    rewindable = Rewindable(model, num_features=3)
    for learn in (lambda: model.fit(ar.Stream(x, y, a), verbose=0), lambda: model.predict_then_learn(x, y, a)):
        rewindable.rewind()
        model.predict_then_learn(x, y, a)
        model.optimizer.learning_rate = 1e38
        before = [w.tobytes() for w in model.get_weights() + [v.numpy() for v in model.optimizer.variables]]
        so_far = model.so_far()
        with pytest.raises(ar.errors.DivergedError, match="learning rate"):
            learn()
        assert before == [w.tobytes() for w in model.get_weights() + [v.numpy() for v in model.optimizer.variables]]
        assert model.so_far() == so_far
        model.optimizer.learning_rate = 2e-3  # and goes on once the reason is gone
        model.fit(ar.Stream(x, y, a), verbose=0)
        assert model.so_far()["rows"] == 120


def test_a_model_recovers_from_a_gradient_that_overflows():
    """Its square would leave the optimizer infinite, and every weight still, without a word."""
    x, y, a = rows(10)
    a = np.arange(10) % 2
    model = ar.Aranyani(**SMALL, penalty=ar.Huber(linear_slope=1.0))
    model.predict_then_learn(x, y, a)
    model.fairness_weight = 1e30

    def serve():
        for row in range(10):
            model.predict_then_learn(x[row : row + 1], y[row : row + 1], a[row : row + 1])

    with pytest.raises(ar.errors.DivergedError):
        serve()
    model.fairness_weight = 0.1
    before = model.get_weights()
    model.fit(ar.Stream(x, y, a), verbose=0)
    assert not np.array_equal(before[0], model.get_weights()[0])
    assert np.isfinite(model.get_metrics_result()["loss"])


def test_of_a_long_call_it_is_told_which_rows_diverged():
    x, y, a = rows(5000)
    x[4500:] = 1e17
    predictor = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, activation="exponential",
                                                                        kernel_initializer="ones")])
    with pytest.raises(ar.errors.DivergedError, match="from 4,096 to 4,999"):
        ar.Aranyani(num_labels=1, predictor=predictor).predict_then_learn(x, y + 0.0, a)


def test_a_predictor_that_overflows_is_told():
    x, _, a = rows()
    predictor = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, activation="exponential")])
    with pytest.raises(ar.errors.DivergedError):
        ar.Aranyani(num_labels=1, predictor=predictor).predict_then_learn(1e12 * x, x[:, 0], a)


def test_a_member_that_diverges_has_nan_records_and_the_others_go_on():
    stream = ar.Stream(*rows(400))
    settings = {key: value for key, value in SMALL.items() if key != "seed"}
    grove = ar.Grove(settings, fairness_weights=[0.0, 0.1], seeds=[0], learning_rate=1e38)
    with pytest.warns(UserWarning, match="2 of 2 members have diverged"):
        records = grove.fit(stream, verbose=0)
    last = records.groupby("fairness_weight").tail(1)
    assert last[["accuracy", "demographic_parity", "window_demographic_parity"]].isna().all(axis=None)
    with pytest.raises(ar.errors.DivergedError):
        grove.model(0.1, 0)
