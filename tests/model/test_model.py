"""The model as its users meet it: fit, resume, save, embed."""

import os
import textwrap

import keras
import numpy as np
import pytest
import tensorflow as tf

import aranyani_tf as ar
import forked
from rewind import Rewindable

SMALL = {"num_trees": 2, "height": 2, "seed": 0}


@pytest.fixture(scope="module")
def stream():
    return ar.datasets.load("synthetic", num_rows=700, num_features=4, seed=0)


def state_of(model):
    return model.get_weights() + [v.numpy() for v in model.optimizer.variables]


def assert_same(first, second):
    for mine, other in zip(state_of(first), state_of(second), strict=True):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.xla
def test_without_fairness_it_is_a_stock_keras_training_loop(stream):
    """λ = 0 against ObliqueForest in keras.Sequential, Adam and cross-entropy, sample by sample."""
    ours = ar.Aranyani(**SMALL, fairness_weight=0.0)
    said = ours.predict_then_learn(stream.features[:200], stream.labels[:200], stream.groups[:200])
    stock = keras.Sequential([keras.Input((4,)), ar.ObliqueForest(2, 2, routing="mask", seed=0)])
    stock.compile(keras.optimizers.Adam(2e-3), keras.losses.SparseCategoricalCrossentropy())
    for row in range(200):
        x, y = stream.features[row : row + 1], stream.labels[row : row + 1]
        np.testing.assert_allclose(said[row], stock.predict_on_batch(x)[0], rtol=0, atol=2e-6)
        stock.train_on_batch(x, y)
    for mine, theirs in zip(ours.forest.get_weights(), stock.get_weights(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=2e-5)


def test_the_node_statistics_are_the_means_of_what_the_tape_sees(stream):
    """With a learning rate of 0 the running means must equal plain means and GradientTape's."""
    model = ar.Aranyani(**SMALL, dtype="float64")
    model.compile(keras.optimizers.SGD(0.0))
    x, a = stream.features[:60].astype("float64"), stream.groups[:60]
    model.predict_then_learn(x, stream.labels[:60], a)
    forest = model.forest
    for group in (0, 1):
        mine = x[a == group]
        with tf.GradientTape() as tape:
            mean = tf.reduce_mean(forest.node_decisions(mine), axis=0)  # (tree, node)
        # n_tj depends on its own column only, so one backward pass gives all gradients at once.
        kernel, bias = tape.gradient(mean, [forest.node_kernel.value, forest.node_bias.value])
        np.testing.assert_allclose(model.statistics.decision_mean[group], mean, atol=1e-12)
        np.testing.assert_allclose(model.statistics.kernel_gradient_mean[group], kernel, atol=1e-12)
        np.testing.assert_allclose(model.statistics.bias_gradient_mean[group], bias, atol=1e-12)
    np.testing.assert_array_equal(model.statistics.cell_count, np.bincount(a))


@pytest.mark.parametrize("samples_per_step", [1, 10])
def test_how_the_stream_is_cut_into_chunks_changes_nothing(stream, samples_per_step):
    models = []
    for size in (64, 700, 4096):
        model = ar.Aranyani(**SMALL, samples_per_step=samples_per_step)
        model.fit(stream.chunks(size), verbose=0)
        models.append(model)
    whole = ({"features": stream.features, "group": stream.groups}, stream.labels)
    for source in (whole, (tf.data.Dataset.from_tensor_slices(whole).batch(33),), (iter(stream.chunks(50)),)):
        models.append(ar.Aranyani(**SMALL, samples_per_step=samples_per_step))
        models[-1].fit(*source, verbose=0)
    for other in models[1:]:
        for mine, theirs in zip(state_of(models[0]), state_of(other), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-6)


def test_fit_and_predict_then_learn_are_the_same_learner(stream):
    fitted, asked = ar.Aranyani(**SMALL), ar.Aranyani(**SMALL)
    history = fitted.fit(stream, verbose=0).history
    said = np.concatenate([
        asked.predict_then_learn(stream.features[s], stream.labels[s], stream.groups[s])
        for s in (slice(1), slice(1, 2), slice(2, 40), slice(40, None))])
    for mine, theirs in zip(fitted.get_weights(), asked.get_weights(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-6)
    assert history["accuracy"][0] == pytest.approx((said.argmax(1) == stream.labels).mean(), abs=1e-6)
    assert asked.get_metrics_result()["accuracy"].numpy() == pytest.approx(history["accuracy"][0])


def test_history_and_loss_parts(stream):
    history = ar.Aranyani(**SMALL, fairness_weight=2.0).fit(stream, verbose=0).history
    for name in ("accuracy", "demographic_parity", "soft_demographic_parity", "equal_opportunity",
                 "equalized_odds", "loss", "task_loss", "fairness_penalty"):
        assert np.isfinite(history[name]).all(), name
    assert history["fairness_penalty"][0] > 0
    assert history["loss"][0] == pytest.approx(history["task_loss"][0] + history["fairness_penalty"][0])


@pytest.mark.xla
def test_a_larger_weight_makes_it_fairer():
    stream = ar.datasets.load("synthetic", num_rows=10_000, seed=0)
    gaps, model = [], ar.Aranyani(seed=0, penalty=ar.Huber(linear_slope=1.0))
    rewindable = Rewindable(model, stream.num_features)  # λ does not compile it again
    for weight in (0.0, 0.03, 0.1):
        rewindable.rewind().fairness_weight = weight
        gaps.append(model.fit(stream, verbose=0).history["demographic_parity"][0])
    assert gaps[0] > 2 * gaps[1] > 3 * gaps[2]


@pytest.mark.xla
def test_a_stream_resumes_exactly_in_a_new_process(stream, tmp_path):
    model = ar.Aranyani(**SMALL, decay=0.01)
    rewindable = Rewindable(model, num_features=4)
    parts = [(stream.features[s], stream.labels[s], stream.groups[s]) for s in (slice(350), slice(350, None))]
    model.predict_then_learn(*parts[0])
    expected = model.predict_then_learn(*parts[1])
    rewindable.rewind().predict_then_learn(*parts[0])
    model.save(tmp_path / "half.keras")
    np.savez(tmp_path / "rest.npz", x=parts[1][0], y=parts[1][1], a=parts[1][2])
    program = textwrap.dedent("""
        import sys, numpy as np, keras, aranyani_tf
        model, rest = keras.saving.load_model(sys.argv[1]), np.load(sys.argv[2])
        np.save(sys.argv[3], model.predict_then_learn(rest["x"], rest["y"], rest["a"]))
    """)
    files = [str(tmp_path / name) for name in ("half.keras", "rest.npz", "said.npy")]
    done = forked.python("-c", program, *files)
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(np.load(files[2]), expected)


@pytest.mark.parametrize("settings", [
    {"constraint": "leaf", "notion": "equalized_odds", "num_groups": 3, "decay": 0.01},
    {"constraint": "output", "penalty": ar.L2(), "samples_per_step": 4, "wait_for_all_groups": True},
    {"notion": ar.EqualOpportunity(positive_label=0), "penalty": ar.Huber(0.1, linear_slope=1.0),
     "activation": "smootherstep", "routing": "mask", "online": False, "samples_per_step": 4,
     "update_when": "predicted_positive"},
], ids=["leaf", "output", "node"])
def test_every_setting_comes_back_from_the_config(settings, stream, tmp_path):
    model = ar.Aranyani(**SMALL, **settings)
    model.predict_then_learn(stream.features[:20], stream.labels[:20], stream.groups[:20])
    config = model.get_config()
    assert ar.Aranyani.from_config(config).get_config() == config
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert loaded.get_config() == config
    assert_same(model, loaded)
    assert_same_after_more(model, loaded, stream)


def assert_same_after_more(model, loaded, stream):
    rows = stream.features[20:60], stream.labels[20:60], stream.groups[20:60]
    np.testing.assert_array_equal(model.predict_then_learn(*rows), loaded.predict_then_learn(*rows))


def test_the_same_seed_gives_the_same_bytes(stream):
    first, second, other = (ar.Aranyani(num_trees=2, height=2, seed=s) for s in (7, 7, 8))
    for model in (first, second, other):
        model.fit(stream, verbose=0)
    assert_same(first, second)
    assert any((a != b).any() for a, b in zip(first.get_weights(), other.get_weights(), strict=True))


@pytest.mark.xla
def test_any_keras_model_can_take_the_forest_s_place(stream, tmp_path):
    """A two-layer predictor: fair with λ, its statistics equal to the tape's, and it saves."""
    keras.utils.set_random_seed(0)
    predictor = keras.Sequential([keras.layers.Dense(6, "relu"), keras.layers.Dense(2, "softmax")])
    model = ar.Aranyani(predictor=predictor, penalty=ar.Huber(linear_slope=1.0))
    rewindable = Rewindable(model, num_features=4)  # neither λ nor the learning rate compiles it again
    rows = ar.datasets.load("synthetic", num_rows=6000, num_features=4, seed=0)
    gaps = []
    for weight in (0.0, 1.0):
        rewindable.rewind().fairness_weight = weight
        gaps.append(model.fit(rows, verbose=0).history["demographic_parity"][0])
    assert gaps[1] < gaps[0] / 2
    model.save(tmp_path / "mlp.keras")
    assert_same(model, keras.saving.load_model(tmp_path / "mlp.keras"))
    rewindable.rewind().optimizer.learning_rate = 0.0
    model.predict_then_learn(stream.features[:50], stream.labels[:50], stream.groups[:50])
    for group in (0, 1):
        with tf.GradientTape() as tape:
            mean = tf.reduce_mean(predictor(stream.features[:50][stream.groups[:50] == group])[:, 1])
        expected = tape.gradient(mean, predictor.trainable_variables)
        for kept, gradient in zip(model.statistics.means[1:], expected, strict=True):
            np.testing.assert_allclose(kept[group, 0], gradient, rtol=0, atol=1e-6)


def test_several_samples_a_step_work_for_any_keras_model(stream):
    keras.utils.set_random_seed(0)
    predictor = keras.Sequential([keras.layers.Dense(3, "relu"), keras.layers.Dense(2, "softmax")])
    model = ar.Aranyani(predictor=predictor, samples_per_step=7)
    model.compile(keras.optimizers.SGD(0.0))
    model.predict_then_learn(stream.features[:49], stream.labels[:49], stream.groups[:49])
    means = [predictor(stream.features[:49][stream.groups[:49] == g])[:, 1].numpy().mean() for g in (0, 1)]
    np.testing.assert_allclose(model.statistics.output_mean[:, 0], means, atol=1e-6)


def test_an_encoder_learns_from_the_task_gradient(stream, tmp_path):
    """λ = 0 and SGD: one step moves the encoder by the gradient of the whole chain."""
    def chain():
        keras.utils.set_random_seed(0)
        return keras.layers.Dense(3, "tanh")

    model = ar.Aranyani(**SMALL, encoder=chain(), fairness_weight=0.0)
    model.compile(keras.optimizers.SGD(0.1))
    x, y, a = stream.features[:1], stream.labels[:1], stream.groups[:1]
    model.build((None, 4))
    with tf.GradientTape() as tape:
        loss = -tf.math.log(model(x)[0, y[0]])
    variables = model.encoder.trainable_variables + model.forest.trainable_variables
    expected = [v.numpy() - 0.1 * g for v, g in zip(variables, tape.gradient(loss, variables), strict=True)]
    model.predict_then_learn(x, y, a)
    for variable, value in zip(variables, expected, strict=True):
        np.testing.assert_allclose(variable.numpy(), value, rtol=0, atol=1e-6)
    model.fit(stream, verbose=0)
    model.save(tmp_path / "encoded.keras")
    loaded = keras.saving.load_model(tmp_path / "encoded.keras")
    np.testing.assert_array_equal(*(m.predict(stream.features, verbose=0) for m in (loaded, model)))


def test_gradient_norms_are_recorded_along_the_stream(stream):
    model = ar.Aranyani(**SMALL, record_gradients=True)
    model.fit(stream.chunks(256), verbose=0)
    norms = model.gradient_norms
    assert list(norms.columns) == [
        "step", "task_node_kernel", "task_node_bias", "task_leaf_logits",
        "fairness_node_kernel", "fairness_node_bias", "fairness_leaf_logits",
        "total_node_kernel", "total_node_bias", "total_leaf_logits"]
    bound, total = norms["task_node_kernel"] + norms["fairness_node_kernel"], norms["total_node_kernel"]
    assert (total <= bound * (1 + 1e-5)).all() and (total < 0.99 * bound).any()
    assert norms["step"].tolist() == list(range(1, 701))
    assert (norms["task_node_kernel"] > 0).all() and (norms["fairness_leaf_logits"] == 0).all()
    model.predict_then_learn(stream.features[:3], stream.labels[:3], stream.groups[:3])
    assert len(model.gradient_norms) == 703
    plain = ar.Aranyani(**SMALL)
    plain.fit(stream.chunks(256), verbose=0)
    for mine, theirs in zip(model.forest.get_weights(), plain.forest.get_weights(), strict=True):
        assert np.abs(mine - theirs).max() < 0.02  # recording does not change what is learned


def test_offline_the_penalty_compares_the_groups_of_each_batch(stream):
    model = ar.Aranyani(**SMALL, online=False, samples_per_step=100)
    model.compile(keras.optimizers.SGD(0.0))
    model.fit(stream[:300], verbose=0)
    last, groups = stream.features[200:300], stream.groups[200:300]
    for group in (0, 1):
        expected = model.forest.node_decisions(last[groups == group]).numpy().mean(axis=0)
        np.testing.assert_allclose(model.statistics.decision_mean[group], expected, atol=1e-5)


def test_regression_learns_and_reports_its_metrics():
    random = np.random.default_rng(0)
    x, a = random.normal(size=(3000, 3)).astype("float32"), random.integers(0, 2, 3000)
    stream = ar.Stream(x, (x[:, 0] + 0.1 * random.normal(size=3000)).astype("float32"), a)
    model = ar.Aranyani(num_labels=1, seed=0)
    first, last = (model.fit(stream, verbose=0).history["mean_squared_error"][0] for _ in range(2))
    assert last < first < 1.5
    assert model.predict(x[:5], verbose=0).shape == (5, 1)


def test_one_compilation_serves_ragged_chunks_and_a_changed_weight(tmp_path):
    """Counts the programs that XLA itself writes out."""
    program = textwrap.dedent("""
        import aranyani_tf as ar
        stream = ar.datasets.load("synthetic", num_rows=1000)
        model = ar.Aranyani(num_trees=1, height=2)
        model.compile(engine="xla")
        model.fit(stream.chunks(300), verbose=0)
        model.fairness_weight = 3.0
        model.fit(stream[:777].chunks(300), verbose=0)
    """)
    flags = [os.environ.get("XLA_FLAGS", ""), f"--xla_dump_to={tmp_path}", "--xla_dump_hlo_as_text"]
    environment = os.environ | {"XLA_FLAGS": " ".join(flags)}
    done = forked.python("-c", program, env=environment)
    assert done.returncode == 0, done.stderr
    steps = [name for name in os.listdir(tmp_path)
             if "train_step" in name and name.endswith("before_optimizations.txt")]
    assert len(steps) == 1, steps


def test_compile_takes_any_optimizer_and_metric(stream):
    for optimizer in ("sgd", keras.optimizers.RMSprop(1e-3), keras.optimizers.AdamW(1e-3)):
        model = ar.Aranyani(**SMALL)
        model.compile(optimizer, metrics=["sparse_categorical_accuracy"], jit_compile=False)
        history = model.fit(stream[:50], verbose=0).history
        assert history["sparse_categorical_accuracy"][0] == pytest.approx(history["accuracy"][0])
    with pytest.raises(ValueError, match="the loss is"):
        ar.Aranyani().compile(loss="mse")


def test_evaluate_and_validation_do_not_learn(stream):
    model = ar.Aranyani(**SMALL)
    history = model.fit(stream[:500], validation_data=stream[500:], verbose=0).history
    before = [w.copy() for w in model.get_weights()]
    result = model.evaluate(stream[500:], verbose=0, return_dict=True)
    for mine, theirs in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    predicted = model.predict(stream.features[500:], verbose=0).argmax(1)
    assert result["accuracy"] == pytest.approx((predicted == stream.labels[500:]).mean(), abs=1e-6)
    assert history["val_accuracy"][0] == pytest.approx(result["accuracy"])


def test_missing_labels_may_come_as_floats(stream):
    labels = np.where(np.arange(len(stream)) % 3 == 0, -1, stream.labels)
    whole, floats = ar.Aranyani(**SMALL, fairness_weight=0.0), ar.Aranyani(**SMALL, fairness_weight=0.0)
    whole.fit(ar.Stream(stream.features, labels, stream.groups), verbose=0)
    floats.fit(ar.Stream(stream.features, labels.astype("float32"), stream.groups.astype("float64")), verbose=0)
    assert_same(whole, floats)


def test_the_predicting_part_can_be_exported(stream, tmp_path):
    model = ar.Aranyani(**SMALL)
    model.fit(stream, verbose=0)
    model.export(tmp_path / "served", verbose=False)
    served = tf.saved_model.load(tmp_path / "served")
    np.testing.assert_allclose(
        served.serve(stream.features[:9]), model.predict(stream.features[:9], verbose=0), atol=1e-6)


def test_the_group_is_never_needed_to_predict(stream):
    model = ar.Aranyani(**SMALL)
    model.fit(stream, verbose=0)
    plain = model.predict(stream.features, verbose=0)
    np.testing.assert_array_equal(
        plain, model.predict({"features": stream.features, "group": stream.groups}, verbose=0))
