"""The NumPy tree: its derivatives by central differences, its answers beside the Keras layer's."""

import numpy as np
import pytest

import aranyani_tf as ar
from aranyani_tf.theory import gaps, soft_tree, task_loss

STEP = 1e-5


def differences(function, point):
    """Central differences of a function with any output, by every entry of a vector: (entry, …)."""
    return np.stack([(function(point + STEP * unit) - function(point - STEP * unit)) / (2 * STEP)
                     for unit in np.eye(len(point))])


@pytest.mark.parametrize("height", range(1, 6))
def test_gradient_and_hessian_are_those_of_central_differences(height):
    rng = np.random.default_rng(height)
    logits, leaves = 2 * rng.standard_normal(2**height - 1), rng.standard_normal(2**height)
    first = differences(lambda z: soft_tree.output(soft_tree.sigmoid(z[None]), leaves)[0], logits)
    second = differences(lambda z: soft_tree.gradient(z[None], leaves)[0], logits)
    np.testing.assert_allclose(soft_tree.gradient(logits[None], leaves)[0], first, atol=1e-9)
    np.testing.assert_allclose(soft_tree.hessian(logits[None], leaves)[0], second, atol=1e-9)


@pytest.mark.parametrize("height", range(1, 6))
def test_the_loss_s_gradient_is_that_of_central_differences(height):
    rng = np.random.default_rng(height)
    nodes, label = 2**height - 1, np.array([1])
    parameters = rng.standard_normal(nodes + 3 * 2**height)

    def loss(p):
        return task_loss.cross_entropy(p[None, :nodes], p[nodes:].reshape(-1, 3), label)[0]

    in_logits, in_leaves = task_loss.cross_entropy_gradient(
        parameters[None, :nodes], parameters[nodes:].reshape(-1, 3), label)
    np.testing.assert_allclose(np.concatenate([in_logits.ravel(), in_leaves.ravel()]),
                               differences(loss, parameters), atol=1e-9)


def test_the_tree_answers_as_the_keras_layer_does():
    layer = ar.ObliqueForest(num_trees=1, height=4, num_labels=2, seed=3, dtype="float64")
    x = np.random.default_rng(0).standard_normal((7, 5))
    said = np.asarray(layer(x))
    kernel, bias, leaf_logits = (np.asarray(weight)[0] for weight in layer.weights)
    decisions = soft_tree.sigmoid(x @ kernel + bias)
    leaves = task_loss.softmax(leaf_logits)
    np.testing.assert_allclose(soft_tree.output(decisions, leaves[:, 1]), said[:, 1], atol=1e-12)
    np.testing.assert_allclose(soft_tree.leaf_probabilities(decisions) @ leaves, said, atol=1e-12)


def test_gaps_and_their_gradients_are_plain_means():
    rng = np.random.default_rng(1)
    weights, inputs, groups = rng.standard_normal((3, 2)), rng.standard_normal((9, 2)), np.arange(9) % 2

    def gap(flat):
        n = soft_tree.sigmoid(inputs @ flat.reshape(3, 2).T)
        return n[groups == 0].mean(axis=0) - n[groups == 1].mean(axis=0)

    found, slopes = gaps.node_gaps(weights, inputs, groups)
    np.testing.assert_allclose(found, gap(weights.ravel()), atol=1e-15)
    by_weight = differences(gap, weights.ravel()).reshape(3, 2, 3)  # (node of the weight, input, node of the gap)
    np.testing.assert_allclose(slopes, by_weight[range(3), :, range(3)], atol=1e-9)


def test_distances_by_sorting_are_those_of_all_pairs():
    rng = np.random.default_rng(2)
    decisions, groups = rng.random((40, 3)).round(1), np.arange(40) % 3 // 2  # with ties
    pairs = np.abs(decisions[groups == 0][:, None] - decisions[groups == 1][None])  # (first, second, node)
    np.testing.assert_allclose(gaps.pair_distances(decisions, groups), pairs.mean(axis=(0, 1)), atol=1e-12)
    reached = soft_tree.reach(decisions)
    weighted = pairs * reached[groups == 0][:, None, :3]
    np.testing.assert_allclose(gaps.reached_pair_distances(decisions, reached, groups), weighted.mean(axis=(0, 1)),
                               atol=1e-12)
