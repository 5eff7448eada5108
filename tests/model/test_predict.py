"""`predict`: a few rows by a program of their own, and by Keras where its arguments ask for that."""

import keras
import numpy as np
import pytest

import aranyani_tf as ar
from engine_rows import SMALL, rows


def forest(**settings):
    return ar.Aranyani(**SMALL | settings)


def perceptron():
    return ar.Aranyani(seed=0, predictor=keras.Sequential([
        keras.Input((4,)), keras.layers.Dense(3, "relu"), keras.layers.Dense(2, "softmax")]))


MODELS = {"forest": forest, "smootherstep": lambda: forest(activation="smootherstep"),
          "three labels": lambda: forest(num_labels=3), "regression": lambda: forest(num_labels=1),
          "float64": lambda: forest(dtype="float64"), "mask": lambda: forest(routing="mask"),
          "encoder": lambda: forest(encoder=keras.layers.Dense(3)), "predictor": perceptron}


@pytest.fixture
def without_keras(monkeypatch):
    def fail(*arguments, **kwargs):
        raise AssertionError("Keras's predict was called")
    monkeypatch.setattr(keras.Model, "predict", fail)


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
@pytest.mark.usefixtures("without_keras")
def test_a_few_rows_do_not_go_through_keras_and_are_answered_as_a_call_does(make):
    model = make()
    x, y, a = rows(30, num_labels=model.num_labels)
    first = model.predict(x, verbose=0)
    np.testing.assert_allclose(first, model(x), rtol=1e-6, atol=1e-6)
    model.predict_then_learn(x, y, a)
    for some in (x, x[:1], x[:7], np.tile(x, (8, 1))):
        found = model.predict(some)
        np.testing.assert_allclose(found, model(some), rtol=1e-6, atol=1e-6)
        assert found.shape == (len(some), model.num_labels) and found.dtype == model.compute_dtype


@pytest.mark.usefixtures("without_keras")
def test_many_rows_of_a_forest_do_not_either():
    model, (x, y, a) = forest(), rows(5000)
    model.predict_then_learn(x, y, a)
    np.testing.assert_allclose(model.predict(x), model(x), rtol=0, atol=1e-6)


@pytest.mark.usefixtures("without_keras")
def test_answers_follow_what_is_learned_and_what_is_set():
    model, (x, y, a) = forest(), rows(30)
    before = model.predict(x)
    model.predict_then_learn(x, y, a)
    after = model.predict(x)
    assert not np.array_equal(before, after)
    model.set_weights([0 * weight for weight in model.get_weights()])
    np.testing.assert_allclose(model.predict(x), 0.5, atol=1e-6)
    assert after.flags.writeable and after.flags.owndata


@pytest.mark.usefixtures("without_keras")
def test_a_stream_a_dict_and_lists_are_rows_too():
    model, (x, y, a) = forest(), rows(6)
    expected = model.predict(x)
    for given in (ar.Stream(x, y, a), {"features": x}, x.tolist(), x.astype("float64")):
        np.testing.assert_array_equal(model.predict(given), expected)


@pytest.mark.usefixtures("without_keras")
def test_bad_rows_are_refused_or_nan():
    model, x = forest(), rows(5)[0]
    x[3, 1] = np.nan
    with pytest.raises(ar.errors.RowError, match="row 3: feature 1"):
        model.predict(x)
    found = model.predict(x, on_bad_rows="skip")
    np.testing.assert_array_equal(np.isnan(found).any(axis=1), np.arange(5) == 3)
    with pytest.raises(ar.errors.RowError, match="takes 4 features"):
        model.predict(np.ones((2, 5)))


class Count(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.batches = 0

    def on_predict_batch_end(self, batch, logs=None):
        self.batches += 1


@pytest.mark.parametrize("make", [forest, perceptron], ids=["forest", "predictor"])
@pytest.mark.parametrize(("arguments", "batches"), [
    ({"batch_size": 7}, 3), ({"callbacks": []}, None), ({"batch_size": 5, "steps": 4}, 4)],
    ids=["batch size and callbacks", "no callbacks", "steps"])
def test_arguments_of_keras_s_predict_reach_it(make, arguments, batches, monkeypatch):
    model, x, counter, given = make(), rows(20)[0], Count(), []
    expected, ours = np.asarray(model(x)), keras.Model.predict

    def spy(self, *rest, **kwargs):
        given.append(kwargs)
        return ours(self, *rest, **kwargs)

    monkeypatch.setattr(keras.Model, "predict", spy)
    arguments = {"callbacks": [counter]} | arguments
    np.testing.assert_allclose(model.predict(x, verbose=0, **arguments), expected, rtol=1e-5, atol=1e-6)
    assert counter.batches == (batches or 0)
    assert len(given) == (batches is not None)
    for name in arguments if given else ():
        assert given[0][name] == arguments[name]


def test_a_dataset_goes_through_keras():
    import tensorflow as tf

    model, x = forest(), rows(20)[0]
    found = model.predict(tf.data.Dataset.from_tensor_slices(x).batch(6), verbose=0)
    np.testing.assert_allclose(found, model.predict(x), rtol=1e-5, atol=1e-6)
