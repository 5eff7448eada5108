"""The compiled walk for one model's settings, and the state that it moves."""

from dataclasses import dataclass
from typing import cast

import keras
import numpy as np
import tensorflow as tf

from aranyani_tf.engine import layout
from aranyani_tf.engine.coverage import LEVELS
from aranyani_tf.engine.layout import NODE, OUTPUT, Parts, Shape
from aranyani_tf.engine.optimizers import ADAM, Optimizer
from aranyani_tf.engine.passes import SIGMOID, SMOOTHERSTEP
from aranyani_tf.engine.walk import NO_OFFSETS, Settings, look, plan_of, walk
from aranyani_tf.engine.work import work_sizes
from aranyani_tf.errors import ArgumentError
from aranyani_tf.fairness.notions import NOTIONS
from aranyani_tf.fairness.output_level import OutputConstraint
from aranyani_tf.fairness.penalties import Huber
from aranyani_tf.forest.oblique_forest import ObliqueForest
from aranyani_tf.learning.forest_learner import ForestLearner
from aranyani_tf.learning.step import Step

NO_KINDS, NO_WEIGHTS = np.zeros(0, np.int64), np.zeros(0)
NO_OPTIMIZER = Optimizer(ADAM, 0.0)


@dataclass
class State:
    """What learning moves: see `layout.Parts` and `walk`."""

    numbers: np.ndarray
    counts: np.ndarray  # of cells, of groups, and the largest entry that a mean gradient can have
    iterations: np.ndarray  # (1,)

    def copy(self) -> "State":
        numbers = aligned(self.numbers.size, self.numbers.dtype)
        numbers[:] = self.numbers
        return State(numbers, self.counts.copy(), self.iterations.copy())

    def take(self, other: "State") -> None:
        """Becomes what the other is, in place."""
        self.numbers[:], self.counts[:], self.iterations[:] = other.numbers, other.counts, other.iterations

    @property
    def is_finite(self) -> bool:
        return bool(np.isfinite(self.numbers).all())


class ForestEngine:
    """What a forest says, whatever it learns by."""

    def __init__(self, forest: ObliqueForest) -> None:
        self.forest, self.dtype = forest, np.dtype(forest.compute_dtype)
        self.shape = Shape(
            num_trees=forest.num_trees, height=forest.height, num_inputs=int(forest.node_kernel.shape[1]) + 1,
            num_labels=forest.num_labels, num_cells=0, num_groups=0, level=NODE, num_quantities=0, keeps_squares=False)
        self.settings = Settings(
            activation=SIGMOID if forest.activation is keras.activations.sigmoid else SMOOTHERSTEP, samples_per_step=1,
            fairness_weight=0.0, knee=np.inf, slope=0.0, chance=0.0, decay=0.0, by_time=False, online=True,
            compares_loss=False, positives_only=False, waits=False, records=False)
        self.contrasts, self.table = np.zeros((0, 0)), np.zeros((0, 0))

    def blank(self) -> State:
        """A state of zeros."""
        return State(aligned(layout.num_numbers(self.shape), self.dtype),
                     np.zeros(self.shape.num_cells + self.shape.num_groups + 1), np.zeros(1, np.int64))

    def parts(self, state: State) -> Parts:
        return layout.parts_of.py_func(self.shape, state.numbers)

    def work(self, samples_per_step: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Arrays for a walk's own work; whoever walks at the same time needs others."""
        real, wide = work_sizes.py_func(self.shape, samples_per_step)
        return aligned(real, self.dtype), np.zeros(wide)

    def predict(self, state: State, features: np.ndarray) -> np.ndarray:
        """What the forest says about rows that were checked: (row, label)."""
        plan = plan_of(self.shape, self.settings._replace(samples_per_step=1), NO_OPTIMIZER)
        outputs = np.empty((len(features), self.shape.num_labels), self.dtype)
        look(*plan, state.numbers, *self.work(), only_read(features, self.dtype), outputs)
        return outputs


class RowEngine(ForestEngine):
    """The compiled walk for one model's settings; what it learns is in a `State`, which others hold.

    Args:
        step: the model's, which it does once more.
        samples_per_step: how many rows share an update.
    """

    def __init__(self, step: Step, samples_per_step: int) -> None:
        learner, constraint, objective = cast(ForestLearner, step.learner), step.constraint, step.objective
        super().__init__(learner.forest)
        self.objective, level = objective, LEVELS.index(type(constraint))
        self.shape = self.shape._replace(
            num_cells=objective.num_cells, num_groups=objective.num_groups, level=level,
            num_quantities=len(cast(OutputConstraint, constraint).columns) if level == OUTPUT else 0,
            keeps_squares=objective.chance > 0)
        penalty = objective.penalty
        if isinstance(penalty, Huber):  # L2 has no knee
            self.settings = self.settings._replace(knee=float(penalty.delta), slope=float(penalty.slope))
        self.settings = self.settings._replace(
            samples_per_step=samples_per_step, chance=float(objective.chance), decay=float(objective.decay or 0.0),
            by_time=objective.forget == "time", online=objective.online, compares_loss=objective.notion.compares_loss,
            positives_only=step.update_when == "predicted_positive", waits=step.wait_for_all_groups)
        self.contrasts = np.ascontiguousarray(objective.contrasts, "float64")
        # Of a regression a notion of one's own may look at the target itself: then it is asked about every row.
        self.asks_notion = objective.num_labels == 1 and type(objective.notion) not in NOTIONS.values()
        self.table = self.kinds_table()
        if self.contrasts.ndim != 2 or self.contrasts.shape[1] != objective.num_cells:
            raise ArgumentError(f"{type(objective.notion).__name__}.contrasts must be (constraint, cell) with "
                                f"{objective.num_cells} cells, got shape {self.contrasts.shape}")

    def kinds_table(self) -> np.ndarray:
        """What rows count for the cells, (kind, cell): for every label and group, −1 among them."""
        groups = np.arange(-1, self.shape.num_groups)
        labels = [np.nan, 0.0] if self.shape.num_labels == 1 else range(-1, self.shape.num_labels)
        every = [array.ravel() for array in np.meshgrid(np.array(labels), groups, indexing="ij")]
        return self.members(*every)

    def members(self, labels: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """(row, cell), as the notion has it."""
        outputs = tf.zeros((len(labels), self.shape.num_labels), self.dtype)
        labels = labels.astype(self.dtype if self.shape.num_labels == 1 else "int32")
        found = self.objective.membership(tf.constant(labels), tf.constant(groups.astype("int32")), outputs)
        if found.shape != (len(labels), self.shape.num_cells):  # which the compiled walk does not look at
            raise ArgumentError(f"{type(self.objective.notion).__name__}.membership must be (batch, cell) with "
                                f"{self.shape.num_cells} cells, got shape {tuple(found.shape)}")
        return plain(found, "float64")

    def learn(self, state: State, optimizer: Optimizer, fairness_weight: float, features: np.ndarray,
              labels: np.ndarray, groups: np.ndarray, row_weights: np.ndarray = NO_WEIGHTS, *,
              records: bool = False, offsets: np.ndarray = NO_OFFSETS) -> tuple[np.ndarray, np.ndarray, float]:
        """Walks rows that were checked, whatever becomes of the state.

        Args:
            row_weights: (row,), more than 0; empty if each weighs 1.
            offsets: what is added to the gaps, (contrast, value); or empty.

        Returns:
            what was predicted for each row before (row, label), norms of the gradients (step, 9), the penalty.
        """
        num_rows = len(features)
        outputs = np.empty((num_rows, self.shape.num_labels), self.dtype)
        norms = np.empty((-(-num_rows // self.settings.samples_per_step) if records else 0, 9), self.dtype)
        settings = self.settings._replace(fairness_weight=float(fairness_weight), records=records)
        table, kinds = self.kinds_of(labels, groups)
        _, penalty = walk(*plan_of(self.shape, settings, optimizer, offsets), state.numbers, state.counts,
                          state.iterations, *self.work(settings.samples_per_step), self.contrasts, table,
                          only_read(features, self.dtype), plain(labels, "float64"), plain(groups, "int32"), kinds,
                          plain(row_weights, "float64"), False, outputs, norms)
        return outputs, norms, penalty

    def kinds_of(self, labels: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The table of kinds and these rows' kinds in it; none if they follow from label and group."""
        if not self.asks_notion:
            return self.table, NO_KINDS
        table = np.concatenate([self.table[:1], self.members(labels, groups)])  # kind 0: nothing is known
        return table, np.arange(1, len(labels) + 1)


def plain(array: np.ndarray, dtype: str | np.dtype) -> np.ndarray:
    """An array that the compiled walk knows: another type, order or flag would be compiled anew."""
    return np.require(array, dtype, ["C", "A", "W"])


def only_read(rows: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Features as the walk knows them: it does not write to them, so that TensorFlow's own need not be copied."""
    view = np.require(rows, dtype, ["C", "A"]).view()
    view.flags.writeable = False
    return view


def aligned(size: int, dtype: np.dtype) -> np.ndarray:
    """Zeros that begin with a cache line."""
    spare = layout.LINE
    block = np.zeros(size + spare, dtype)
    start = -(block.ctypes.data // dtype.itemsize) % spare
    return block[start : start + size]
