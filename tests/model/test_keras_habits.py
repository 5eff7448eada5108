"""What Keras users do every day: layers as encoders, eager runs, metrics of their own, wide and narrow rows."""

import time

import keras
import numpy as np
import pytest
import tensorflow as tf
from sklearn.metrics import precision_score, roc_auc_score

import aranyani_tf as ar
import forked
from rewind import Rewindable

SMALL = {"num_trees": 2, "height": 2, "seed": 0}


def rows(n=200, d=3):
    random = np.random.default_rng(0)
    x = random.normal(size=(n, d)).astype("float32")
    return x, (x[:, 0] + random.normal(size=n) > 0).astype(int), random.integers(0, 2, n)


@pytest.mark.parametrize("layer", [
    lambda: keras.layers.Normalization(mean=0.5, variance=4.0), lambda: keras.layers.Rescaling(0.1),
    keras.layers.Flatten, keras.layers.LayerNormalization, lambda: keras.layers.Dense(5),
    lambda: keras.layers.Dropout(0.1)], ids=["Normalization", "Rescaling", "Flatten", "LayerNormalization", "Dense",
                                             "Dropout"])
def test_a_single_layer_is_an_encoder(layer, tmp_path):
    x, y, a = rows(40)
    model = ar.Aranyani(**SMALL, encoder=layer())
    model.fit(ar.Stream(x, y, a), verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded.predict(x, verbose=0), model.predict(x, verbose=0))


def test_an_eager_run_gives_the_compiled_numbers():
    x, y, a = rows(12)
    eager, compiled = ar.Aranyani(**SMALL), ar.Aranyani(**SMALL)
    eager.compile(run_eagerly=True)
    said = [model.predict_then_learn(x, y, a) for model in (eager, compiled)]
    np.testing.assert_allclose(*said, atol=1e-6)
    eager.fit(ar.Stream(x, y, a), verbose=0)
    compiled.fit(ar.Stream(x, y, a), verbose=0)
    assert eager.so_far() == pytest.approx(compiled.so_far(), abs=1e-5, nan_ok=True)


def test_auc_and_precision_are_those_of_scikit_learn(tmp_path):
    x, y, a = rows()
    model, other = ar.Aranyani(**SMALL), ar.Aranyani(**SMALL)
    model.compile(metrics=[keras.metrics.AUC(num_thresholds=2000, name="auc"), "precision", "binary_accuracy",
                           "sparse_categorical_accuracy"])
    history = model.fit(ar.Stream(x, y, a), verbose=0).history
    said = other.predict_then_learn(x, y, a)
    assert history["auc"][-1] == pytest.approx(roc_auc_score(y, said[:, 1]), abs=2e-3)
    (precision,) = (history[name] for name in history if name.startswith("precision"))  # Keras may number it
    assert precision[-1] == pytest.approx(precision_score(y, said[:, 1] > 0.5), abs=1e-6)
    assert history["sparse_categorical_accuracy"][-1] == pytest.approx(history["accuracy"][-1])
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert loaded.evaluate({"features": x, "group": a}, y, return_dict=True, verbose=0)["auc"] > 0.5


def test_rows_of_another_width_are_refused_after_a_good_call_too():
    x, y, a = rows(20)
    model = ar.Aranyani(**SMALL)
    model.predict_then_learn(x, y, a)
    model.predict(x, verbose=0)
    for wrong in (x[:, :2], np.hstack([x, x]), x[:, :1]):
        for call in (lambda v=wrong: model.predict(v, verbose=0), lambda v=wrong: model(v),
                     lambda v=wrong: model.predict_then_learn(v, y, a)):
            with pytest.raises(ValueError, match="takes 3 features"):
                call()
    with pytest.raises(ValueError, match="3 features"):
        model.forest(x[:, :2])


def test_a_single_row_without_its_axis_is_refused_and_does_not_end_the_process():
    program = ("import numpy as np, aranyani_tf as ar\n"
               "model = ar.Aranyani(num_trees=1, height=2, seed=0)\n"
               "x = np.zeros((4, 3), 'float32'); model.predict_then_learn(x, [0, 1, 0, 1], [0, 0, 1, 1])\n"
               "model.predict(x, verbose=0)\n"
               "calls = [lambda: model.predict(x[0], verbose=0), lambda: model(x[0]), lambda: model.forest(x[0])]\n"
               "for call in calls:\n"
               "    try: call()\n"
               "    except ValueError as error: print('refused:', error)\n")
    result = forked.python("-c", program)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("refused:") == 3


def test_predict_says_nan_for_a_bad_row_only_if_it_may():
    x, y, a = rows(20)
    model = ar.Aranyani(**SMALL)
    model.predict_then_learn(x, y, a)
    x[3, 1] = np.nan
    with pytest.raises(ar.errors.RowError, match="row 3: feature 1"):
        model.predict(x, verbose=0)
    said = model.predict(x, verbose=0, on_bad_rows="skip")
    assert np.isnan(said[3]).all() and np.isfinite(np.delete(said, 3, axis=0)).all()


def test_predict_takes_a_stream_a_dict_and_a_dataset():
    x, y, a = rows(20)
    model = ar.Aranyani(**SMALL)
    model.predict_then_learn(x, y, a)
    expected = model.predict(x, verbose=0)
    for given in (ar.Stream(x, y, a), {"features": x, "group": a}, {"features": x}, x.tolist(),
                  tf.data.Dataset.from_tensor_slices(x).batch(7)):
        np.testing.assert_allclose(model.predict(given, verbose=0), expected, atol=1e-7)


@pytest.mark.xla
def test_a_bare_model_is_fair_to_a_degree_that_can_be_seen():
    """The default λ belongs to the default penalty: on Adult's first rows the gap shrinks by a fifth or more."""
    stream = ar.datasets.load("adult")[:6_000]
    model, gaps = ar.Aranyani(seed=0), []
    rewindable = Rewindable(model, stream.num_features)
    for weight in (model.fairness_weight, 0.0):
        rewindable.rewind().fairness_weight = weight
        gaps.append(model.fit(stream, verbose=0).history["demographic_parity"][-1])
    assert gaps[0] < 0.8 * gaps[1]


def test_norms_count_samples_as_records_do():
    x, y, a = rows(95)
    model = ar.Aranyani(**SMALL, samples_per_step=10, record_gradients=True)
    model.fit(ar.Stream(x, y, a).chunks(40), verbose=0)
    assert model.gradient_norms["step"].tolist() == [*range(10, 91, 10), 95]
    model.predict_then_learn(x[:13], y[:13], a[:13])
    assert model.gradient_norms["step"].tolist()[-2:] == [105, 108]
    settings = {key: value for key, value in SMALL.items() if key != "seed"}
    grove = ar.Grove(settings | {"samples_per_step": 10, "record_gradients": True}, fairness_weights=[0.1], seeds=[0])
    grove.fit(ar.Stream(x, y, a), verbose=0)
    assert grove.gradient_norms["step"].tolist() == [*range(10, 91, 10), 95]


def test_norms_go_on_over_chunks_without_labels_and_calls_in_callbacks():
    x, y, a = rows(120)
    y[40:80], a[40:80] = -1, -1
    model = ar.Aranyani(**SMALL, record_gradients=True)

    class Learner(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            model.predict_then_learn(x[:2], [0, 1], [0, 1])

    model.fit(ar.Stream(x, y, a).chunks(40), callbacks=[Learner()], verbose=0)
    assert len(model.gradient_norms) == 40 + 40 + 3 * 2
    assert model.gradient_norms["step"].is_monotonic_increasing


def test_a_source_that_gives_its_rows_once_loses_none():
    x, y, a = rows(120)
    given = iter([({"features": x[i : i + 10], "group": a[i : i + 10]}, y[i : i + 10]) for i in range(0, 120, 10)])

    class Live:
        def __iter__(self):
            yield from given

    model = ar.Aranyani(**SMALL)
    model.build((None, 3))
    model.fit(Live(), verbose=0)
    assert model.so_far()["rows"] == 120


@pytest.mark.xla
def test_many_groups_and_conditions_compile_in_seconds():
    x, y, _ = rows(50)
    for settings in ({"num_groups": 300}, {"num_groups": 10, "num_labels": 60, "notion": "equalized_odds"}):
        begin = time.process_time()
        ar.Aranyani(**SMALL, **settings).predict_then_learn(x, y, np.arange(50) % settings["num_groups"])
        assert time.process_time() - begin < 15


def test_a_fit_inside_a_callback_leaves_the_outer_one_as_it_was():
    """The inner rows are complete, the outer ones mostly not; both are counted, and so are their norms."""
    x, y, a = rows(90)
    gaps = np.where(np.arange(90) % 3 == 0, y, -1)
    model, plain = (ar.Aranyani(**SMALL, record_gradients=True, fairness_weight=0.0) for _ in range(2))

    class Learner(keras.callbacks.Callback):
        def __init__(self, learn):
            super().__init__()
            self.learn = learn

        def on_train_batch_end(self, batch, logs=None):
            self.learn()

    inner = {"features": x[:5], "group": a[:5]}, y[:5]
    model.fit(ar.Stream(x, gaps, a).chunks(30), verbose=0,
              callbacks=[Learner(lambda: model.fit(*inner, batch_size=5, verbose=0))])
    plain.fit(ar.Stream(x, gaps, a).chunks(30), verbose=0,
              callbacks=[Learner(lambda: plain.predict_then_learn(x[:5], y[:5], a[:5]))])
    assert model.optimizer.iterations.numpy() == plain.optimizer.iterations.numpy()
    np.testing.assert_allclose(model.gradient_norms, plain.gradient_norms, rtol=1e-4, atol=1e-6)
    assert len(model.gradient_norms) == 90 + 3 * 5


def test_norms_may_be_asked_for_later():
    x, y, a = rows(20)
    model = ar.Aranyani(**SMALL)
    model.fit({"features": x, "group": a}, y, verbose=0)
    model.record_gradients = True
    model.fit({"features": x, "group": a}, y, verbose=0)
    assert len(model.gradient_norms) == 20
