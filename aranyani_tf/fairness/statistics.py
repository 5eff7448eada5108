"""Running means per cell: the only memory of the past (Section 3.3, Algorithm 1).

For each cell we keep how many samples it saw, the mean of the constrained quantity (a node's
decision, say) and the mean of that quantity's gradient. Both means follow

    count ← count + 1,        mean ← mean + (value − mean) / count.

With `decay` the count forgets too, count ← (1 − decay)·count + 1, and the same second line is then
an exponentially weighted mean with its bias corrected. So forgetting is one factor, not a second
estimator. A cell may forget with its own rows ("rows"), or all cells with every row, whoever arrived
("time"): then the means of a large and a small group cover the same stretch of the past.

A row of weight w counts as w rows that come at once do, count ← count + w, mean ← mean + (value − mean)·w / count;
with `decay` it makes a cell forget once, whatever it weighs, count ← (1 − decay)·count + w.

Where a gap has to be told from chance, a third mean is kept, that of the quantity's square; with
the second it gives the variance.

In float32 a running mean stops moving visibly after some ten million samples of a cell, since a
single sample's share is then below the last digit; `decay` keeps it moving.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from aranyani_tf.interfaces import Constraint

TINY = 1e-30  # a count that is none


class Memory(NamedTuple):
    """What is remembered of the past, as tensors in the layout of the training loop.

    What is kept beside the counts is the constraint's own affair. Of running means it is the mean of the
    values, (cell, value), then the means of their gradients.
    """

    cell_count: tf.Tensor  # (cell,), float64 so that it can count past 2^24
    group_count: tf.Tensor  # (group,)
    kept: tuple  # each (cell, …)
    squares: tuple = ()  # the mean of the values' squares, (cell, value), if it is kept

    @property
    def values(self) -> tf.Tensor:
        return self.kept[0]

    @property
    def gradients(self) -> tuple:
        return self.kept[1:]

    def counted(self, membership: tf.Tensor, decay: float | None, arrived: tf.Tensor | None = None,
                row_weights: tf.Tensor | None = None) -> tuple[tf.Tensor, tf.Tensor]:
        """Counts the step's samples and gives each its share in its cell's new mean.

        Several samples of a step are counted one after the other, so with decay a sample is
        discounted once for each later sample that makes its cell forget.

        Args:
            membership: (batch, cell), 1 where the sample belongs to the cell.
            arrived: (batch,), 1 for samples that make every cell forget; None if each cell forgets
                with its own samples.
            row_weights: (batch,) float64, how many rows a sample stands for, more than 0; None is 1 each.
        Returns:
            cell counts (cell,) and shares (batch, cell).
        """
        membership = tf.cast(membership, self.cell_count.dtype)
        if decay is None:
            new, kept = membership, 1.0
        else:
            forgets = membership if arrived is None else tf.cast(arrived, membership.dtype)[:, None]
            later = tf.cumsum(forgets, axis=0, exclusive=True, reverse=True)
            new = membership * (1 - decay) ** later
            kept = (1 - decay) ** tf.reduce_sum(forgets, axis=0)
        fewest = 1.0  # that a count with a sample in it is taken for
        if row_weights is not None:
            new, fewest = new * row_weights[:, None], tf.minimum(row_weights, 1.0)[:, None]
        count = kept * self.cell_count + tf.reduce_sum(new, axis=0)
        return count, tf.cast(new / tf.maximum(count, fewest), self.kept[0].dtype)

    def blended(self, shares: tf.Tensor, kept: tuple, squares: Sequence[tf.Tensor] = ()) -> "Memory":
        """The means after the step; the arguments are sums over its samples, weighted by the shares."""
        total = tf.reduce_sum(shares, axis=0)  # (cell,)

        def blend(mean: tf.Tensor, weighted_sum: tf.Tensor) -> tf.Tensor:
            share = tf.reshape(total, (-1,) + (1,) * (mean.shape.rank - 1))
            return mean + (weighted_sum - share * mean)

        return self._replace(kept=tuple(map(blend, self.kept, kept)),
                             squares=tuple(map(blend, self.squares, squares)))

    def deviations(self, contrasts: np.ndarray) -> tf.Tensor:
        """The standard error of each gap if the groups were alike, (constraint, value).

        As in the z-test for two proportions: the variance is that of all samples of the contrast's cells
        together, σ², and the gap's is σ²·Σ_cell contrast²/count. So a group of one sample has the error
        that one sample has, not the 0 of its own spread. A count with decay is less than the number of
        samples that it stands for, and cells of everybody share samples with a group's; both make the
        error rather too large than too small.
        """
        (squares,), count = self.squares, tf.cast(self.cell_count, self.values.dtype)
        counted = tf.constant(contrasts != 0, count.dtype) * count  # (constraint, cell)
        share = (counted / tf.maximum(tf.reduce_sum(counted, axis=1, keepdims=True), TINY))[:, :, None]
        mean, square = (tf.reduce_sum(share * each, axis=1) for each in (self.values, squares))  # (constraint, value)
        squared = tf.constant(contrasts**2, count.dtype)
        spread = tf.reduce_sum(squared / tf.maximum(count, TINY), axis=1)  # (constraint,)
        return tf.sqrt(tf.maximum(square - mean**2, 0.0) * spread[:, None])


class CellStatistics(keras.layers.Layer):
    """The memory as non-trainable weights, so that a saved model resumes its stream.

    The weights have the shapes and names that the constraint gives them: for the node level
    `decision_mean` (cell, tree, node), `kernel_gradient_mean` (cell, tree, feature, node) and
    `bias_gradient_mean` (cell, tree, node), beside `cell_count` (cell,) and `group_count` (group,);
    the last is counted only where `wait_for_all_groups` needs it. With `keep_squares` the mean of the
    decisions' squares is there too, as `square_mean`.
    """

    def __init__(self, num_cells: int, num_groups: int, constraint: Constraint, keep_squares: bool = False,
                 **kwargs: Any) -> None:
        super().__init__(trainable=False, **kwargs)
        self.num_cells, self.num_groups, self.constraint = num_cells, num_groups, constraint
        self.keep_squares, self.loaded_count = keep_squares, None

    def build(self) -> None:
        def zeros(name: str, shape: tuple[int, ...], dtype: str | None = None) -> keras.Variable:
            return self.add_weight(
                name=name, shape=shape, dtype=dtype, initializer="zeros", trainable=False)

        self.cell_count = zeros("cell_count", (self.num_cells,), "float64")
        self.group_count = zeros("group_count", (self.num_groups,), "float64")
        self.means = [
            zeros(name, (self.num_cells, *shape)) for name, shape in self.constraint.shapes().items()]
        for mean in self.means:
            setattr(self, mean.name, mean)
        if self.keep_squares:  # in the layout of the loop, since nobody looks at it
            values, *_ = self.constraint.pack([mean.value for mean in self.means])
            self.square_mean = zeros("square_mean", values.shape)
        self.built = True

    def read(self) -> Memory:
        """The weights as a `Memory`."""
        kept = self.constraint.pack([mean.value for mean in self.means])
        squares = (self.square_mean.value,) if self.keep_squares else ()
        return Memory(self.cell_count.value, self.group_count.value, tuple(kept), squares)

    def write(self, memory: Memory) -> None:
        """Puts a `Memory` back into the weights."""
        self.cell_count.assign(memory.cell_count)
        self.group_count.assign(memory.group_count)
        for mean, value in zip(self.means, self.constraint.unpack(memory.kept), strict=True):
            mean.assign(value)
        if self.keep_squares:
            self.square_mean.assign(memory.squares[0])

    def load_own_variables(self, store: Any) -> None:
        """As Keras's; what a constraint has added since a file was written begins anew."""
        known = {name: store[name] for name in list(store.keys())}
        for index, weight in enumerate(self.weights):
            if weight.name in getattr(self.constraint, "added_later", ()):
                known.setdefault(str(index), weight.numpy())
        super().load_own_variables(known)
        self.loaded_count = self.cell_count.numpy()

    def reset(self) -> None:
        """Forgets everything that was seen."""
        for weight in self.weights:
            weight.assign(tf.zeros_like(weight))

    def forget_means(self) -> None:
        """The same, but for which groups were seen at all: `wait_for_all_groups` does not wait again."""
        seen = self.group_count.numpy()
        self.reset()
        self.group_count.assign(seen)
