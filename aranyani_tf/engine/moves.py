"""Where the large arrays are touched: once a step, input by input."""

import numpy as np

from aranyani_tf.engine.compiler import inner
from aranyani_tf.engine.layout import LEAF, OUTPUT, Parts, Shape
from aranyani_tf.engine.optimizers import ADAM, Optimizer, move
from aranyani_tf.engine.passes import at
from aranyani_tf.engine.work import Work


@inner
def spread_out(shape: Shape, coefficient: np.ndarray, by_column: np.ndarray, counts: np.ndarray) -> None:
    """Coefficients from values to columns: (cell, value) → (cell, row, column); and which cells have any."""
    for cell in range(by_column.shape[0]):
        some = False
        for j in range(coefficient.shape[1]):
            some = some or coefficient[cell, j] != 0
        counts[cell] = some
        for row in range(by_column.shape[1]):
            if shape.level == OUTPUT:
                for j in range(by_column.shape[2]):
                    by_column[cell, row, j] = coefficient[cell, row]
            elif shape.level == LEAF:
                deep = at(shape.height)
                for j in range(coefficient.shape[1]):
                    for depth in range(deep):
                        by_column[cell, row, at(j) * deep + depth] = coefficient[cell, j]
            else:
                for j in range(by_column.shape[2]):
                    by_column[cell, row, j] = coefficient[cell, j]


@inner
def onto_slots(shape: Shape, pending: np.ndarray, gradient: np.ndarray) -> None:
    """Adds the columns to the slots that they belong to: (row, column) → (slot,)."""
    if shape.level == LEAF:
        # The leaves below a node differ in their later turns alone: half by half, the last turn first, the upper half
        # is added to the lower one, for all depths at once; after h − d halves those of depth d are complete.
        trees, deep = at(shape.num_trees), at(shape.height)
        width = at(pending.shape[1]) // deep
        for halves in range(deep):
            width = width // at(2)
            half, depth = width * deep, deep - at(1) - halves
            for j in range(half):
                pending[0, j] += pending[0, half + j]
            for j in range(width):
                gradient[0, width - trees + j] += pending[0, j * deep + depth]
    else:
        for row in range(pending.shape[0]):
            for j in range(gradient.shape[1]):
                gradient[0, j] += pending[row, j]


@inner
def move_pair(optimizer: Optimizer, rate: float, start: int, here: int, there: int, rows: np.ndarray, work: Work,
              parts: Parts) -> None:
    """`move_matrix` for the paper's case, all in one loop: two groups, one sample, a column a slot, Adam.

    The sample is in the cell `here`, whose G moves; ∂fairness/∂W = coefficient·(G_here − G_there).
    """
    real, means, column = work.z.dtype.type, parts.gradients, work.column
    factor, by_logits = work.by_column, work.by_logits
    matrix, first, second = parts.matrix, parts.matrix_first, parts.matrix_second
    share, keep, eta = real(work.share[0, here]), real(1 - work.total[here]), real(rate)
    b1, b2, epsilon = real(1 - optimizer.beta_1), real(1 - optimizer.beta_2), real(optimizer.epsilon)
    last = matrix.shape[0] - 1
    for k in range(matrix.shape[0]):
        x = rows[start, k] if k < last else real(1)
        new = share * x
        for j in range(matrix.shape[1]):
            mean = means[here, k, 0, j] * keep + new * column[0, 0, j]
            means[here, k, 0, j] = mean
            g = x * by_logits[0, 0, j] + factor[here, 0, j] * (mean - means[there, k, 0, j])
            m = first[k, j] + (g - first[k, j]) * b1
            v = second[k, j] + (g * g - second[k, j]) * b2
            first[k, j] = m
            second[k, j] = v
            matrix[k, j] -= eta * m / (np.sqrt(v) + epsilon)


@inner
def pull_of(k: int, x: float, here: int, there: int, work: Work, means: np.ndarray) -> None:
    """Input k's G of a pair of cells, of which a sample is in `here`, and what it asks for: `work.pending`."""
    real, column, factor, pending = work.z.dtype.type, work.column, work.by_column, work.pending
    keep, new = real(1 - work.total[here]), real(work.share[0, here]) * x
    for row in range(pending.shape[0]):
        for m in range(pending.shape[1]):
            mean = means[here, k, row, m] * keep + new * column[0, row, m]
            means[here, k, row, m] = mean
            pending[row, m] = factor[here, row, m] * (mean - means[there, k, row, m])


@inner
def pull_of_all(k: int, last: int, start: int, samples: int, online: bool, rows: np.ndarray, work: Work,
                means: np.ndarray) -> None:
    """The same for any number of cells and samples: G_c += Σ_i share_ic·(x_i ⊗ ∂value/∂z − G_c), and Σ_c of them."""
    real, column, factor, pending = work.z.dtype.type, work.column, work.by_column, work.pending
    total, share, counts, one = work.total, work.share, work.counts, work.z.dtype.type(1)
    pending[:] = 0
    for cell in range(means.shape[0]):
        if total[cell] != 0 or not online:
            keep = real(1 - total[cell]) if online else real(0)
            for i in range(samples):
                new = real(share[i, cell]) * (rows[start + i, k] if k < last else one)
                for row in range(pending.shape[0]):
                    for m in range(pending.shape[1]):
                        means[cell, k, row, m] = means[cell, k, row, m] * keep + new * column[i, row, m]
                keep = one
        if counts[cell] != 0:
            for row in range(pending.shape[0]):
                for m in range(pending.shape[1]):
                    pending[row, m] += factor[cell, row, m] * means[cell, k, row, m]


@inner
def move_matrix(shape: Shape, optimizer: Optimizer, rate: float, online: bool, update: bool, records: bool,
                opposite: bool, start: int, samples: int, rows: np.ndarray, work: Work, parts: Parts) -> None:
    """Input by input: the means G of the gradients, ∂fairness/∂W of them, ∂loss/∂W, and the optimizer's step.

    Args:
        update: whether the weights move; the means do in any case.
        opposite: whether there are two cells, whose difference is all that counts.
        start, samples: which rows are the step's.
    """
    real, total, gradient, by_logits, norm = work.z.dtype.type, work.total, work.gradient, work.by_logits, work.norm
    one, last = real(1), shape.num_inputs - 1
    spread_out(shape, work.coefficient, work.by_column, work.counts)
    pair = opposite and samples == 1 and online and (total[0] == 0) != (total[1] == 0)
    here = 1 if pair and total[0] == 0 else 0
    if pair and shape.level != LEAF and work.pending.shape[0] == 1 and optimizer.kind == ADAM and update and (
            not records):
        move_pair(optimizer, rate, start, here, 1 - here, rows, work, parts)
        return
    for k in range(parts.gradients.shape[1]):
        if pair:
            pull_of(k, rows[start, k] if k < last else one, here, 1 - here, work, parts.gradients)
        else:
            pull_of_all(k, last, start, samples, online, rows, work, parts.gradients)
        for j in range(gradient.shape[1]):
            gradient[0, j] = 0
        if records:
            onto_slots(shape, work.pending, gradient)
            part = 0 if k < last else 1
            for j in range(gradient.shape[1]):
                task = real(0)
                for i in range(samples):
                    task += by_logits[i, 0, j] * (rows[start + i, k] if k < last else one)
                norm[0, part] += task * task
                norm[1, part] += gradient[0, j] * gradient[0, j]
                norm[2, part] += (task + gradient[0, j]) ** 2
        if update:
            for i in range(samples):
                x = rows[start + i, k] if k < last else one
                for j in range(gradient.shape[1]):
                    gradient[0, j] += x * by_logits[i, 0, j]
            if not records:
                onto_slots(shape, work.pending, gradient)
            move(optimizer, rate, 0, gradient, k, parts.matrix, parts.matrix_first, parts.matrix_second)


@inner
def move_leaves(optimizer: Optimizer, rate: float, update: bool, records: bool, work: Work, parts: Parts) -> None:
    """∂fairness/∂Θ, which the output level alone has, added to ∂loss/∂Θ, and the optimizer's step."""
    task, fair, coefficient, norm = work.by_leaves[0, 0], parts.leaf_gradients, work.coefficient, work.norm
    for label in range(task.shape[0]):
        for leaf in range(task.shape[1] if records else 0):
            pull = task.dtype.type(0)
            for cell in range(fair.shape[0]):
                for q in range(fair.shape[1]):
                    pull += coefficient[cell, q] * fair[cell, q, label, leaf]
            norm[0, 2] += task[label, leaf] * task[label, leaf]
            norm[1, 2] += pull * pull
            norm[2, 2] += (task[label, leaf] + pull) ** 2
        if update:
            for cell in range(fair.shape[0]):
                for q in range(fair.shape[1]):
                    factor = coefficient[cell, q]
                    for leaf in range(task.shape[1]):
                        task[label, leaf] += factor * fair[cell, q, label, leaf]
            move(optimizer, rate, label, task, label, parts.logits, parts.logits_first, parts.logits_second)
