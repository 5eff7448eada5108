"""The layer: routing, gradients, weights, serialization."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import aranyani_tf as ar
from aranyani_tf.forest import routing
from aranyani_tf.forest.routing import leaf_jacobian, leaf_probabilities_by_levels
from reference import path


def layers(height, **settings):
    """The same forest with both routings."""
    pair = [ar.ObliqueForest(2, height, routing=r, seed=3, **settings) for r in ("levels", "mask")]
    for layer in pair:
        layer.build((None, 6))
    return pair


@pytest.mark.parametrize("height", range(1, 11))
def test_the_mask_is_a_walk_down_the_tree(height):
    expected = np.zeros((2**height - 1, 2**height), int)
    for leaf in range(2**height):
        for node, left in path(leaf, height):
            expected[node, leaf] = 1 if left else -1
    np.testing.assert_array_equal(routing.ancestor_mask(height), expected)


@pytest.mark.parametrize("activation", ["sigmoid", "smootherstep", "hard_sigmoid"])
@pytest.mark.parametrize("height", range(1, 11))
def test_mask_and_levels_agree_and_sum_to_one(height, activation):
    levels, mask = layers(height, activation=activation)
    x = np.random.default_rng(0).normal(size=(20, 6)).astype("float32")
    by_levels, by_mask = (layer.leaf_probabilities(x).numpy() for layer in (levels, mask))
    np.testing.assert_allclose(by_levels, by_mask, rtol=0, atol=1e-6)
    np.testing.assert_allclose(by_levels.sum(-1), 1, atol=1e-5)
    np.testing.assert_allclose(levels(x), mask(x), rtol=0, atol=1e-6)


@pytest.mark.parametrize("routing", ["levels", "mask"])
def test_extreme_inputs_give_finite_outputs_and_gradients(routing):
    layer = ar.ObliqueForest(2, 5, routing=routing, seed=0)
    x = tf.constant(np.random.default_rng(0).normal(size=(10, 4)).astype("float32") * 1e6)
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(tf.math.log(layer(x)[:, 1]))
    assert np.isfinite(loss)
    for gradient in tape.gradient(loss, layer.trainable_variables):
        assert np.isfinite(gradient).all()


@pytest.mark.parametrize("routing", ["levels", "mask"])
@pytest.mark.parametrize("num_labels", [1, 3])
def test_gradients_agree_with_finite_differences(routing, num_labels):
    layer = ar.ObliqueForest(2, 3, num_labels, routing=routing, seed=0, dtype="float64")
    random = np.random.default_rng(0)
    x, direction = random.normal(size=(4, 5)), random.normal(size=(4, num_labels))
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(layer(x) * direction)
    for variable, gradient in zip(
            layer.trainable_variables, tape.gradient(total, layer.trainable_variables), strict=True):
        value, step = variable.numpy(), 1e-6
        for index in list(np.ndindex(value.shape))[::7]:
            shifted = []
            for sign in (1, -1):
                moved = value.copy()
                moved[index] += sign * step
                variable.assign(moved)
                shifted.append(float(tf.reduce_sum(layer(x) * direction)))
            variable.assign(value)
            assert gradient.numpy()[index] == pytest.approx(
                (shifted[0] - shifted[1]) / (2 * step), rel=1e-5, abs=1e-9)


def test_the_hand_written_backward_pass_equals_automatic_differentiation():
    decisions = tf.constant(np.random.default_rng(0).random((3, 2, 15)))

    def plain(n):  # the same product with nothing written by hand
        leaves = []
        for leaf in range(16):
            factors = [n[..., j] if left else 1 - n[..., j] for j, left in path(leaf, 4)]
            leaves.append(tf.reduce_prod(tf.stack(factors), axis=0))
        return tf.stack(leaves, axis=-1)

    weights = tf.constant(np.random.default_rng(1).random((3, 2, 16)))
    results = []
    for function in (leaf_probabilities_by_levels, plain):
        with tf.GradientTape() as tape:
            tape.watch(decisions)
            total = tf.reduce_sum(function(decisions) * weights)
        results.append(tape.gradient(total, decisions).numpy())
    np.testing.assert_allclose(*results, rtol=0, atol=1e-12)


@pytest.mark.parametrize("activation", ["sigmoid", "smootherstep"])
def test_the_leaf_jacobian_equals_automatic_differentiation(activation):
    layer = ar.ObliqueForest(2, 3, activation=activation, seed=0, dtype="float64")
    z = tf.constant(np.random.default_rng(0).normal(size=(4, 2, 7)) * 0.5)
    with tf.GradientTape() as tape:
        tape.watch(z)
        n = layer.activation(z)
    expected = np.zeros((4, 3, 2, 8))  # (batch, depth, tree, leaf)
    slopes = tape.gradient(n, z)
    for leaf in range(8):
        with tf.GradientTape() as inner:
            inner.watch(z)
            chosen = leaf_probabilities_by_levels(layer.activation(z))[..., leaf]
        gradient = inner.gradient(chosen, z).numpy()
        for depth, (node, _) in enumerate(path(leaf, 3)):
            expected[:, depth, :, leaf] = gradient[:, :, node]
        others = set(range(7)) - {node for node, _ in path(leaf, 3)}
        assert np.abs(gradient[:, :, sorted(others)]).max() == 0
    np.testing.assert_allclose(leaf_jacobian(n, slopes, 3), expected, rtol=0, atol=1e-12)


def test_initial_weights_follow_their_distributions_and_their_seed():
    layer, again, other = (ar.ObliqueForest(20, 6, seed=s) for s in (0, 0, 1))
    for each in (layer, again, other):
        each.build((None, 50))
    kernel, bias, leaf_logits = layer.get_weights()
    assert (kernel.shape, bias.shape, leaf_logits.shape) == ((20, 50, 63), (20, 63), (20, 64, 2))
    assert abs(kernel.mean()) < 0.02 and abs(kernel.std() - 1) < 0.02
    assert abs(bias.mean()) < 0.1 and abs(bias.std() - 1) < 0.1
    assert leaf_logits.min() >= 0 and leaf_logits.max() <= 1 and abs(leaf_logits.mean() - 0.5) < 0.03
    for mine, same, different in zip(*(each.get_weights() for each in (layer, again, other)), strict=True):
        assert mine.tobytes() == same.tobytes() != different.tobytes()


def test_the_layer_comes_back_from_its_config_and_trains_inside_a_keras_model():
    layer = ar.ObliqueForest(2, 3, 3, activation="smootherstep", routing="mask", seed=5, name="trees")
    assert ar.ObliqueForest.from_config(layer.get_config()).get_config() == layer.get_config()
    model = keras.Sequential([keras.Input((4,)), layer])
    model.compile("adam", "sparse_categorical_crossentropy")
    x = np.random.default_rng(0).normal(size=(64, 4))
    losses = model.fit(x, (x[:, 0] > 0) + (x[:, 1] > 0), epochs=20, verbose=0).history["loss"]
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("settings", [
    {"height": 0}, {"height": 11}, {"height": 2.5}, {"num_trees": 0}, {"num_trees": True},
    {"num_labels": 0}, {"routing": "sideways"}], ids=str)
def test_a_wrong_argument_is_named(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        ar.ObliqueForest(**settings)
