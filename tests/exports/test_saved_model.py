"""The SavedModel: what it predicts and learns is what the model does, where nobody has this package."""

import json
import os
import shutil
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

import aranyani_tf as ar
from aranyani_tf.errors import ArgumentError
from rewind import Rewindable

SMALL = {"num_trees": 2, "height": 3, "seed": 0}
NUM_FEATURES = 5


def rows(count, num_labels=2, seed=0, gaps=True):
    """Features, labels and groups; one label and one group of five are missing."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(count, NUM_FEATURES)).astype("float32")
    groups = rng.integers(0, 2, count).astype("int32")
    score = features[:, 0] + groups + rng.normal(size=count)
    labels = (100 * score + 5000).astype("float32") if num_labels == 1 else (score > 0.5).astype("int32")
    if gaps:
        labels[::5] = np.nan if num_labels == 1 else -1
        groups[::7] = -1
    return features, labels, groups


def trained(**settings):
    keras.utils.set_random_seed(0)
    model = ar.Aranyani(**SMALL | settings)
    model.compile(engine="xla")
    model.predict_then_learn(*rows(100, model.num_labels))
    return model


def loaded(model, folder):
    model.export(folder)
    return tf.saved_model.load(str(folder))


def answers(told):
    (value,) = told.values()
    return value.numpy()


def assert_learned_alike(served, model, tolerance=0.0):
    for mine, theirs in zip(served.weights, model.get_weights(), strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs, rtol=tolerance, atol=tolerance)
    for mine, theirs in zip(served.optimizer_weights, model.optimizer.variables, strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=tolerance, atol=tolerance)


CASES = {
    "forgetting, chance, waiting, float64, limited feedback": {
        "decay": 0.01, "forget": "time", "chance": 2.0, "wait_for_all_groups": True, "dtype": "float64",
        "update_when": "predicted_positive"},
    "leaf level, regression, three rows a step": {
        "constraint": "leaf", "activation": "smootherstep", "record_gradients": True, "num_labels": 1,
        "samples_per_step": 3, "routing": "mask"},
}


@pytest.mark.parametrize("name", CASES)
def test_a_loaded_export_says_and_learns_what_the_model_does(name, tmp_path):
    model = trained(**CASES[name])
    served = loaded(model, tmp_path / "served")
    x, y, a = rows(200, model.num_labels, seed=1)
    x = x.astype(model.compute_dtype)
    y = y.astype(model.compute_dtype) if model.num_labels == 1 else y
    said = [answers(served.learn(x[part], y[part], a[part])) for part in (slice(0, 150), slice(150, 200))]
    expected = [model.predict_then_learn(x[part], y[part], a[part]) for part in (slice(0, 150), slice(150, 200))]
    np.testing.assert_array_equal(np.concatenate(said), np.concatenate(expected))
    assert_learned_alike(served, model)
    expected = model.predict(x, verbose=0)
    for told in (answers(served.predict(x)), served.serve(x), answers(served.signatures["serving_default"](
            features=tf.constant(x)))):
        np.testing.assert_array_equal(told, expected)


def test_it_learns_what_the_model_learns_by_xla(exported):
    model, served = exported[0].rewind(), tf.saved_model.load(str(exported[1]))
    assert model.jit_compile
    later = rows(100, seed=1)
    assert np.abs(answers(served.learn(*later)) - model.predict_then_learn(*later)).max() < 1e-6
    assert_learned_alike(served, model, 1e-6)


@pytest.mark.parametrize("part", ["encoder", "predictor"])
def test_an_encoder_with_dropout_and_a_predictor_learn_on(part, tmp_path):
    last = [keras.layers.Dense(2, activation="softmax")] if part == "predictor" else []
    network = keras.Sequential([keras.layers.Dense(6, activation="relu"), keras.layers.Dropout(0.3, seed=1), *last])
    keras.utils.set_random_seed(0)
    model = ar.Aranyani(**{part: network}, **(SMALL if part == "encoder" else {"seed": 0}))
    model.compile(engine="xla")
    model.predict_then_learn(*rows(50))
    served = loaded(model, tmp_path / "served")
    later = rows(60, seed=1)
    np.testing.assert_array_equal(answers(served.learn(*later)), model.predict_then_learn(*later))
    assert_learned_alike(served, model)


ELSEWHERE = """
import json, sys
sys.modules["aranyani_tf"] = None  # whoever imports it fails
import numpy as np
import tensorflow as tf
served = tf.saved_model.load("served")
rows = np.load("rows.npz")
said = served.signatures["learn"](features=rows["x"], labels=rows["y"], groups=rows["a"])["probabilities"]
told = served.signatures["predict"](features=rows["x"])["probabilities"]
assert not any(name.startswith("aranyani_tf.") for name in sys.modules)
np.savez("told.npz", said=said, told=told)
print(json.dumps(sorted(served.signatures)))
"""


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """One model, compiled by XLA, and the folder that it was written to, where an older one was."""
    folder = tmp_path_factory.mktemp("exported") / "served"
    folder.mkdir()
    (folder / "saved_model.pb").write_bytes(b"an older one")
    model = Rewindable(trained(fairness_weight=10.0), NUM_FEATURES)
    model.model.export(folder)
    return model, folder


def test_it_learns_in_a_process_that_cannot_import_this_package(exported, tmp_path):
    model, later = exported[0].rewind(), rows(100, seed=1)
    shutil.copytree(exported[1], tmp_path / "served")
    np.savez(tmp_path / "rows.npz", x=later[0], y=later[1], a=later[2])
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    told = subprocess.run([sys.executable, "-c", ELSEWHERE], cwd=tmp_path, env=environment, capture_output=True,
                          text=True)
    assert told.returncode == 0, told.stderr
    assert json.loads(told.stdout) == ["learn", "predict", "serve", "serving_default", "set_fairness_weight"]
    found = np.load(tmp_path / "told.npz")
    np.testing.assert_allclose(found["said"], model.predict_then_learn(*later), atol=1e-6)
    np.testing.assert_allclose(found["told"], model.predict(later[0], verbose=0), atol=1e-6)


def test_what_was_learned_elsewhere_can_be_saved_again_and_brought_home(exported, tmp_path):
    model, served = exported[0].rewind(), tf.saved_model.load(str(exported[1]))
    served.learn(*rows(50, seed=1))
    tf.saved_model.save(served, str(tmp_path / "again"), signatures=served.signatures)
    again = tf.saved_model.load(str(tmp_path / "again"))
    model.set_weights([weight.numpy() for weight in served.weights])
    x, y, a = rows(40, seed=2)
    np.testing.assert_array_equal(answers(again.predict(x)), model.predict(x, verbose=0))
    np.testing.assert_array_equal(answers(again.learn(x, y, a)), answers(served.learn(x, y, a)))
    for mine, theirs in zip(again.weights, served.weights, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_the_fairness_weight_of_an_export_is_its_own(exported):
    model, later = exported[0].rewind(), rows(100, seed=1)
    served = tf.saved_model.load(str(exported[1]))
    assert float(served.fairness_weight[0]) == 10.0
    served.set_fairness_weight(0.0)
    assert model.fairness_weight == 10.0
    said = answers(served.learn(*later))
    assert np.abs(said - model.predict_then_learn(*later)).max() > 1e-4
    exported[0].rewind().fairness_weight = 0.0
    np.testing.assert_allclose(said, model.predict_then_learn(*later), rtol=0, atol=1e-6)  # by XLA
    model.fairness_weight = 10.0
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(tf.errors.InvalidArgumentError, match="finite number of at least 0"):
            served.set_fairness_weight(bad)
    assert float(served.fairness_weight[0]) == 0.0


def changed(index, place, value):
    arrays = list(rows(4, gaps=False))
    arrays[index] = arrays[index].copy()
    arrays[index][place] = value
    return arrays


@pytest.mark.parametrize(("bad", "words"), [
    (changed(0, (1, 2), np.nan), "every feature must be finite"),
    (changed(0, (1, 2), -1e19), "every feature must be finite, and less than 1e[+]18 in size"),
    (changed(1, 3, 2), "labels must be from 0 to 1"),
    (changed(1, 3, -2), "labels must be from 0 to 1"),
    (changed(2, 0, 2), "groups must be from 0 to 1"),
    ([array[:0] for array in rows(4)], "at least one"),
    ([rows(4)[0], rows(3)[1], rows(4)[2]], "as many rows as each other"),
], ids=["NaN", "too large", "no such label", "label -2", "no such group", "no rows", "lengths"])
def test_rows_that_cannot_be_used_raise_and_teach_nothing(bad, words, served_once):
    before = [weight.numpy() for weight in (*served_once.weights, *served_once.optimizer_weights)]
    for _ in range(5):  # TensorFlow's threads may run in another order
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            served_once.learn(*bad)
    for old, weight in zip(before, (*served_once.weights, *served_once.optimizer_weights), strict=True):
        np.testing.assert_array_equal(weight.numpy(), old)


def test_an_export_that_diverges_says_so_and_stays_as_it_was(served_once):
    x, y, a = rows(20, seed=2, gaps=False)
    before = [weight.numpy() for weight in (*served_once.weights, *served_once.optimizer_weights)]
    served_once.set_fairness_weight(1e30)
    for _ in range(5):
        with pytest.raises(tf.errors.InvalidArgumentError, match="the model has diverged"):
            served_once.learn(x, y, a)
    for old, weight in zip(before, (*served_once.weights, *served_once.optimizer_weights), strict=True):
        np.testing.assert_array_equal(weight.numpy(), old)
    served_once.set_fairness_weight(10.0)
    served_once.learn(x, y, a)  # and goes on once the reason is gone


@pytest.fixture(scope="module")
def served_once(exported):
    return tf.saved_model.load(str(exported[1]))


def test_an_export_replaces_an_older_one_and_nothing_else(exported, tmp_path):
    model, served = exported[0].rewind(), tf.saved_model.load(str(exported[1]))
    np.testing.assert_array_equal(served.serve(rows(9)[0]), model.predict(rows(9)[0], verbose=0))
    assert [each.name for each in exported[1].parent.iterdir()] == ["served"]
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "one.png").write_bytes(b"precious")
    for name in ("photos", "photos/one.png"):
        with pytest.raises(ArgumentError, match="is there already and is no SavedModel"):
            model.export(tmp_path / name)
    assert (tmp_path / "photos" / "one.png").read_bytes() == b"precious"


def test_a_live_session_s_last_rows_are_in_the_export(tmp_path):
    """By the engine, whose model can be exported as well."""
    model = ar.Aranyani(**SMALL)
    x, y, a = rows(40, gaps=False)
    with model.live() as live:
        for row in zip(x, y, a, strict=True):
            live.learn(*row)
        served = loaded(model, tmp_path / "served")
    np.testing.assert_allclose(served.serve(x), model.predict(x, verbose=0), atol=1e-6)


class LearnsOtherwise(ar.Aranyani):
    def learn_rows(self, features, labels, groups, num_rows):
        return self(features)


def test_a_way_to_learn_of_one_s_own_is_left_out_with_a_warning(tmp_path):
    model = LearnsOtherwise(**SMALL)
    model.build_for(NUM_FEATURES)
    with pytest.warns(UserWarning, match="LearnsOtherwise has a learn_rows of its own"):
        model.export(tmp_path / "served")
    served = tf.saved_model.load(str(tmp_path / "served"))
    assert sorted(served.signatures) == ["predict", "serve", "serving_default"]
