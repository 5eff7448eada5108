"""The arrays that a step works with: cut once for all steps of a walk from two that the caller brings."""

from typing import NamedTuple

import numpy as np

from aranyani_tf.engine.compiler import inner
from aranyani_tf.engine.layout import OUTPUT, Shape, sizes, whole_lines


class Work(NamedTuple):
    """A step's arrays, made once for all steps of a walk."""

    z: np.ndarray  # (slot,)
    powers: np.ndarray  # for `exponentials`
    decisions: np.ndarray  # (sample, slot): n
    slopes: np.ndarray  # (sample, slot): g′(z)
    reach: np.ndarray  # (sample, node and leaf)
    worth: np.ndarray  # (node and leaf,), on the way back
    leaf_shares: np.ndarray  # (label, leaf): q
    upstream: np.ndarray  # (label,): ∂/∂p
    by_logits: np.ndarray  # (sample, 1, slot): ∂loss/∂z
    by_leaves: np.ndarray  # (1, 1, label, leaf): ∂loss/∂Θ of all samples
    value: np.ndarray  # (sample, value)
    column: np.ndarray  # (sample, row, column): ∂value/∂z
    leaf_column: np.ndarray  # (sample, quantity, label, leaf): ∂value/∂Θ
    gap: np.ndarray  # (3, value)
    coefficient: np.ndarray  # (cell, value)
    by_column: np.ndarray  # (cell, row, column): the coefficient of each column's value
    pending: np.ndarray  # (row, column), of one input: ∂fairness/∂W before the columns of a slot are added up
    gradient: np.ndarray  # (1, slot), of one input
    member: np.ndarray  # (sample, cell)
    share: np.ndarray  # (sample, cell)
    total: np.ndarray  # (cell,)
    counts: np.ndarray  # (cell,): whether any coefficient is not 0
    label: np.ndarray  # (sample,), NaN where missing
    group: np.ndarray  # (sample,)
    arrived: np.ndarray  # (sample,), whether there is a label or a group
    row_weights: np.ndarray  # (sample,), 1 where rows have none
    norm: np.ndarray  # (3, 3): squares of the gradients of task, fairness and both, for kernel, bias and leaves


@inner
def work_sizes(shape: Shape, samples: int) -> tuple[int, int]:
    """How many numbers of the model's type a step's arrays have, and how many float64."""
    slots, leaves, values, rows, columns = sizes(shape)
    labels, cells = shape.num_labels, shape.num_cells
    by_leaf = labels * leaves * (1 + samples * (values if shape.level == OUTPUT else 0))
    each = 3 * slots + 2 * leaves + values + rows * columns
    once = 5 * slots + 3 * leaves + labels * (leaves + 1) + (3 + cells) * values + (cells + 1) * rows * columns
    spare = 32 * whole_lines(1)  # each of the arrays begins with a cache line
    return samples * each + once + by_leaf + spare, samples * (2 * cells + 4) + 2 * cells + 9 + spare


@inner
def head(array: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The first numbers, and the rest, which begins with a cache line again."""
    return array[:size], array[whole_lines(size):]


@inner
def cut_work(shape: Shape, samples: int, real: np.ndarray, wide: np.ndarray) -> Work:
    """A step's arrays, cut one after the other from the head of two that have room for them all (`work_sizes`)."""
    slots, leaves, values, rows, columns = sizes(shape)
    labels, cells, n = shape.num_labels, shape.num_cells, samples
    places, quantities = 2 * leaves - shape.num_trees, values if shape.level == OUTPUT else 0
    z, real = head(real, slots)
    powers, real = head(real, slots + leaves)
    decisions, real = head(real, n * slots)
    slopes, real = head(real, n * slots)
    reach, real = head(real, n * places)
    worth, real = head(real, places)
    leaf_shares, real = head(real, labels * leaves)
    upstream, real = head(real, labels)
    by_logits, real = head(real, n * slots)
    by_leaves, real = head(real, labels * leaves)
    value, real = head(real, n * values)
    column, real = head(real, n * rows * columns)
    leaf_column, real = head(real, n * quantities * labels * leaves)
    gap, real = head(real, 3 * values)
    coefficient, real = head(real, cells * values)
    by_column, real = head(real, cells * rows * columns)
    pending, real = head(real, rows * columns)
    member, wide = head(wide, n * cells)
    share, wide = head(wide, n * cells)
    total, wide = head(wide, cells)
    counts, wide = head(wide, cells)
    label, wide = head(wide, n)
    group, wide = head(wide, n)
    arrived, wide = head(wide, n)
    row_weights, wide = head(wide, n)
    return Work(
        z, powers, decisions.reshape(n, slots), slopes.reshape(n, slots), reach.reshape(n, places), worth,
        leaf_shares.reshape(labels, leaves), upstream, by_logits.reshape(n, 1, slots),
        by_leaves.reshape(1, 1, labels, leaves), value.reshape(n, values), column.reshape(n, rows, columns),
        leaf_column.reshape(n, quantities, labels, leaves), gap.reshape(3, values), coefficient.reshape(cells, values),
        by_column.reshape(cells, rows, columns), pending.reshape(rows, columns), real[:slots].reshape(1, slots),
        member.reshape(n, cells), share.reshape(n, cells), total, counts, label, group, arrived, row_weights,
        wide[:9].reshape(3, 3))
