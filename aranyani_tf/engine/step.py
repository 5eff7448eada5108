"""One step's parts, for one forest: predict, differentiate, remember, move (Algorithm 1).

With x a row's inputs, W the matrix (input, slot) and Θ the leaves' logits:

    z = x·W,  n = g(z),  q = softmax Θ,  p = 1/T Σ_l reach_l·q_l                   `predict`
    e = ∂loss/∂p,  ∂loss/∂Θ = reach·q·(e − Σ e·q)/T,  ∂loss/∂z by `ascend`         `differentiate`
    mean_c += share_c·(value − mean_c)                                             `remember`
    G_c += share_c·(x ⊗ ∂value/∂z − G_c),  ∂/∂W = x ⊗ ∂loss/∂z + Σ_c coefficient_c·G_c    `move_matrix`

In `move_matrix` the matrix, the optimizer's numbers and G are touched once, input by input.
"""

from typing import NamedTuple

import numpy as np

from aranyani_tf.engine.compiler import inner
from aranyani_tf.engine.layout import LEAF, NODE, OUTPUT, Parts, Shape, sizes
from aranyani_tf.engine.passes import ascend, at, decide, descend, leaf_columns

SMALLEST = 1e-7  # probability, as in `learning.losses`


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
    norm: np.ndarray  # (3, 3): squares of the gradients of task, fairness and both, for kernel, bias and leaves


@inner
def work_sizes(shape: Shape, samples: int) -> tuple[int, int]:
    """How many numbers of the model's type a step's arrays have, and how many float64."""
    slots, leaves, values, rows, columns = sizes(shape)
    labels, cells = shape.num_labels, shape.num_cells
    by_leaf = labels * leaves * (1 + samples * (values if shape.level == OUTPUT else 0))
    each = 3 * slots + 2 * leaves + values + rows * columns
    once = 5 * slots + 3 * leaves + labels * (leaves + 1) + (3 + cells) * values + (cells + 1) * rows * columns
    return samples * each + once + by_leaf, samples * (2 * cells + 3) + 2 * cells + 9


@inner
def cut_work(shape: Shape, samples: int, real: np.ndarray, wide: np.ndarray) -> Work:
    """A step's arrays, cut one after the other from the head of two that have room for them all (`work_sizes`)."""
    slots, leaves, values, rows, columns = sizes(shape)
    labels, cells, trees, n = shape.num_labels, shape.num_cells, shape.num_trees, samples
    places, quantities = 2 * leaves - trees, values if shape.level == OUTPUT else 0
    z, real = real[: slots], real[slots :]
    powers, real = real[: slots + leaves], real[slots + leaves :]
    decisions, real = real[: n * slots].reshape(n, slots), real[n * slots :]
    slopes, real = real[: n * slots].reshape(n, slots), real[n * slots :]
    reach, real = real[: n * places].reshape(n, places), real[n * places :]
    worth, real = real[: places], real[places :]
    leaf_shares, real = real[: labels * leaves].reshape(labels, leaves), real[labels * leaves :]
    upstream, real = real[: labels], real[labels :]
    by_logits, real = real[: n * slots].reshape(n, 1, slots), real[n * slots :]
    by_leaves, real = real[: labels * leaves].reshape(1, 1, labels, leaves), real[labels * leaves :]
    value, real = real[: n * values].reshape(n, values), real[n * values :]
    column, real = real[: n * rows * columns].reshape(n, rows, columns), real[n * rows * columns :]
    leaf_column, real = real[: n * quantities * labels * leaves].reshape(n, quantities, labels, leaves), real[n * quantities * labels * leaves :]
    gap, real = real[: 3 * values].reshape(3, values), real[3 * values :]
    coefficient, real = real[: cells * values].reshape(cells, values), real[cells * values :]
    by_column, real = real[: cells * rows * columns].reshape(cells, rows, columns), real[cells * rows * columns :]
    pending, real = real[: rows * columns].reshape(rows, columns), real[rows * columns :]
    gradient, real = real[: slots].reshape(1, slots), real[slots :]
    member, wide = wide[: n * cells].reshape(n, cells), wide[n * cells :]
    share, wide = wide[: n * cells].reshape(n, cells), wide[n * cells :]
    total, wide = wide[: cells], wide[cells :]
    counts, wide = wide[: cells], wide[cells :]
    label, wide = wide[: n], wide[n :]
    group, wide = wide[: n], wide[n :]
    arrived, wide = wide[: n], wide[n :]
    return Work(z, powers, decisions, slopes, reach, worth, leaf_shares, upstream, by_logits, by_leaves, value, column,
                leaf_column, gap, coefficient, by_column, pending, gradient, member, share, total, counts, label, group,
                arrived, wide[:9].reshape(3, 3))


@inner
def predict(shape: Shape, activation: int, t: int, i: int, rows: np.ndarray, matrix: np.ndarray, work: Work,
            outputs: np.ndarray) -> float:
    """Row t, sample i of its step, on its way down; the leaves have been read. Gives the largest input."""
    inputs, leaves, largest = shape.num_inputs, shape.num_trees << shape.height, rows.dtype.type(1)
    z, reach, shares, used = work.z, work.reach, work.leaf_shares, leaves - shape.num_trees
    for j in range(z.size):
        z[j] = matrix[inputs - 1, j]
    for k in range(inputs - 1):
        x = rows[t, k]
        largest = max(largest, abs(x))
        for j in range(z.size):
            z[j] += x * matrix[k, j]
    decide(i, activation, used, z, work.powers, work.decisions, work.slopes)
    descend(i, shape.num_trees, shape.height, work.decisions, reach)
    first = at(used)
    for label in range(shape.num_labels):
        total = z.dtype.type(0)
        for leaf in range(shares.shape[1]):
            total += reach[i, first + at(leaf)] * shares[label, leaf]
        outputs[t, label] = total / z.dtype.type(shape.num_trees)
    return largest


@inner
def back(shape: Shape, i: int, row: int, work: Work, by_logits: np.ndarray, s: int, by_leaves: np.ndarray) -> None:
    """Of what has ∂/∂p = work.upstream: ∂/∂z of sample i in by_logits[i, row]; ∂/∂Θ added to by_leaves[s, row]."""
    trees, leaves = shape.num_trees, shape.num_trees << shape.height
    part, used = work.z.dtype.type(1) / work.z.dtype.type(trees), at(leaves - trees)
    reach, worth, shares, upstream = work.reach, work.worth, work.leaf_shares, work.upstream
    for leaf in range(shares.shape[1]):
        worth[used + at(leaf)] = 0
    for label in range(shares.shape[0]):
        e = upstream[label] * part
        if e != 0:
            for leaf in range(shares.shape[1]):
                worth[used + at(leaf)] += e * shares[label, leaf]
    for label in range(shares.shape[0]):
        e = upstream[label] * part
        if shares.shape[0] == 1:
            for leaf in range(shares.shape[1]):
                by_leaves[s, row, label, leaf] += reach[i, used + at(leaf)] * e
        else:
            for leaf in range(shares.shape[1]):
                by_leaves[s, row, label, leaf] += reach[i, used + at(leaf)] * shares[label, leaf] * (
                    e - worth[used + at(leaf)])
    ascend(i, row, trees, shape.height, work.decisions, work.slopes, reach, worth, by_logits)


@inner
def differentiate(shape: Shape, i: int, t: int, weight: float, outputs: np.ndarray, work: Work) -> float:
    """Sample i's ∂loss/∂z and ∂loss/∂Θ, times its weight in the step; gives ∂loss/∂p."""
    real, label, upstream = work.z.dtype.type, work.label[i], work.upstream
    slope = real(0)
    for c in range(upstream.size):
        upstream[c] = 0
    if label == label:
        chosen = 0 if shape.num_labels == 1 else int(label)
        if shape.num_labels == 1:
            slope = real(2) * (outputs[t, 0] - real(label))
        elif not outputs[t, chosen] < real(SMALLEST):
            slope = real(-1) / outputs[t, chosen]
        upstream[chosen] = slope * real(weight)
    only = np.int64(0)
    back(shape, i, only, work, work.by_logits, only, work.by_leaves)
    return slope


@inner
def quantities(shape: Shape, compares_loss: bool, i: int, t: int, slope: float, outputs: np.ndarray,
               work: Work) -> None:
    """Sample i's constrained values and their derivatives."""
    real, value, label, upstream = work.z.dtype.type, work.value, work.label[i], work.upstream
    decisions, slopes, reach, column = work.decisions, work.slopes, work.reach, work.column
    if shape.level == NODE:
        for j in range(value.shape[1]):
            value[i, j] = decisions[i, j]
            column[i, 0, j] = slopes[i, j]
    elif shape.level == LEAF:
        first = at(value.shape[1] - shape.num_trees)
        for j in range(value.shape[1]):
            value[i, j] = reach[i, first + at(j)]
        leaf_columns(i, shape.num_trees, shape.height, decisions, slopes, reach, work.worth, column)
    else:
        first = shape.num_labels - 1 if value.shape[1] == 1 else 0
        for q in range(value.shape[1]):
            work.leaf_column[i, q] = 0
            for c in range(upstream.size):
                upstream[c] = 0
            if not compares_loss:
                value[i, q] = outputs[t, first + q]
                upstream[first + q] = 1
            elif label != label:
                value[i, q] = 0
            elif shape.num_labels == 1:
                value[i, q] = (outputs[t, 0] - real(label)) ** 2
                upstream[0] = real(slope)
            else:
                value[i, q] = -np.log(max(outputs[t, int(label)], real(SMALLEST)))
                upstream[int(label)] = real(slope)
            back(shape, i, q, work, column, i, work.leaf_column)


@inner
def remember(samples: int, online: bool, work: Work, parts: Parts) -> None:
    """The means of the values, of their squares if they are kept, and of their derivatives by the leaves."""
    real, value, leaf_column = work.z.dtype.type, work.value, work.leaf_column
    means, squares, leaves = parts.values, parts.squares, parts.leaf_gradients
    for cell in range(means.shape[0]):
        if work.total[cell] == 0 and online:
            continue
        keep = real(1 - work.total[cell]) if online else real(0)
        for i in range(samples):
            share = real(work.share[i, cell])
            for j in range(means.shape[1]):
                means[cell, j] = means[cell, j] * keep + share * value[i, j]
            if squares.shape[0] > 0:
                for j in range(means.shape[1]):
                    squares[cell, j] = squares[cell, j] * keep + share * value[i, j] * value[i, j]
            for q in range(leaves.shape[1] if leaves.shape[0] > 0 else 0):
                for label in range(leaves.shape[2]):
                    for leaf in range(leaves.shape[3]):
                        leaves[cell, q, label, leaf] = (
                            leaves[cell, q, label, leaf] * keep + share * leaf_column[i, q, label, leaf])
            keep = real(1)
