"""The levels inside a forest: every node, as in the paper, or every leaf, as in its Leaf baseline.

Node and leaf quantities depend on a weight matrix only through the nodes' logits z, and only on a
few of them. Each such pair (quantity, node) is a *column*, whose gradient is ∂quantity/∂z·xᵀ.
"""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from aranyani_tf.fairness.constraints import RunningMeans, register_constraint
from aranyani_tf.fairness.objective import Objective
from aranyani_tf.fairness.sums import sum_over_cells
from aranyani_tf.forest import packing
from aranyani_tf.forest.routing import leaf_jacobian

# `learning.forest_learner` has both; it imports from here, not the other way round.
ForestLearner = Any
ForestTrace = Any


class NodeConstraint(RunningMeans):
    """The paper's method (Equation 3): E[n | a=0] = E[n | a=1] at every node.

    A node's decision depends on its own logit alone, ∇_W n = g′(z)·xᵀ: one column per node.
    """

    def __init__(self, learner: ForestLearner, objective: Objective, num_features: int) -> None:
        super().__init__(learner, objective, num_features)
        self.forest_shape = learner.shape  # (tree, node)
        self.active = packing.pack_nodes(tf.ones(learner.shape)).numpy()  # 0 for idle slots

    def shapes(self) -> dict[str, tuple[int, ...]]:
        num_trees, num_nodes = self.forest_shape
        return {"decision_mean": (num_trees, num_nodes),
                "kernel_gradient_mean": (num_trees, self.num_features, num_nodes),
                "bias_gradient_mean": (num_trees, num_nodes)}

    def pack(self, means: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        decisions, kernel, bias = means
        return [packing.pack_nodes(decisions), packing.pack_matrix(kernel, bias)]

    def unpack(self, means: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        decisions, matrix = means
        return [packing.unpack_nodes(decisions, *self.forest_shape),
                *packing.unpack_matrix(matrix, *self.forest_shape)]

    def values(self, trace: ForestTrace) -> tf.Tensor:
        return trace.decisions * tf.constant(self.active, trace.decisions.dtype)

    def gradients(self, trace: ForestTrace, shares: tf.Tensor) -> list[tf.Tensor]:
        """[(cell, input, column)]."""
        return share_columns(trace, shares, trace.slopes)

    def onto_weights(self, coefficients: tf.Tensor, gradients: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        """The gradient of the matrix, (input, slot)."""
        return [sum_over_cells(coefficients[:, None, :], gradients[0])]


class LeafConstraint(RunningMeans):
    """The paper's Leaf baseline (Appendix D.2): E[p_l | a=0] = E[p_l | a=1] at every leaf.

    p_l is a product over the leaf's ancestors, so a leaf has one column for each depth.
    """

    def __init__(self, learner: ForestLearner, objective: Objective, num_features: int) -> None:
        super().__init__(learner, objective, num_features)
        self.forest_shape = learner.shape
        self.height, self.num_leaves = learner.forest.height, learner.forest.num_leaves

    def shapes(self) -> dict[str, tuple[int, ...]]:
        num_trees, leaves, height = self.forest_shape[0], self.num_leaves, self.height
        return {"leaf_mean": (num_trees, leaves),
                "kernel_gradient_mean": (num_trees, self.num_features, leaves, height),
                "bias_gradient_mean": (num_trees, leaves, height)}

    def pack(self, means: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        leaf, kernel, bias = means
        rows = tf.concat([kernel, bias[:, :, None]], axis=2)  # (cell, tree, input, leaf, depth)
        return [packing.pack_nodes(leaf), self.pack_columns(tf.transpose(rows, (0, 2, 4, 1, 3)))]

    def unpack(self, means: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        leaf, matrix = means
        rows = tf.transpose(self.unpack_columns(matrix), (0, 3, 1, 4, 2))
        return [self.per_leaf(leaf), rows[:, :, :-1], rows[:, :, -1]]

    def pack_columns(self, columns: tf.Tensor) -> tf.Tensor:
        """(..., depth, tree, leaf) → (..., column); leaves come last, and so a depth's sums run along them."""
        *lead, depth, trees, leaves = columns.shape
        return packing.pack_nodes(tf.reshape(columns, (*lead, depth * trees, leaves)))

    def unpack_columns(self, columns: tf.Tensor) -> tf.Tensor:
        trees = self.forest_shape[0]
        unpacked = packing.unpack_nodes(columns, self.height * trees, self.num_leaves)
        return tf.reshape(unpacked, (*columns.shape[:-1], self.height, trees, self.num_leaves))

    def per_leaf(self, values: tf.Tensor) -> tf.Tensor:
        """(..., value) → (..., tree, leaf)."""
        return packing.unpack_nodes(values, self.forest_shape[0], self.num_leaves)

    def values(self, trace: ForestTrace) -> tf.Tensor:
        return packing.pack_nodes(trace.leaf_probabilities)

    def gradients(self, trace: ForestTrace, shares: tf.Tensor) -> list[tf.Tensor]:
        decisions, slopes = (
            packing.unpack_nodes(part, *self.forest_shape) for part in (trace.decisions, trace.slopes))
        columns = self.pack_columns(leaf_jacobian(decisions, slopes, self.height))  # (batch, column)
        return share_columns(trace, shares, packing.computed_once(columns))

    def onto_weights(self, coefficients: tf.Tensor, gradients: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        per_leaf = self.per_leaf(coefficients)[:, None]  # (cell, 1, tree, leaf)
        per_column = self.pack_columns(tf.repeat(per_leaf, self.height, axis=1))
        matrix = sum_over_cells(packing.computed_once(per_column)[:, None, :], gradients[0])
        return [self.onto_nodes(self.unpack_columns(matrix))]

    def onto_nodes(self, columns: tf.Tensor) -> tf.Tensor:
        """Sums the leaves below each node: (input, depth, tree, leaf) → (input, slot)."""
        per_depth = []
        for depth in range(self.height):
            sums = columns[:, depth]  # (input, tree, leaf)
            while sums.shape[-1] > 2**depth:  # neighbours, pair by pair: sooner than a short reduce_sum
                sums = sums[..., ::2] + sums[..., 1::2]
            per_depth.append(sums)
        return packing.pack_nodes(tf.concat(per_depth, axis=-1))


def share_columns(trace: ForestTrace, shares: tf.Tensor, columns: tf.Tensor) -> list[tf.Tensor]:
    """The sums of ∂quantity/∂(W, b): [(cell, input, column)]."""
    return [packing.sum_of_outer(trace.inputs, shares[:, :, None] * columns[:, None, :])]


register_constraint("node", NodeConstraint)
register_constraint("leaf", LeafConstraint)
