"""Running means per cell: the only memory of the past (Section 3.3, Algorithm 1).

For each cell we keep how many samples it saw, the mean of the constrained quantity (a node's
decision, say) and the mean of that quantity's gradient. Both means follow

    count ← count + 1,        mean ← mean + (value − mean) / count.

With `decay` the count forgets too, count ← (1 − decay)·count + 1, and the same second line is then
an exponentially weighted mean with its bias corrected. So forgetting is one factor, not a second
estimator.

In float32 a running mean stops moving visibly after some ten million samples of a cell, since a
single sample's share is then below the last digit; `decay` keeps it moving.
"""

from typing import NamedTuple

import keras
import tensorflow as tf


class Memory(NamedTuple):
    """The running means as tensors, in the layout of the training loop."""

    cell_count: tf.Tensor  # (cell,), float64 so that it can count past 2^24
    group_count: tf.Tensor  # (group,)
    values: tf.Tensor  # (cell, value)
    gradients: tuple  # each (cell, …)

    def counted(self, membership, decay):
        """Counts the step's samples and gives each its share in its cell's new mean.

        Several samples of a step are counted one after the other, so with decay a sample is
        discounted once for each later sample of the same cell.

        Args:
            membership: (batch, cell), 1 where the sample belongs to the cell.
        Returns:
            cell counts (cell,) and shares (batch, cell).
        """
        membership = tf.cast(membership, self.cell_count.dtype)
        if decay is None:
            weights, kept = membership, 1.0
        else:
            later = tf.cumsum(membership, axis=0, exclusive=True, reverse=True)
            weights = membership * (1 - decay) ** later
            kept = (1 - decay) ** tf.reduce_sum(membership, axis=0)
        count = kept * self.cell_count + tf.reduce_sum(weights, axis=0)
        return count, tf.cast(weights / tf.maximum(count, 1.0), self.values.dtype)

    def blended(self, shares, values, gradients):
        """The means after the step; `values` and `gradients` are sums weighted by the shares."""
        total = tf.reduce_sum(shares, axis=0)  # (cell,)

        def blend(mean, weighted_sum):
            share = tf.reshape(total, (-1,) + (1,) * (mean.shape.rank - 1))
            return mean + (weighted_sum - share * mean)

        return self._replace(
            values=blend(self.values, values), gradients=tuple(map(blend, self.gradients, gradients)))


class CellStatistics(keras.layers.Layer):
    """The running means as non-trainable weights, so that a saved model resumes its stream.

    The weights have the shapes and names that the constraint gives them: for the node level
    `decision_mean` (cell, tree, node), `kernel_gradient_mean` (cell, tree, feature, node) and
    `bias_gradient_mean` (cell, tree, node), beside `cell_count` (cell,) and `group_count` (group,);
    the last is counted only where `wait_for_all_groups` needs it.
    """

    def __init__(self, num_cells, num_groups, constraint, **kwargs):
        super().__init__(trainable=False, **kwargs)
        self.num_cells, self.num_groups, self.constraint = num_cells, num_groups, constraint

    def build(self):
        def zeros(name, shape, dtype=None):
            return self.add_weight(
                name=name, shape=shape, dtype=dtype, initializer="zeros", trainable=False)

        self.cell_count = zeros("cell_count", (self.num_cells,), "float64")
        self.group_count = zeros("group_count", (self.num_groups,), "float64")
        self.means = [
            zeros(name, (self.num_cells, *shape)) for name, shape in self.constraint.shapes().items()]
        for mean in self.means:
            setattr(self, mean.name, mean)
        self.built = True

    def read(self):
        """The weights as a `Memory`."""
        values, *gradients = self.constraint.pack([mean.value for mean in self.means])
        return Memory(self.cell_count.value, self.group_count.value, values, tuple(gradients))

    def write(self, memory):
        """Puts a `Memory` back into the weights."""
        self.cell_count.assign(memory.cell_count)
        self.group_count.assign(memory.group_count)
        unpacked = self.constraint.unpack([memory.values, *memory.gradients])
        for mean, value in zip(self.means, unpacked, strict=True):
            mean.assign(value)

    def reset(self):
        """Forgets everything that was seen."""
        for weight in self.weights:
            weight.assign(tf.zeros_like(weight))
