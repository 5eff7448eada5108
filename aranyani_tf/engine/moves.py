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
            else:
                for j in range(by_column.shape[2]):
                    by_column[cell, row, j] = coefficient[cell, j]


@inner
def onto_slots(shape: Shape, pending: np.ndarray, gradient: np.ndarray) -> None:
    """Adds up the columns of each slot: (row, column) → (slot,)."""
    if shape.level == LEAF:
        trees, leaves = at(shape.num_trees), at(pending.shape[1])
        for depth in range(pending.shape[0]):
            width, few = leaves, at(shape.num_trees << depth)
            while width > few:  # leaves below a node differ in their later turns: the upper half onto the lower
                width = width // at(2)
                for j in range(width):
                    pending[depth, j] += pending[depth, width + j]
            for j in range(width):
                gradient[0, few - trees + j] = pending[depth, j]
        for j in range(leaves - trees, at(gradient.shape[1])):
            gradient[0, j] = 0
    else:
        for j in range(gradient.shape[1]):
            gradient[0, j] = pending[0, j]
        for row in range(1, pending.shape[0]):
            for j in range(gradient.shape[1]):
                gradient[0, j] += pending[row, j]


@inner
def move_pair(optimizer: Optimizer, rate: float, start: int, here: int, there: int, rows: np.ndarray, work: Work,
              parts: Parts) -> None:
    """`move_matrix` for the paper's case, all in one loop: two groups, one sample, a column a slot, Adam.

    The sample is in the cell `here`, whose G moves; W moves by both.
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
            g = x * by_logits[0, 0, j] + factor[here, 0, j] * mean + factor[there, 0, j] * means[there, k, 0, j]
            m = first[k, j] + (g - first[k, j]) * b1
            v = second[k, j] + (g * g - second[k, j]) * b2
            first[k, j] = m
            second[k, j] = v
            matrix[k, j] -= eta * m / (np.sqrt(v) + epsilon)


@inner
def move_matrix(shape: Shape, optimizer: Optimizer, rate: float, online: bool, update: bool, records: bool, start: int,
                samples: int, rows: np.ndarray, work: Work, parts: Parts, norm: np.ndarray) -> None:
    """Input by input: the means G of the gradients, ∂fairness/∂W of them, ∂loss/∂W, and the optimizer's step.

    Args:
        update: whether the weights move; the means do in any case.
        start, samples: which rows are the step's.
        norm: (3, 3): squares of the task's gradient, the fairness gradient and their sum, for kernel, bias, leaves.
    """
    real, means, column, total, share = work.z.dtype.type, parts.gradients, work.column, work.total, work.share
    pending, gradient, factor, counts = work.pending, work.gradient, work.by_column, work.counts
    by_logits = work.by_logits
    matrix, first, second = parts.matrix, parts.matrix_first, parts.matrix_second
    one, last = real(1), shape.num_inputs - 1
    spread_out(shape, work.coefficient, factor, counts)
    pair = means.shape[0] == 2 and samples == 1 and online and (total[0] == 0) != (total[1] == 0)
    here = 0 if total[0] != 0 else 1  # of a pair, the cell that the sample is in
    if pair and means.shape[2] == 1 and shape.level != LEAF and optimizer.kind == ADAM and update and not records:
        move_pair(optimizer, rate, start, here, 1 - here, rows, work, parts)
        return
    for k in range(means.shape[1]):
        if pair:
            x = rows[start, k] if k < last else one
            keep, new = real(1 - total[here]), real(share[0, here]) * x
            for row in range(means.shape[2]):
                for m in range(means.shape[3]):
                    g = means[here, k, row, m] * keep + new * column[0, row, m]
                    means[here, k, row, m] = g
                    pending[row, m] = factor[here, row, m] * g + factor[1 - here, row, m] * means[1 - here, k, row, m]
        else:
            pending[:] = 0
            for cell in range(means.shape[0]):
                if total[cell] != 0 or not online:
                    keep = real(1 - total[cell]) if online else real(0)
                    for i in range(samples):
                        new = real(share[i, cell]) * (rows[start + i, k] if k < last else one)
                        for row in range(means.shape[2]):
                            for m in range(means.shape[3]):
                                means[cell, k, row, m] = means[cell, k, row, m] * keep + new * column[i, row, m]
                        keep = one
                if counts[cell] != 0:
                    for row in range(means.shape[2]):
                        for m in range(means.shape[3]):
                            pending[row, m] += factor[cell, row, m] * means[cell, k, row, m]
        onto_slots(shape, pending, gradient)
        if records:
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
            move(optimizer, rate, 0, gradient, k, matrix, first, second)


@inner
def move_leaves(optimizer: Optimizer, rate: float, update: bool, records: bool, work: Work, parts: Parts,
                norm: np.ndarray) -> None:
    """∂fairness/∂Θ, which the output level alone has, added to ∂loss/∂Θ, and the optimizer's step."""
    task, fair, coefficient = work.by_leaves[0, 0], parts.leaf_gradients, work.coefficient
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
