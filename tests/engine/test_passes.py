"""The polynomial exponential, gates, leaves, and the way back through a tree."""

import numpy as np
import pytest
import tensorflow as tf

from aranyani_tf.engine import layout, passes
from aranyani_tf.forest.oblique_forest import smootherstep
from aranyani_tf.forest.routing import leaf_jacobian, leaf_probabilities_by_levels


def exponential(numbers):
    found = np.array(numbers)
    passes.exponentials(found.size, np.zeros_like(found), found)
    return found


def test_the_exponential_is_right_to_the_last_digit_but_one():
    numbers = np.concatenate([np.linspace(-87, 88, 200_001), [-87, 88, 0.0, -0.0, 1e-30, -1e-30]]).astype("float32")
    expected = np.exp(numbers.astype("float64"))
    assert (np.abs(exponential(numbers) / expected - 1) < 2e-7).all()


def test_the_exponential_of_float64_is_numpy_s():
    numbers = np.linspace(-700, 700, 1001)
    np.testing.assert_allclose(exponential(numbers), np.exp(numbers), rtol=1e-15)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_exponential_of_nan_is_nan_and_of_others_a_number(dtype):
    found = exponential(np.array([np.nan, 1, np.nan, -1e30, 0, -np.inf, -200], dtype))
    np.testing.assert_array_equal(np.isnan(found), [True, False, True, False, False, False, False])
    assert (found[[3, 5, 6]] < 1e-37).all() and found[4] == 1


def test_only_the_first_numbers_are_taken():
    numbers = np.zeros(8, "float32")
    passes.exponentials(3, np.zeros(8, "float32"), numbers)
    np.testing.assert_array_equal(numbers, [1, 1, 1, 0, 0, 0, 0, 0])


@pytest.mark.parametrize(("kind", "gate"), [(passes.SIGMOID, tf.sigmoid), (passes.SMOOTHERSTEP, smootherstep)])
def test_gates_and_their_slopes_are_those_of_tensorflow_and_idle_ones_are_zero(kind, gate):
    z = tf.constant([-40, -3, -0.5, -0.2, 0, 0.3, 0.5, 7, 60, -1e4, 1e4, 2, 1, 1], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(z)
        expected = gate(z)
    slope = tape.gradient(expected, z)
    decisions, slopes = np.full((2, 16), 9.0), np.full((2, 16), 9.0)
    passes.decide(1, kind, 14, np.append(z, [5.0, 5.0]), np.zeros(16), decisions, slopes)
    np.testing.assert_allclose(decisions[1], np.append(expected, [0, 0]), atol=1e-12)
    np.testing.assert_allclose(slopes[1], np.append(slope, [0, 0]), atol=1e-12)
    assert (decisions[0] == 9).all() and (slopes[0] == 9).all()


@pytest.mark.parametrize("kind", [passes.SIGMOID, passes.SMOOTHERSTEP])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_gate_does_not_hide_nan(kind, dtype):
    decisions, slopes = np.zeros((2, 1, 8), dtype)
    passes.decide(0, kind, 8, np.array([0, np.nan] * 4, dtype), np.zeros(8, dtype), decisions, slopes)
    np.testing.assert_array_equal(np.isnan(decisions[0]), [False, True] * 4)


@pytest.mark.parametrize("num_labels", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_leaves_are_read_by_a_softmax_also_where_it_is_steep(num_labels, dtype):
    logits = np.random.default_rng(0).normal(size=(num_labels, 8)).astype(dtype)
    logits[0, :4] = [200, -200, 1e4, -1e4]
    found = np.zeros_like(logits)
    passes.read_leaves(logits, np.zeros(8, dtype), np.zeros(8, dtype), found)
    expected = logits if num_labels == 1 else tf.nn.softmax(tf.constant(logits, tf.float64), axis=0).numpy()
    np.testing.assert_allclose(found, expected, atol=3e-7 if dtype == "float32" else 1e-15)


@pytest.mark.parametrize("num_labels", [1, 2, 3])
def test_reading_leaves_does_not_hide_nan(num_labels):
    logits, found = np.zeros((num_labels, 4), "float32"), np.zeros((num_labels, 4), "float32")
    logits[-1, 2] = np.nan
    passes.read_leaves(logits, np.zeros(4, "float32"), np.zeros(4, "float32"), found)
    np.testing.assert_array_equal(np.isnan(found).any(axis=0), [False, False, True, False])


@pytest.mark.parametrize(("num_trees", "height"), [(1, 1), (2, 3), (3, 4)])
def test_the_way_back_is_autodiff_s(num_trees, height):
    random, order = np.random.default_rng(1), layout.by_levels(num_trees, height)
    z = random.normal(size=(1, num_trees, 2**height - 1))
    value = random.normal(size=(1, num_trees, 2**height))
    variable = tf.constant(z)
    with tf.GradientTape() as tape:
        tape.watch(variable)
        total = tf.reduce_sum(tf.constant(value) * leaf_probabilities_by_levels(tf.sigmoid(variable)))
    expected = tape.gradient(total, variable).numpy().reshape(-1)[order]
    decisions = (1 / (1 + np.exp(-z))).reshape(1, -1)[:, order]
    slopes, places = decisions * (1 - decisions), num_trees * (2 ** (height + 1) - 1)
    reach, worth, result = np.zeros((1, places)), np.zeros(places), np.zeros((1, 1, len(order)))
    passes.descend(0, num_trees, height, decisions, reach)
    worth[len(order) :] = value.reshape(-1)[layout.leaf_order(num_trees, height)]
    passes.ascend(0, 0, num_trees, height, decisions, slopes, reach, worth, result)
    np.testing.assert_allclose(result[0, 0], expected, atol=1e-14)


@pytest.mark.parametrize(("num_trees", "height"), [(1, 1), (2, 3), (3, 4)])
def test_the_derivatives_of_leaves_are_those_of_routing_also_where_a_factor_is_zero(num_trees, height):
    random, order = np.random.default_rng(2), layout.by_levels(num_trees, height)
    decisions = random.random((1, num_trees, 2**height - 1))
    decisions[0, 0, 0], slopes = 0.0, random.random(decisions.shape)
    expected = leaf_jacobian(tf.constant(decisions), tf.constant(slopes), height).numpy()  # (1, depth, tree, leaf)
    expected = expected.reshape(height, -1)[:, layout.leaf_order(num_trees, height)]
    n, slope = (array.reshape(1, -1)[:, order] for array in (decisions, slopes))
    reach, columns = np.zeros((1, num_trees * (2 ** (height + 1) - 1))), np.zeros((1, 1, expected.size))
    passes.descend(0, num_trees, height, n, reach)
    passes.leaf_columns(0, num_trees, height, n, slope, reach, np.zeros(expected.shape[1]), columns)
    np.testing.assert_allclose(columns.reshape(-1, height), expected.T, atol=1e-14)  # a leaf's depths side by side
