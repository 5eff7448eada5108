"""From the nodes' decisions to the leaves: Section 3.4 and Appendix D.3 of the paper.

Nodes are in heap order: the root is 0, the children of j are 2j + 1 (left) and 2j + 2 (right).
"""

import numpy as np
import tensorflow as tf


def ancestor_mask(height: int) -> np.ndarray:
    """The matrix A of Appendix D.3: 1 where a leaf lies left of a node, −1 right, 0 elsewhere.

    >>> ancestor_mask(2)
    array([[ 1,  1, -1, -1],
           [ 1, -1,  0,  0],
           [ 0,  0,  1, -1]])
    """
    node = np.arange(2**height - 1)[:, None]  # (node, 1)
    leaf = 2**height + np.arange(2**height)[None, :]  # (1, leaf), numbered as the heap goes on
    width = 2 ** (height - np.floor(np.log2(node + 1)).astype(int))  # leaves below the node
    first = width * (node + 1)
    left = (first <= leaf) & (leaf < first + width // 2)
    right = (first + width // 2 <= leaf) & (leaf < first + width)
    return left.astype(int) - right.astype(int)


def at_depth(per_node: tf.Tensor, depth: int) -> tf.Tensor:
    """The entries of the nodes at one depth: (..., node) → (..., 2^depth)."""
    return per_node[..., 2**depth - 1 : 2 ** (depth + 1) - 1]


def interleave(left: tf.Tensor, right: tf.Tensor) -> tf.Tensor:
    """(..., k) and (..., k) → (..., 2k): left, right, left, right, …"""
    pairs = tf.stack([left, right], axis=-1)
    return tf.reshape(pairs, (-1, *pairs.shape[1:-2], 2 * pairs.shape[-2]))


@tf.custom_gradient
def leaf_probabilities_by_levels(decisions: tf.Tensor) -> tf.Tensor:
    """Probability of reaching each leaf, one level of the tree at a time.

    Going down, `reach` of a node splits into reach·n (left) and reach − reach·n (right). Coming
    back, with v the gradient at the leaves, each node learns what its two subtrees are worth:

        v_node = n·v_left + (1 − n)·v_right,        ∂/∂n = reach·(v_left − v_right)

    so the backward pass has no division and holds for every activation, also at n = 0 and n = 1.

    Args:
        decisions: (batch, tree, node), the probability of going left.
    Returns:
        (batch, tree, leaf), summing to 1 over the leaves.
    """
    height = (decisions.shape[-1] + 1).bit_length() - 1
    reached = [tf.ones_like(decisions[..., :1])]
    for depth in range(height):
        left = reached[-1] * at_depth(decisions, depth)
        reached.append(interleave(left, reached[-1] - left))

    def backward(value: tf.Tensor) -> tf.Tensor:  # (batch, tree, leaf)
        gradients: list[tf.Tensor] = []
        for depth in reversed(range(height)):
            pairs = tf.reshape(value, (-1, *value.shape[1:-1], 2**depth, 2))
            difference = pairs[..., 0] - pairs[..., 1]
            gradients.insert(0, reached[depth] * difference)
            value = pairs[..., 1] + at_depth(decisions, depth) * difference
        return tf.concat(gradients, axis=-1)

    return reached[-1], backward


def leaf_probabilities_by_mask(log_left: tf.Tensor, log_right: tf.Tensor) -> tf.Tensor:
    """The paper's matrix form, exp(Σ log P), in log space so that no factor underflows.

    Args:
        log_left, log_right: (batch, tree, node), log n and log(1 − n).
    """
    height = (log_left.shape[-1] + 1).bit_length() - 1
    mask = ancestor_mask(height)
    to_left = tf.constant(mask == 1, log_left.dtype)  # (node, leaf)
    to_right = tf.constant(mask == -1, log_left.dtype)
    return tf.exp(tf.matmul(log_left, to_left) + tf.matmul(log_right, to_right))


def leaf_jacobian(decisions: tf.Tensor, slopes: tf.Tensor, height: int) -> tf.Tensor:
    """∂p_l/∂z of each ancestor of each leaf: (batch, tree, node) → (batch, depth, tree, leaf).

    p_l is a product of n (going left) or 1 − n (going right); its derivative with respect to one
    ancestor's z is ±g′(z) times all other factors. They are multiplied, never divided out, so the
    result is right where a factor is 0.
    """
    factors, signed_slopes = [], []
    for depth in range(height):
        below = 2 ** (height - depth - 1)  # leaves below each child
        n, slope = at_depth(decisions, depth), at_depth(slopes, depth)
        factors.append(both_children(n, 1 - n, below))  # (batch, tree, leaf)
        signed_slopes.append(both_children(slope, -slope, below))
    above = [tf.ones_like(factors[0])]
    for factor in factors[:-1]:
        above.append(above[-1] * factor)
    under = [tf.ones_like(factors[0])]
    for factor in factors[:0:-1]:
        under.insert(0, under[0] * factor)
    return tf.stack([a * s * u for a, s, u in zip(above, signed_slopes, under, strict=True)], axis=1)


def both_children(left: tf.Tensor, right: tf.Tensor, below: int) -> tf.Tensor:
    """(..., k) and (..., k) → (..., 2k·below): each child's value for every leaf below it."""
    return tf.repeat(interleave(left, right), below, axis=-1)
