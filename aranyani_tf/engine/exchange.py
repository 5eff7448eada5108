"""A model's numbers out of Keras's variables into the engine's layout, and back.

Keras has (tree, …, node) and (tree, …, leaf); the engine has them level by level, see `layout`.
"""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from aranyani_tf.engine.layout import LEAF, NODE, OUTPUT, Parts, sizes
from aranyani_tf.engine.optimizers import ADAM, SGD, Optimizer
from aranyani_tf.engine.row_engine import ForestEngine, State
from aranyani_tf.engine.shares import OutputShares
from aranyani_tf.fairness.statistics import CellStatistics
from aranyani_tf.variables import put, value_of


class Exchange:
    """Between a forest's variables, statistics and optimizer, and an engine's states."""

    def __init__(self, engine: ForestEngine) -> None:
        shape = engine.shape
        self.engine, self.level = engine, shape.level
        self.forest = engine.forest
        self.shares = OutputShares(shape.num_trees, shape.height, by_leaf=shape.level == LEAF)
        self.nodes, self.leaves = self.shares.nodes, self.shares.leaves
        self.used = len(self.nodes.order)

    def read(self, statistics: CellStatistics, optimizer: keras.Optimizer | None = None) -> State:
        """A state out of the variables; without an optimizer, one that has not moved yet."""
        state = self.engine.blank()
        parts, shape = self.engine.parts(state), self.engine.shape
        self.read_weights(parts)
        if optimizer is not None:
            self.read_slots(parts, optimizer)
            state.iterations[0] = int(value_of(optimizer.iterations))
        self.read_means(parts, statistics)
        state.counts[: shape.num_cells] = value_of(statistics.cell_count)
        state.counts[shape.num_cells : -1] = value_of(statistics.group_count)
        state.counts[-1] = np.abs(parts.gradients).max(initial=0.0)
        return state

    def write(self, state: State, statistics: CellStatistics, optimizer: keras.Optimizer) -> None:
        parts, shape = self.engine.parts(state), self.engine.shape
        self.write_weights(parts)
        self.write_slots(parts, optimizer)
        put(optimizer.iterations, state.iterations[0])
        self.write_means(parts, statistics)
        put(statistics.cell_count, state.counts[: shape.num_cells])
        put(statistics.group_count, state.counts[shape.num_cells : -1])

    def read_weights(self, parts: Parts) -> None:
        kernel, bias, logits = map(value_of, self.forest.weights)
        parts.matrix[:-1, : self.used] = self.nodes.by_level(kernel.swapaxes(0, 1))
        parts.matrix[-1, : self.used] = self.nodes.by_level(bias)
        parts.logits[:] = self.leaves.by_level(logits.transpose(2, 0, 1))

    def write_weights(self, parts: Parts) -> None:
        kernel, bias, logits = self.forest.weights
        matrix = self.nodes.by_tree(parts.matrix)
        put(kernel, matrix[:-1].swapaxes(0, 1))
        put(bias, matrix[-1])
        put(logits, self.leaves.by_tree(parts.logits).transpose(1, 2, 0))

    def read_slots(self, parts: Parts, optimizer: keras.Optimizer) -> None:
        """The optimizer's momentums and velocities; its variables are those of the training loop's packing."""
        for (matrix, logits), (of_matrix, of_logits) in zip(moments(parts), slots(optimizer), strict=False):
            matrix[:, : self.used] = value_of(of_matrix)[:, self.nodes.order]
            logits[:] = self.leaves.by_level(value_of(of_logits).transpose(2, 0, 1))

    def write_slots(self, parts: Parts, optimizer: keras.Optimizer) -> None:
        for (matrix, logits), (of_matrix, of_logits) in zip(moments(parts), slots(optimizer), strict=False):
            packed = np.zeros(of_matrix.shape, matrix.dtype)
            packed[:, self.nodes.order] = matrix[:, : self.used]
            put(of_matrix, packed)
            put(of_logits, self.leaves.by_tree(logits).transpose(1, 2, 0))

    def read_means(self, parts: Parts, statistics: CellStatistics) -> None:
        """The constraint's means; see `fairness.forest_levels` and `fairness.output_level` for their shapes."""
        values, kernel, bias, *by_leaf = map(value_of, statistics.means)
        if self.level == NODE:
            parts.values[:, : self.used] = self.nodes.by_level(values)
            parts.gradients[:, :-1, 0, : self.used] = self.nodes.by_level(kernel.swapaxes(1, 2))
            parts.gradients[:, -1, 0, : self.used] = self.nodes.by_level(bias)
        elif self.level == LEAF:
            parts.values[:] = self.leaves.by_level(values)
            by_depth = self.by_depth(parts)
            by_depth[:, :-1] = self.leaves.by_level(kernel.transpose(0, 2, 4, 1, 3)).swapaxes(-1, -2)
            by_depth[:, -1] = self.leaves.by_level(bias.transpose(0, 3, 1, 2)).swapaxes(-1, -2)
        else:
            parts.values[:] = values
            parts.gradients[:, :-1, :, : self.used] = self.nodes.by_level(kernel.transpose(0, 3, 1, 2, 4))
            parts.gradients[:, -1, :, : self.used] = self.nodes.by_level(bias)
            parts.leaf_gradients[:] = self.leaves.by_level(by_leaf[0].transpose(0, 1, 4, 2, 3))
        if statistics.keep_squares:
            order = self.square_order(parts)
            parts.squares[:, : len(order)] = value_of(statistics.square_mean)[:, order]

    def write_means(self, parts: Parts, statistics: CellStatistics) -> None:
        values, kernel, bias, *by_leaf = statistics.means
        if self.level == NODE:
            put(values, self.nodes.by_tree(parts.values))
            gradients = self.nodes.by_tree(parts.gradients[:, :, 0])  # (cell, input, tree, node)
            put(kernel, gradients[:, :-1].swapaxes(1, 2))
            put(bias, gradients[:, -1])
        elif self.level == LEAF:
            put(values, self.leaves.by_tree(parts.values))
            gradients = self.leaves.by_tree(self.by_depth(parts).swapaxes(-1, -2))  # (cell, input, depth, tree, leaf)
            put(kernel, gradients[:, :-1].transpose(0, 3, 1, 4, 2))
            put(bias, gradients[:, -1].transpose(0, 2, 3, 1))
        else:
            put(values, parts.values)
            gradients = self.nodes.by_tree(parts.gradients)  # (cell, input, quantity, tree, node)
            put(kernel, gradients[:, :-1].transpose(0, 2, 3, 1, 4))
            put(bias, gradients[:, -1])
            put(by_leaf[0], self.leaves.by_tree(parts.leaf_gradients).transpose(0, 1, 3, 4, 2))
        if statistics.keep_squares:
            order = self.square_order(parts)
            packed = np.zeros(statistics.square_mean.shape, parts.squares.dtype)
            packed[:, order] = parts.squares[:, : len(order)]
            put(statistics.square_mean, packed)

    def output_shares(self, state: State) -> np.ndarray | None:
        """Those of `shares`, (place, label); None of the output itself, whose gap they are of."""
        if self.level == OUTPUT:
            return None
        parts, seen = self.engine.parts(state), state.counts[: self.engine.shape.num_cells] > 0
        return self.shares.by_level(parts.values[seen].mean(axis=0), parts.logits)

    def offsets(self, offsets: np.ndarray) -> np.ndarray:
        """Of gaps, (contrast, place): in the engine's order, with none for idle slots."""
        if self.level == OUTPUT or not offsets.size:
            return offsets
        order = (self.leaves if self.level == LEAF else self.nodes).order
        result = np.zeros((len(offsets), sizes.py_func(self.engine.shape)[2]))
        result[:, : len(order)] = offsets[:, order]
        return result

    def by_depth(self, parts: Parts) -> np.ndarray:
        """The gradients of the LEAF level as (cell, input, leaf, depth)."""
        return parts.gradients.reshape(*parts.gradients.shape[:2], len(self.leaves.order), -1)

    def square_order(self, parts: Parts) -> np.ndarray:
        """Where the squares' values are in the training loop's packing."""
        orders = (self.nodes.order, self.leaves.order, np.arange(parts.squares.shape[1]))
        return orders[self.level]


def moments(parts: Parts) -> list[tuple[np.ndarray, np.ndarray]]:
    """First and second moments, each of the matrix and of the leaves."""
    return [(parts.matrix_first, parts.logits_first), (parts.matrix_second, parts.logits_second)]


def slots(optimizer: keras.Optimizer) -> list[Sequence[Any]]:
    """An optimizer's variables in the same order: of Adam two moments, of SGD one or none."""
    _, _, *rest = optimizer.variables  # iterations and learning rate
    if isinstance(optimizer, keras.optimizers.Adam):  # momentum and velocity of each variable
        return [rest[::2], rest[1::2]]
    return [rest] if rest else []


def settings_of(optimizer: keras.Optimizer) -> Optimizer:
    """An optimizer as the engine knows it, with the learning rate of now."""
    rate = float(value_of(optimizer.learning_rate))
    if isinstance(optimizer, keras.optimizers.Adam):
        return Optimizer(ADAM, rate, float(optimizer.beta_1), float(optimizer.beta_2), float(optimizer.epsilon), False)
    return Optimizer(SGD, rate, float(optimizer.momentum), 0.0, 0.0, bool(optimizer.nesterov))
