"""LiteRT and ONNX files: their interpreters say what the model says."""

import functools

import keras
import numpy as np
import onnxruntime
import pytest
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter

import aranyani_tf as ar
import forked
from aranyani_tf.errors import ArgumentError

NUM_ROWS, NUM_FEATURES = 1000, 6


def network(*last):
    keras.utils.set_random_seed(0)
    return keras.Sequential([keras.layers.Dense(4, activation="relu"), keras.layers.LayerNormalization(),
                             keras.layers.Dropout(0.5), *last])


CASES = {
    "a forest": dict,
    "one node": lambda: {"num_trees": 1, "height": 1},
    "tall, four labels": lambda: {"num_trees": 5, "height": 8, "num_labels": 4},
    "smootherstep": lambda: {"activation": "smootherstep"},
    "mask": lambda: {"routing": "mask"},
    "mask and smootherstep": lambda: {"routing": "mask", "activation": "smootherstep"},
    "regression": lambda: {"num_labels": 1},
    "an encoder": lambda: {"encoder": network()},
    "a predictor": lambda: {"predictor": network(keras.layers.Dense(2, activation="softmax"))},
}


@functools.cache  # an export moves nothing, so that all tests may have the same ones
def trained(name="a forest", **settings):
    model = ar.Aranyani(seed=0, **CASES[name](), **settings)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(NUM_ROWS, NUM_FEATURES)).astype(model.compute_dtype)
    y = 300 + 50 * x[:, 0] if model.num_labels == 1 else rng.integers(0, model.num_labels, NUM_ROWS)
    model.predict_then_learn(x[:100], y[:100], rng.integers(0, 2, 100))
    return model, x


def by_litert(path):
    runner = Interpreter(str(path)).get_signature_runner()
    return lambda x: next(iter(runner(features=x).values())).copy()


def by_onnx(path):
    session = onnxruntime.InferenceSession(str(path))
    return lambda x: session.run(None, {"features": x})[0]


FORMATS = {"litert": ("model.tflite", by_litert), "onnx": ("model.onnx", by_onnx)}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", CASES)
def test_an_interpreter_says_what_the_model_says(name, format, tmp_path):
    model, x = trained(name)
    file, read = FORMATS[format]
    model.export(tmp_path / file, format=format)
    ask, expected = read(tmp_path / file), model.predict(x, verbose=0)
    scale = np.abs(expected).max() if model.num_labels == 1 else 1.0  # in the target's unit
    assert np.abs(ask(x) - expected).max() <= 1e-6 * scale
    for count in (1, 7):  # any number of rows
        np.testing.assert_allclose(ask(x[:count]), expected[:count], atol=1e-6 * scale)
    assert [each.name for each in tmp_path.iterdir()] == [file]


def test_inputs_and_outputs_have_names(tmp_path):
    for name, answer in (("a forest", "probabilities"), ("regression", "values")):
        model, _ = trained(name)
        model.export(tmp_path / "model.tflite", format="litert")
        model.export(tmp_path / "model.onnx", format="onnx")
        told = Interpreter(str(tmp_path / "model.tflite")).get_signature_list()
        assert told == {"serving_default": {"inputs": ["features"], "outputs": [answer]}}
        session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"))
        assert [(each.name, each.shape) for each in (*session.get_inputs(), *session.get_outputs())] == [
            ("features", ["rows", NUM_FEATURES]), (answer, ["rows", model.num_labels])]


def test_options_reach_the_converters(tmp_path):
    model, x = trained("tall, four labels")
    model.export(tmp_path / "plain.tflite", format="litert")
    model.export(tmp_path / "small.tflite", format="litert", optimizations=[tf.lite.Optimize.DEFAULT])
    assert (tmp_path / "small.tflite").stat().st_size < 0.95 * (tmp_path / "plain.tflite").stat().st_size
    assert np.abs(by_litert(tmp_path / "small.tflite")(x) - model.predict(x, verbose=0)).max() < 0.02  # eight bits
    model.export(tmp_path / "model.onnx", format="onnx", opset_version=17)
    np.testing.assert_allclose(by_onnx(tmp_path / "model.onnx")(x), model.predict(x, verbose=0), atol=1e-6)


def test_float64_is_onnx_s_and_not_litert_s(tmp_path):
    model, x = trained(dtype="float64")
    model.export(tmp_path / "model.onnx", format="onnx")
    np.testing.assert_allclose(by_onnx(tmp_path / "model.onnx")(x), model.predict(x, verbose=0), atol=1e-14)
    with pytest.raises(ArgumentError, match="LiteRT has no float64"):
        model.export(tmp_path / "model.tflite", format="litert")


def test_a_part_that_onnx_has_no_operation_for_is_an_error_and_no_file(tmp_path):
    model = ar.Aranyani(encoder=keras.layers.Dense(3, activation="gelu"), seed=0)  # Erfc
    model.build_for(NUM_FEATURES)
    with pytest.raises(ArgumentError, match=r"cannot be written as ONNX(.|\n)*Erfc"):
        model.export(tmp_path / "model.onnx", format="onnx")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("path", "options", "words"), [
    ("model.onnx", {"format": "openvino"}, "format must be one of 'tf_saved_model', 'litert', 'onnx'; got 'openvino'"),
    ("model.tflite", {"format": "onnx"}, "ends with '.onnx', got"),
    ("model", {"format": "litert"}, "ends with '.tflite', got"),
    ("model.tflite", {"format": "litert", "optimisations": []}, "the LiteRT converter has no 'optimisations'"),
    ("model.onnx", {"format": "onnx", "optimizations": []}, "ONNX has no option 'optimizations'"),
    ("model", {"input_signature": None}, "a SavedModel has no option 'input_signature'"),
])
def test_what_cannot_be_is_refused_by_name(path, options, words, tmp_path):
    model = ar.Aranyani(num_trees=1, height=1, seed=0)
    with pytest.raises(ArgumentError, match="has seen no row"):
        model.export(tmp_path / path, **options)
    model.build_for(NUM_FEATURES)
    with pytest.raises(ArgumentError, match=words):
        model.export(tmp_path / path, **options)
    assert not list(tmp_path.iterdir())


def test_without_the_extra_the_error_says_what_to_install(tmp_path):
    program = ("import sys; sys.modules['tf2onnx'] = None\n"
               "import aranyani_tf as ar\n"
               "model = ar.Aranyani(seed=0); model.build_for(3); model.export(sys.argv[1], format='onnx')")
    told = forked.python("-c", program, tmp_path / "model.onnx")
    assert "ArgumentError: format='onnx' needs tf2onnx: pip install 'aranyani_tf[export]'" in told.stderr
    assert not list(tmp_path.iterdir())
