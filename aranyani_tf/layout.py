"""How the forest's arrays lie in memory inside the training loop.

A layer's kernel is (tree, feature, node), which is how one thinks of it. The loop keeps it as
(feature, slot): the nodes of all trees side by side, filled up with idle columns to a multiple of
eight. A step over one sample then runs along full vector registers, which makes it about twice as
fast. Idle columns have zero weights and zero gradients and stay so.
"""

import tensorflow as tf

LANES = 8


def num_slots(num_trees, num_nodes):
    return -(-num_trees * num_nodes // LANES) * LANES


def pack_nodes(per_node):
    """(..., tree, node) → (..., slot)."""
    *lead, num_trees, num_nodes = per_node.shape
    flat = tf.reshape(per_node, (*free(lead), num_trees * num_nodes))
    idle = num_slots(num_trees, num_nodes) - num_trees * num_nodes
    return tf.pad(flat, [[0, 0]] * len(lead) + [[0, idle]]) if idle else flat


def unpack_nodes(per_slot, num_trees, num_nodes):
    """(..., slot) → (..., tree, node)."""
    used = per_slot[..., : num_trees * num_nodes]
    return tf.reshape(used, (*free(per_slot.shape[:-1]), num_trees, num_nodes))


def pack_kernel(kernel):
    """(..., tree, feature, node) → (..., feature, slot)."""
    return pack_nodes(swap(kernel, -3, -2))


def unpack_kernel(packed, num_trees, num_nodes):
    """(..., feature, slot) → (..., tree, feature, node)."""
    return swap(unpack_nodes(packed, num_trees, num_nodes), -3, -2)


def swap(array, first, second):
    axes = list(range(array.shape.rank))
    axes[first], axes[second] = axes[second], axes[first]
    return tf.transpose(array, axes)


def free(lead):
    """Leading axes for a reshape, where the first one may be unknown."""
    return [-1 if size is None else size for size in lead]


def rows_times(features, kernel):
    """(batch, feature) · (feature, slot) → (batch, slot); a lone row is multiplied in place."""
    if features.shape[0] == 1:
        return tf.reduce_sum(features[:, :, None] * kernel, axis=1)
    return tf.matmul(features, kernel)


def sum_of_outer(features, per_slot):
    """Σ_batch x ⊗ u: (batch, feature), (batch, ..., slot) → (..., feature, slot)."""
    if features.shape[0] == 1:
        lone = tf.reshape(features, (-1, 1))  # (feature, 1)
        return lone * per_slot[0][..., None, :]
    return tf.einsum("bf,b...s->...fs", features, per_slot)
