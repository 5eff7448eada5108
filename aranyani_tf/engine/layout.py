"""How a forest's numbers lie in memory while rows are walked: by levels, and all of them in one array.

Nodes of one depth lie side by side, *last turn first*: a node at depth d has the number Σ_j turn_j·2^j, where turn_j
is 1 if the path to it goes right at depth j, and its place within its level is number·tree + tree's number. So the
left children of a level are its next level's first half, and the right ones the second half:

    level d:    [ 0 … w )                    w = trees·2^d
    level d+1:  [ left children 0 … w )  [ right children w … 2w )

Routing, its way back, and sums of leaves below a node are then loops over contiguous halves, for any number of trees.
Levels follow each other, so level d begins at trees·(2^d − 1); nodes are filled up with idle ones to a multiple of
eight (`slots`), and the leaves are one level more.
"""

from typing import NamedTuple

import numpy as np

from aranyani_tf.engine.compiler import compiled, inner

LANES = 8
LINE = 16  # numbers; 64 bytes of float32
NODE, LEAF, OUTPUT = 0, 1, 2  # the levels at which fairness may be imposed


class Shape(NamedTuple):
    """The sizes that everything else follows from."""

    num_trees: int
    height: int
    num_inputs: int  # features, and the 1 that multiplies the bias
    num_labels: int  # 1 is regression
    num_cells: int
    num_groups: int
    level: int  # NODE, LEAF or OUTPUT
    num_quantities: int  # constrained outputs; of use at the OUTPUT level alone
    keeps_squares: bool


class Parts(NamedTuple):
    """Views into the array of all numbers: what is learned, and the optimizer's momentums and velocities of it.

    A *column* is a pair of a constrained value and a node that moves it. At the NODE level there is one for each
    slot; at the LEAF level one for each leaf and depth, a leaf's depths side by side; at the OUTPUT level there is a
    row for each quantity, with a column for each slot.
    """

    matrix: np.ndarray  # (input, slot)
    matrix_first: np.ndarray
    matrix_second: np.ndarray
    logits: np.ndarray  # (label, leaf)
    logits_first: np.ndarray
    logits_second: np.ndarray
    values: np.ndarray  # (cell, value), means of the constrained values
    squares: np.ndarray  # (cell, value), of their squares; without cells if they are not kept
    gradients: np.ndarray  # (cell, input, row, column), means of ∂value/∂W
    leaf_gradients: np.ndarray  # (cell, quantity, label, leaf), means of ∂value/∂Θ; without cells but for OUTPUT


@compiled(forceinline=True, _nrt=False)  # cached: it is called from outside, too
def sizes(shape: Shape) -> tuple[int, int, int, int, int]:
    """Slots, leaves, constrained values, rows and columns."""
    slots = -(-shape.num_trees * ((1 << shape.height) - 1) // LANES) * LANES
    leaves = shape.num_trees << shape.height
    if shape.level == NODE:
        return slots, leaves, slots, 1, slots
    if shape.level == LEAF:
        return slots, leaves, leaves, 1, leaves * shape.height
    return slots, leaves, shape.num_quantities, shape.num_quantities, slots


@inner
def parts_of(shape: Shape, numbers: np.ndarray) -> Parts:
    """The one array, cut: (number,) → its parts."""
    slots, leaves, values, rows, columns = sizes(shape)
    inputs, labels, cells = shape.num_inputs, shape.num_labels, shape.num_cells
    squared = cells if shape.keeps_squares else 0
    by_leaf = cells if shape.level == OUTPUT else 0
    m, t = whole_lines(inputs * slots), whole_lines(labels * leaves)
    a = 3 * (m + t)
    b = a + whole_lines(cells * values)
    c = b + whole_lines(squared * values)
    d = c + whole_lines(cells * inputs * rows * columns)
    return Parts(
        numbers[: inputs * slots].reshape(inputs, slots), numbers[m : m + inputs * slots].reshape(inputs, slots),
        numbers[2 * m : 2 * m + inputs * slots].reshape(inputs, slots),
        numbers[3 * m : 3 * m + labels * leaves].reshape(labels, leaves),
        numbers[3 * m + t : 3 * m + t + labels * leaves].reshape(labels, leaves),
        numbers[3 * m + 2 * t : 3 * m + 2 * t + labels * leaves].reshape(labels, leaves),
        numbers[a : a + cells * values].reshape(cells, values),
        numbers[b : b + squared * values].reshape(squared, values),
        numbers[c : c + cells * inputs * rows * columns].reshape(cells, inputs, rows, columns),
        numbers[d : d + by_leaf * values * labels * leaves].reshape(by_leaf, values, labels, leaves))


@compiled(forceinline=True, _nrt=False)
def whole_lines(count: int) -> int:
    """So many numbers, rounded up: what comes next begins with a cache line of the processor, as the first does."""
    return -(-count // LINE) * LINE


def num_numbers(shape: Shape) -> int:
    slots, leaves, values, rows, columns = sizes.py_func(shape)
    inputs, labels, cells, lines = shape.num_inputs, shape.num_labels, shape.num_cells, whole_lines.py_func
    by_leaf = values * labels * leaves if shape.level == OUTPUT else 0
    return 3 * (lines(inputs * slots) + lines(labels * leaves)) + lines(cells * values) + lines(
        cells * values * shape.keeps_squares) + lines(cells * inputs * rows * columns) + lines(cells * by_leaf)


def by_levels(num_trees: int, height: int) -> np.ndarray:
    """Where each place of a level order is in (tree, node) order; height + 1 gives the leaves at the end.

    >>> by_levels(num_trees=1, height=3).tolist()
    [0, 1, 2, 3, 5, 4, 6]
    """
    order = []
    for depth in range(height):
        for number in range(2**depth):
            turns = int(f"{number:0{depth}b}"[::-1], 2) if depth else 0  # the first turn is a node's highest bit
            node = 2**depth - 1 + turns
            order += [tree * (2**height - 1) + node for tree in range(num_trees)]
    return np.array(order)


def leaf_order(num_trees: int, height: int) -> np.ndarray:
    """Where each leaf of the last level is in (tree, leaf) order.

    >>> leaf_order(num_trees=1, height=2).tolist()
    [0, 2, 1, 3]
    """
    turns = np.array([int(f"{number:0{height}b}"[::-1], 2) for number in range(2**height)])
    return (turns[:, None] + np.arange(num_trees) * 2**height).ravel()
