"""Where fairness is imposed: on every node, on every leaf, or on the output.

A constraint names the quantities whose group means should agree, and keeps the mean of their
gradients. With F_c the gap of contrast c and H the penalty, the fairness gradient is

    λ Σ_c H′(F_c) Σ_cell contrast[c, cell]·E[∇quantity | cell]
        = Σ_cell coefficient[cell]·E[∇quantity | cell],

so that each constraint needs three methods: `values` gives the quantities of a step's samples,
`gradients` the sums of their gradients, weighted by what each sample's share in its cell's mean is,
and `fairness_gradients` takes coefficients and mean gradients to a gradient for each weight.
`shapes`, `pack` and `unpack` say how the means are stored.

Node and leaf quantities depend on a weight matrix only through the nodes' logits z, and only on a
few of them. Each such pair (quantity, node) is a *column*, whose gradient is ∂quantity/∂z·xᵀ.
"""

import tensorflow as tf

from aranyani_tf.arguments import require_choice
from aranyani_tf.errors import ArgumentError
from aranyani_tf.forest import packing as layout
from aranyani_tf.forest.routing import leaf_jacobian

MANY = 32  # cells or constraints, from which on one product is sooner compiled than its terms


class NodeConstraint:
    """The paper's method (Equation 3): E[n | a=0] = E[n | a=1] at every node.

    A node's decision depends on its own logit alone, ∇_W n = g′(z)·xᵀ: one column per node.
    """

    def __init__(self, learner, num_features, notion):
        require_decisions(notion, "node")
        self.num_features, self.forest_shape = num_features, learner.shape
        self.active = layout.pack_nodes(tf.ones(learner.shape)).numpy()  # 0 for idle slots

    def shapes(self):
        """Names and shapes of the means, without the cell axis; the quantity comes first."""
        num_trees, num_nodes = self.forest_shape
        return {"decision_mean": (num_trees, num_nodes),
                "kernel_gradient_mean": (num_trees, self.num_features, num_nodes),
                "bias_gradient_mean": (num_trees, num_nodes)}

    def pack(self, means):
        decisions, kernel, bias = means
        return [layout.pack_nodes(decisions), layout.pack_matrix(kernel, bias)]

    def unpack(self, means):
        decisions, matrix = means
        return [layout.unpack_nodes(decisions, *self.forest_shape),
                *layout.unpack_matrix(matrix, *self.forest_shape)]

    def quantities(self, outputs, losses):
        return []

    def values(self, trace):
        """(batch, value)."""
        return trace.decisions * tf.constant(self.active, trace.decisions.dtype)

    def gradients(self, trace, shares):
        """Σ_batch shares·gradient: [(cell, input, column)]."""
        return share_columns(trace, shares, trace.slopes)

    def fairness_gradients(self, coefficients, gradients):
        """(cell, value) and the mean gradients → the gradient of the matrix, (input, slot)."""
        return [sum_over_cells(coefficients[:, None, :], gradients[0])]


class LeafConstraint:
    """The paper's Leaf baseline (Appendix D.2): E[p_l | a=0] = E[p_l | a=1] at every leaf.

    p_l is a product over the leaf's ancestors, so a leaf has one column for each depth.
    """

    def __init__(self, learner, num_features, notion):
        require_decisions(notion, "leaf")
        self.num_features, self.forest_shape = num_features, learner.shape
        self.height, self.num_leaves = learner.forest.height, learner.forest.num_leaves

    def shapes(self):
        num_trees, leaves, height = self.forest_shape[0], self.num_leaves, self.height
        return {"leaf_mean": (num_trees, leaves),
                "kernel_gradient_mean": (num_trees, self.num_features, leaves, height),
                "bias_gradient_mean": (num_trees, leaves, height)}

    def pack(self, means):
        leaf, kernel, bias = means
        rows = tf.concat([kernel, bias[:, :, None]], axis=2)  # (cell, tree, input, leaf, depth)
        return [layout.pack_nodes(leaf), self.pack_columns(tf.transpose(rows, (0, 2, 4, 1, 3)))]

    def unpack(self, means):
        leaf, matrix = means
        rows = tf.transpose(self.unpack_columns(matrix), (0, 3, 1, 4, 2))
        return [self.per_leaf(leaf), rows[:, :, :-1], rows[:, :, -1]]

    def pack_columns(self, columns):
        """(..., depth, tree, leaf) → (..., column); leaves come last, and so a depth's sums run along them."""
        *lead, depth, trees, leaves = columns.shape
        return layout.pack_nodes(tf.reshape(columns, (*lead, depth * trees, leaves)))

    def unpack_columns(self, columns):
        trees = self.forest_shape[0]
        unpacked = layout.unpack_nodes(columns, self.height * trees, self.num_leaves)
        return tf.reshape(unpacked, (*columns.shape[:-1], self.height, trees, self.num_leaves))

    def per_leaf(self, values):
        """(..., value) → (..., tree, leaf)."""
        return layout.unpack_nodes(values, self.forest_shape[0], self.num_leaves)

    def quantities(self, outputs, losses):
        return []

    def values(self, trace):
        return layout.pack_nodes(trace.leaf_probabilities)

    def gradients(self, trace, shares):
        decisions, slopes = (
            layout.unpack_nodes(part, *self.forest_shape) for part in (trace.decisions, trace.slopes))
        columns = self.pack_columns(leaf_jacobian(decisions, slopes, self.height))  # (batch, column)
        return share_columns(trace, shares, layout.computed_once(columns))

    def fairness_gradients(self, coefficients, gradients):
        per_leaf = self.per_leaf(coefficients)[:, None]  # (cell, 1, tree, leaf)
        per_column = self.pack_columns(tf.repeat(per_leaf, self.height, axis=1))
        matrix = sum_over_cells(layout.computed_once(per_column)[:, None, :], gradients[0])
        return [self.onto_nodes(self.unpack_columns(matrix))]

    def onto_nodes(self, columns):
        """Sums the leaves below each node: (input, depth, tree, leaf) → (input, slot)."""
        per_depth = []
        for depth in range(self.height):
            sums = columns[:, depth]  # (input, tree, leaf)
            while sums.shape[-1] > 2**depth:  # neighbours, pair by pair: sooner than a short reduce_sum
                sums = sums[..., ::2] + sums[..., 1::2]
            per_depth.append(sums)
        return layout.pack_nodes(tf.concat(per_depth, axis=-1))


class OutputConstraint:
    """E[f | a=0] = E[f | a=1] for the prediction itself, of a forest or of any Keras model.

    For two labels f is the probability of label 1, the other one being its complement; for more
    labels every probability is constrained; for regression the predicted value. A notion that
    compares losses averages the loss in f's place.
    """

    def __init__(self, learner, num_labels, notion):
        self.learner, self.compares_loss = learner, notion.compares_loss
        single = num_labels <= 2 or notion.compares_loss
        self.columns = [num_labels - 1] if single else list(range(num_labels))

    def shapes(self):
        shapes = {"output_mean": (len(self.columns),)}
        for name, weight in zip(self.learner.names, self.learner.natural(), strict=True):
            shapes[f"{name}_gradient_mean"] = (len(self.columns), *weight.shape)
        return shapes

    def pack(self, means):
        return [means[0], *self.learner.pack(means[1:])]

    def unpack(self, means):
        return [means[0], *self.learner.unpack(means[1:])]

    def quantities(self, outputs, losses):
        return [losses] if self.compares_loss else [outputs[:, column] for column in self.columns]

    def values(self, trace):
        return tf.stack(trace.quantities, axis=1)  # (batch, quantity)

    def gradients(self, trace, shares):
        return [share_out(shares, jacobian) for jacobian in trace.jacobians()]

    def fairness_gradients(self, coefficients, gradients):
        num_cells, num_values = coefficients.shape
        return [
            tf.reduce_sum(
                tf.reshape(coefficients, (num_cells, num_values) + (1,) * (mean.shape.rank - 2)) * mean,
                axis=(0, 1))
            for mean in gradients]


class SummedOutputConstraint(OutputConstraint):
    """A slip of the authors' released Leaf and MLP baselines, to see what it did.

    They differentiate the sum of the label probabilities. That is 1 for every x, so the fairness gradient
    is zero, and λ has no effect.
    """

    def __init__(self, learner, num_labels, notion):
        require_decisions(notion, "summed output")
        super().__init__(learner, num_labels, notion)

    def quantities(self, outputs, losses):
        return [tf.reduce_sum(outputs, axis=-1) for _ in self.columns]

    def values(self, trace):
        return tf.gather(trace.outputs, self.columns, axis=1)  # the gap itself is right


def share_out(shares, per_sample):
    """Σ_batch shares·value: (batch, cell), (batch, ...) → (cell, ...)."""
    if shares.shape[0] == 1:
        return tf.reshape(shares, (-1,) + (1,) * (per_sample.shape.rank - 1)) * per_sample
    return tf.einsum("bc,b...->c...", shares, per_sample)


def share_columns(trace, shares, columns):
    """The sums of ∂quantity/∂(W, b): [(cell, input, column)]."""
    return [layout.sum_of_outer(trace.inputs, shares[:, :, None] * columns[:, None, :])]


def sum_over_cells(coefficients, means):
    """Σ_cell coefficient·mean; a few cells term by term, so that it fuses with its use."""
    if coefficients.shape[0] >= MANY:
        return tf.reduce_sum(coefficients * means, axis=0)
    terms = [coefficients[cell] * means[cell] for cell in range(coefficients.shape[0])]
    return sum(terms[1:], terms[0])


def require_decisions(notion, level):
    if notion.compares_loss:
        raise ArgumentError(f"{type(notion).__name__} compares losses, which a {level} does not have: "
                         "use constraint='output'")


LEVELS = ("node", "leaf", "output", "summed_output")


def get(level, learner, *, num_features, num_labels, notion):
    """The constraint at a level, bound to a learner."""
    require_choice("constraint", level, LEVELS)
    if level.endswith("output"):
        kind = OutputConstraint if level == "output" else SummedOutputConstraint
        return kind(learner, num_labels, notion)
    return {"node": NodeConstraint, "leaf": LeafConstraint}[level](learner, num_features, notion)
