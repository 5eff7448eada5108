"""A model that is made wider goes on as if it had been so from the beginning, to the last bit."""

import time

import keras
import numpy as np
import pytest

import aranyani_tf as ar
from aranyani_tf.adapters.resident import Resident, from_keras_bytes, keras_bytes
from aranyani_tf.adapters.widening import padded, widened
from aranyani_tf.variables import put, value_of

SETTINGS = [{}, {"constraint": "leaf"}, {"constraint": "output", "chance": 2.0, "decay": 0.01, "forget": "time"},
            {"notion": "equalized_odds"}]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("optimizer", [keras.optimizers.Adam(0.01), keras.optimizers.SGD(0.1, momentum=0.9)])
def test_a_widened_model_is_the_wide_one_whose_new_features_were_0(settings, optimizer):
    stream = ar.datasets.load("synthetic", num_rows=120, num_features=4, seed=1)
    rows = np.pad(stream.features, [(0, 0), (0, 4)])
    later = rows.copy()
    later[:, 4:] = np.random.default_rng(0).normal(size=(120, 4))

    def made(width):
        model = ar.Aranyani(num_trees=2, height=2, fairness_weight=3.0, seed=0, **settings)
        model.compile(type(optimizer).from_config(optimizer.get_config()))
        model.build_for(width)
        return model

    wide, narrow = made(8), made(4)
    first = value_of(wide.forest.node_kernel)
    put(narrow.forest.node_kernel, first[:, :4])
    said = wide.predict_then_learn(rows, stream.labels, stream.groups)
    np.testing.assert_array_equal(narrow.predict_then_learn(stream.features, stream.labels, stream.groups), said)
    grown = widened(narrow, 8)
    np.testing.assert_array_equal(grown.predict(rows), narrow.predict(stream.features))
    kernel = np.array(value_of(grown.forest.node_kernel))
    assert not kernel[:, 4:].any()
    kernel[:, 4:] = first[:, 4:]
    put(grown.forest.node_kernel, kernel)
    np.testing.assert_array_equal(grown.predict_then_learn(later, stream.labels, stream.groups),
                                  wide.predict_then_learn(later, stream.labels, stream.groups))
    assert grown.so_far() == wide.so_far() and grown.so_far()["rows"] == 240
    for one, other in zip([*grown.weights, *grown.optimizer.variables], [*wide.weights, *wide.optimizer.variables],
                          strict=True):
        np.testing.assert_array_equal(one, other)


def test_zeros_come_behind_the_features_and_before_the_bias():
    assert padded(np.array([[1, 2, 3]]), (1, 4), 3).tolist() == [[1, 2, 3, 0]]
    assert padded(np.array([1, 2, 9]), (4,), 2).tolist() == [1, 2, 0, 9]


def test_the_same_state_has_the_same_bytes_whatever_the_time():
    model = ar.Aranyani(num_trees=1, height=1, seed=0)
    model.predict_then_learn(np.ones((3, 2)), [0, 1, 1], [0, 1, 0])
    first = keras_bytes(model)
    time.sleep(1.1)  # a `.keras` file has the second in which it was written
    assert keras_bytes(model) == first
    again = from_keras_bytes(first)
    np.testing.assert_array_equal(again.predict(np.eye(2)), model.predict(np.eye(2)))
    model.predict_then_learn(np.ones((1, 2)), [0], [1])
    assert keras_bytes(model) != first


def test_many_labels_that_are_1_or_missing_are_taken_as_they_are():
    """Codes come of names here, so that −1 cannot be the other label."""
    forest = Resident(2e-3, num_trees=1, height=1, seed=0)
    forest.learn(np.ones((60, 2)), np.array([1, -1] * 30, np.int32), np.zeros(60, np.int32))
    assert forest.model.so_far()["rows"] == 60
