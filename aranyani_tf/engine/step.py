"""One step's parts, for one forest: predict, differentiate, remember, move (Algorithm 1).

With x a row's inputs, W the matrix (input, slot) and Θ the leaves' logits:

    z = x·W                                                                        `multiply`
    n = g(z),  q = softmax Θ,  p = 1/T Σ_l reach_l·q_l                             `predict`
    e = ∂loss/∂p,  ∂loss/∂Θ = reach·q·(e − Σ e·q)/T,  ∂loss/∂z by `ascend`         `differentiate`
    mean_c += share_c·(value − mean_c)                                             `remember`
    G_c += share_c·(x ⊗ ∂value/∂z − G_c),  ∂/∂W = x ⊗ ∂loss/∂z + Σ_c coefficient_c·G_c    `move_matrix`

In `move_matrix` the matrix, the optimizer's numbers and G are touched once, input by input.
"""

import numpy as np

from aranyani_tf.engine.compiler import in_order, inner
from aranyani_tf.engine.layout import LEAF, NODE, Parts, Shape
from aranyani_tf.engine.passes import ascend, at, decide, descend, leaf_columns
from aranyani_tf.engine.work import Work

SMALLEST = 1e-7  # probability, as in `learning.losses`


@in_order
def multiply(last: int, t: int, rows: np.ndarray, matrix: np.ndarray, z: np.ndarray) -> float:
    """z = x·W, added up input after input, four at a time: so z is read and written a quarter as often.

    Gives the largest input, by size; four chains of comparisons take a quarter of the time of one.
    """
    first = second = third = fourth = rows.dtype.type(1)
    for j in range(z.size):
        z[j] = matrix[last, j]
    fours = last // 4
    for four in range(fours):
        k = at(four) * at(4)
        a, b, c, d = rows[t, k], rows[t, k + at(1)], rows[t, k + at(2)], rows[t, k + at(3)]
        first, second, third, fourth = max(first, abs(a)), max(second, abs(b)), max(third, abs(c)), max(fourth, abs(d))
        for j in range(z.size):
            z[j] = (((z[j] + a * matrix[k, j]) + b * matrix[k + at(1), j]) + c * matrix[k + at(2), j]) + (
                d * matrix[k + at(3), j])
    for rest in range(4 * fours, last):
        x = rows[t, rest]
        first = max(first, abs(x))
        for j in range(z.size):
            z[j] += x * matrix[rest, j]
    return max(max(first, second), max(third, fourth))


@inner
def predict(shape: Shape, activation: int, t: int, i: int, rows: np.ndarray, matrix: np.ndarray, work: Work,
            outputs: np.ndarray) -> float:
    """Row t, sample i of its step, on its way down; the leaves have been read. Gives the largest input."""
    leaves = shape.num_trees << shape.height
    z, reach, shares, used = work.z, work.reach, work.leaf_shares, leaves - shape.num_trees
    largest = multiply(shape.num_inputs - 1, t, rows, matrix, z)
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
        leaves = at(value.shape[1] - shape.num_trees)
        for j in range(value.shape[1]):
            value[i, j] = reach[i, leaves + at(j)]
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
