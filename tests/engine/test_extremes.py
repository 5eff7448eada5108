"""Numbers at the edge: finite answers, or the same error with the state left as it was, by both engines."""

import keras
import numpy as np
import pytest

import aranyani_tf as ar
from engine_rows import SMALL, learned, rows, same


def outcome(model, stream):
    """(whether it diverged, what it said), having looked that nothing moved if it did."""
    before = learned(model)
    try:
        said = model.predict_then_learn(*stream)
    except ar.errors.DivergedError:
        assert same(before, learned(model))
        return True, None
    assert np.isfinite(said).all() and all(np.isfinite(array).all() for array in learned(model))
    assert not same(before, learned(model))
    return False, said


def of_both(change, stream, **settings):
    """The outcomes of both engines, from the same beginning."""
    found = []
    for engine in ("numba", "xla"):
        model = ar.Aranyani(**SMALL | settings)
        model.compile(engine=engine)
        model.build_for(stream[0].shape[1])
        change(model)
        found.append(outcome(model, stream))
        assert model.engine == engine
    return found


def nothing(model):
    pass


def steep_nodes(model):
    kernel, bias, logits = model.forest.get_weights()
    model.forest.set_weights([1e3 * kernel, 1e3 * bias, logits])


def steep_leaves(model):
    kernel, bias, logits = model.forest.get_weights()
    logits[:, ::2, 0], logits[:, 1::2, 0] = 200, -200
    model.forest.set_weights([kernel, bias, logits])


def require_the_same(found, tolerance=1e-4):
    (diverged, said), (also_diverged, also_said) = found
    assert diverged == also_diverged
    if not diverged:
        np.testing.assert_allclose(said, also_said, rtol=0, atol=tolerance)


@pytest.mark.parametrize("constraint", ["node", "output"])
def test_tiny_features_are_learned_from(constraint):
    x, y, a = rows(40)
    found = of_both(nothing, (np.full_like(x, 1e-30), y, a), constraint=constraint)
    assert not found[0][0]
    require_the_same(found)


@pytest.mark.parametrize(("constraint", "size"), [("node", 1e6), ("node", 9e17), ("leaf", 9e17), ("output", 9e17)])
def test_huge_features_have_the_same_end_by_both(constraint, size):
    x, y, a = rows(40)
    with np.errstate(over="ignore"):
        require_the_same(of_both(nothing, (np.clip(x * size, -9e17, 9e17), y, a), constraint=constraint))


def test_larger_features_are_refused():
    x, y, a = rows(10)
    x[7, 2] = 1e18
    model = ar.Aranyani(**SMALL)
    with pytest.raises(ar.errors.RowError, match="row 7: feature 2"):
        model.predict_then_learn(x, y, a)


@pytest.mark.parametrize(("constraint", "change"), [("node", steep_nodes), ("leaf", steep_nodes),
                                                    ("output", steep_nodes), ("output", steep_leaves)])
def test_saturated_nodes_and_leaves_have_the_same_end_by_both(constraint, change):
    found = of_both(change, rows(40), constraint=constraint)
    assert not found[0][0]
    require_the_same(found)


@pytest.mark.parametrize("num_labels", [1, 3])
def test_steep_leaves_of_other_numbers_of_labels_too(num_labels):
    found = of_both(steep_leaves, rows(40, num_labels=num_labels), num_labels=num_labels)
    assert not found[0][0]
    require_the_same(found, tolerance=0.05 if num_labels == 1 else 1e-4)


@pytest.mark.parametrize(("constraint", "penalty"), [
    ("node", ar.Huber()), ("leaf", ar.Huber(linear_slope=1.0)), ("output", ar.L2())], ids=["node", "leaf", "output"])
def test_a_huge_lambda_leaves_numbers(constraint, penalty):
    found = of_both(nothing, rows(40), constraint=constraint, penalty=penalty, fairness_weight=1e6)
    assert not found[0][0] and not found[1][0]


def test_a_lambda_whose_gradients_overflow_diverges_by_both():
    found = of_both(nothing, rows(40), fairness_weight=1e30, penalty=ar.Huber(linear_slope=1.0))
    assert found[0][0] and found[1][0]


@pytest.mark.parametrize("engine", ["numba", "xla"])
def test_a_huge_learning_rate_diverges_and_the_model_goes_on_without_it(engine):
    stream, model = rows(60, num_labels=1), ar.Aranyani(**SMALL, num_labels=1, scale_target=False)
    model.compile(keras.optimizers.SGD(1e30), engine=engine)
    model.build_for(4)
    assert outcome(model, stream)[0]
    model.optimizer.learning_rate = 1e-4
    assert not outcome(model, stream)[0]
    assert model.so_far()["rows"] == 60


@pytest.mark.parametrize("activation", ["sigmoid", "smootherstep"])
@pytest.mark.parametrize("part", [0, 1, 2], ids=["kernel", "bias", "leaves"])
@pytest.mark.parametrize("num_labels", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nan_weights_are_not_hidden(activation, part, num_labels, dtype):
    """The polynomial exponential, the cut-off of a gate and a largest logit could each lose a NaN on their way."""
    model, stream = ar.Aranyani(**SMALL, activation=activation, num_labels=num_labels, dtype=dtype), rows(
        20, num_labels=num_labels)
    model.compile(engine="numba")
    model.build_for(4)
    weights = model.forest.get_weights()
    weights[part].reshape(-1)[-1] = np.nan
    model.forest.set_weights(weights)
    assert np.isnan(model.predict(stream[0])).any(axis=1).all()
    before = learned(model)
    with pytest.raises(ar.errors.DivergedError):
        model.predict_then_learn(*stream)
    for ours, old in zip(learned(model), before, strict=True):
        np.testing.assert_array_equal(ours, old)


def test_a_fit_that_diverges_says_in_which_chunk_and_keeps_those_before():
    x, y, a = rows(60)
    model, same_rows = (ar.Aranyani(**SMALL, fairness_weight=1.0) for _ in range(2))

    class Raise(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == 1:
                self.model.optimizer.learning_rate = 1e38

    with pytest.raises(ar.errors.DivergedError, match="chunk 2"):
        model.fit({"features": x, "group": a}, y, batch_size=20, callbacks=[Raise()], verbose=0)
    same_rows.predict_then_learn(x[:40], y[:40], a[:40])
    assert same(model.get_weights(), same_rows.get_weights())
    assert model.so_far()["rows"] == 40
