"""How the forest's arrays lie in memory inside the training loop.

A layer's kernel is (tree, feature, node) and its bias (tree, node), which is how one thinks of them.
The loop keeps both in one matrix (input, slot). Its rows are the features and, last, a constant 1
whose weight is the bias. Its columns are the nodes of all trees side by side, filled up with idle
ones to a multiple of eight. A step over one sample then runs along full vector registers and over
few arrays, which makes it about twice as fast. Idle columns have zero gradients and stay zero.
"""

import tensorflow as tf

LANES = 8


def pack_nodes(per_node: tf.Tensor) -> tf.Tensor:
    """(..., tree, node) → (..., slot)."""
    *lead, num_trees, num_nodes = per_node.shape
    flat = tf.reshape(per_node, (*lead, num_trees * num_nodes))
    idle = -num_trees * num_nodes % LANES
    return tf.pad(flat, [[0, 0]] * len(lead) + [[0, idle]]) if idle else flat


def unpack_nodes(per_slot: tf.Tensor, num_trees: int, num_nodes: int) -> tf.Tensor:
    """(..., slot) → (..., tree, node)."""
    used = per_slot[..., : num_trees * num_nodes]
    return tf.reshape(used, (*per_slot.shape[:-1], num_trees, num_nodes))


def computed_once(per_slot: tf.Tensor) -> tf.Tensor:
    """The same array, but not folded into the loops that use it: (..., slot) → (..., slot).

    XLA merges an elementwise computation into each loop that reads its result. Where that loop also runs over
    cells and inputs, everything that leads to `per_slot` would be computed anew for each of them. A matrix
    product is never merged; this one is with the identity, a few numbers at a time.
    """
    lanes = tf.reshape(per_slot, (-1, LANES))
    return tf.reshape(tf.matmul(lanes, tf.eye(LANES, dtype=lanes.dtype)), per_slot.shape)


def pack_matrix(kernel: tf.Tensor, bias: tf.Tensor) -> tf.Tensor:
    """(..., tree, feature, node) and (..., tree, node) → (..., input, slot)."""
    rows = tf.concat([kernel, bias[..., None, :]], axis=-2)  # (..., tree, input, node)
    return pack_nodes(swap(rows, -3, -2))


def unpack_matrix(matrix: tf.Tensor, num_trees: int, num_nodes: int) -> tuple[tf.Tensor, tf.Tensor]:
    """(..., input, slot) → (..., tree, feature, node) and (..., tree, node)."""
    rows = swap(unpack_nodes(matrix, num_trees, num_nodes), -3, -2)
    return rows[..., :-1, :], rows[..., -1, :]


def swap(array: tf.Tensor, first: int, second: int) -> tf.Tensor:
    axes = list(range(array.shape.rank))
    axes[first], axes[second] = axes[second], axes[first]
    return tf.transpose(array, axes)


def with_constant(features: tf.Tensor) -> tf.Tensor:
    """(..., feature) → (..., input): the features and the 1 that multiplies the bias."""
    return tf.concat([features, tf.ones_like(features[..., :1])], axis=-1)


def sum_of_outer(inputs: tf.Tensor, per_slot: tf.Tensor) -> tf.Tensor:
    """Σ_batch x ⊗ u: (batch, input), (batch, ..., slot) → (..., input, slot)."""
    if inputs.shape[0] == 1:  # an outer product fuses with what uses it, a matmul does not
        return tf.reshape(inputs, (-1, 1)) * per_slot[0][..., None, :]
    return tf.einsum("bi,b...s->...is", inputs, per_slot)
