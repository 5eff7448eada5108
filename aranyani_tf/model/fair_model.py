"""A learner, a constraint and their memory in a Keras model: what a chunk moves, and what a file keeps of it."""

from typing import Any, cast

import numpy as np
import pandas as pd
import tensorflow as tf

from aranyani_tf.engine.shares import OutputShares
from aranyani_tf.fairness.forest_levels import LeafConstraint, NodeConstraint
from aranyani_tf.fairness.objective import Objective
from aranyani_tf.fairness.statistics import CellStatistics
from aranyani_tf.interfaces import Constraint, Learner
from aranyani_tf.learning.chunk_walk import walk_model
from aranyani_tf.learning.forest_learner import ForestLearner
from aranyani_tf.learning.gradient_norms import GradientRecord
from aranyani_tf.learning.step import Step
from aranyani_tf.learning.target_scale import TargetScale, in_unit
from aranyani_tf.model.shared_model import in_turn, prefixed
from aranyani_tf.model.steered_model import SteeredModel
from aranyani_tf.variables import value_of


class FairModel(SteeredModel):
    """Base class of `Aranyani`, which says what the learner, the objective and the constraint are.

    Args:
        update_when, wait_for_all_groups, record_gradients, scale_target: those of `Aranyani`.
        others: those of `SteeredModel`.
    """

    def __init__(self, *, update_when: str, wait_for_all_groups: bool, record_gradients: bool, scale_target: bool,
                 **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.update_when, self.wait_for_all_groups = update_when, wait_for_all_groups
        self.record_gradients, self.scale_target = record_gradients, scale_target
        self.target_scale: TargetScale | None = None

    def make_learner(self) -> tuple[Learner, int]:
        """The predictor as the optimizer sees it, and how many features it gets."""
        raise NotImplementedError

    def make_objective(self) -> Objective:
        """Which gaps count."""
        raise NotImplementedError

    def make_constraint(self, objective: Objective, num_features: int) -> Constraint:
        """What is remembered."""
        raise NotImplementedError

    def build(self, input_shape: Any) -> None:
        if self.built:
            return
        shape = input_shape["features"] if isinstance(input_shape, dict) else input_shape
        self.num_features = int(shape[-1])
        with tf.init_scope():  # the first call may be `predict`, which is compiled
            self.build_parts()
            if self.compiled:
                self.optimizer.build(self.learner.variables)
        self.built = True

    def build_parts(self) -> None:
        self.learner, width = self.make_learner()
        self.objective = self.make_objective()
        self.statistics = CellStatistics(
            self.objective.num_cells, self.num_groups, self.make_constraint(self.objective, width),
            keep_squares=self.objective.chance > 0, name="statistics", dtype=self.dtype_policy)
        self.statistics.build()
        if self.num_labels == 1 and self.scale_target:
            self.target_scale = TargetScale(name="target_scale")
            self.target_scale.build()
        self.gradient_record = GradientRecord(self.learner.names, self.compute_dtype, self.samples_per_step)
        self.put_offsets()

    @property
    def step(self) -> Step:
        """Algorithm 1 with this model's settings, as a pure function."""
        return Step(
            learner=self.learner, constraint=self.statistics.constraint, objective=self.objective,
            update_when=self.update_when, wait_for_all_groups=self.wait_for_all_groups,
            record_gradients=self.record_gradients, all_known=self.all_known)

    def learn_rows(self, features: tf.Tensor, labels: tf.Tensor, groups: tf.Tensor, num_rows: tf.Tensor,
                   *row_weights: tf.Tensor) -> tf.Tensor:
        outputs, norms = self.walk_rows(self.step, features, labels, groups, num_rows, *row_weights)
        if self.record_gradients:
            self.gradient_record.write(norms, num_rows, features.shape[0])
        return outputs

    def walk_rows(self, step: Step, features: tf.Tensor, labels: tf.Tensor, groups: tf.Tensor, num_rows: tf.Tensor,
                  *row_weights: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Takes rows through a step, in order: what was predicted for each before, and the norms of the gradients."""
        before = None
        if self.target_scale is not None:
            labels, before = self.target_scale.scaled(labels)
        outputs, norms, penalty = walk_model(
            step, self.statistics, self.optimizer, self._fairness_weight, (features, labels, groups, *row_weights),
            num_rows, self.samples_per_step)
        self.fairness_penalty.update_state(penalty)
        return (outputs if before is None else in_unit(outputs, *before)), norms

    def learning_methods(self) -> list[Any]:
        return [*super().learning_methods(), self.statistics.constraint.remember]

    def moving(self) -> list[Any]:
        every = [*self.learner.variables, *self.learner.state, *self.optimizer.variables, *self.weights]
        return list({id(variable): variable for variable in every}.values())

    def variant(self) -> tuple:
        return (*super().variant(), self.record_gradients, self.offsets.are_added)

    def penalty_now(self) -> tf.Tensor:
        return self.statistics.constraint.penalty(self.statistics.read(), self._fairness_weight)

    def before_chunks(self) -> None:
        if self.record_gradients:
            self.gradient_record.prepare(self.chunk_size)

    def after_chunk(self, told: str = "this chunk") -> None:
        super().after_chunk(told)
        self.steer_by_counts()
        if self.record_gradients:
            self.keep_norms()

    def num_values(self) -> int | None:
        return int(np.prod(self.statistics.means[0].shape[1:])) if hasattr(self, "statistics") else None

    def output_shares(self) -> np.ndarray | None:
        constraint = self.statistics.constraint
        if not isinstance(constraint, NodeConstraint | LeafConstraint):
            return None
        forest = cast(ForestLearner, constraint.learner).forest
        seen = value_of(self.statistics.cell_count) > 0
        shares = OutputShares(forest.num_trees, forest.height, by_leaf=isinstance(constraint, LeafConstraint))
        return shares.by_tree(value_of(self.statistics.means[0])[seen].mean(axis=0), value_of(forest.leaf_logits))

    def keep_norms(self) -> None:
        """Takes the norms of a chunk out of the program's buffer."""
        self.gradient_record.keep(self.chunk_size)

    def other_remedies(self) -> str:
        return f"fairness_weight (now {self.fairness_weight:g})"

    @property
    def gradient_norms(self) -> pd.DataFrame:
        """Norms of the gradients, one row a step (`record_gradients=True`), as a DataFrame."""
        self.settle()
        return (self.gradient_record if self.built else GradientRecord()).frame()

    @in_turn
    def forget_past(self) -> None:
        """Forgets the running means and how many rows they are of, for a stream that has changed.

        What was learned stays: the weights, the optimizer, λ and the metrics. So does which groups were seen at all,
        so that `wait_for_all_groups` does not wait again. In a live session it is `live.forget_past()`.
        """
        self.require_own_state()
        if self.built:
            with self.state:
                self.statistics.forget_means()

    def sealed(self, as_loaded: bool = False) -> dict[str, Any]:
        """Counts that were loaded may have been reset since, by whoever loaded them; so they are kept as they came."""
        found = {"cell_count": self.statistics.loaded_count if as_loaded else self.statistics.cell_count.numpy()}
        if self.compiled:  # an optimizer can be compared only with one of the same kind
            found[f"iterations_of_{len(self.optimizer.variables)}"] = self.optimizer.iterations.numpy()
        return found

    def further_state(self) -> dict[str, Any]:
        """The metrics so far, and where random numbers go on."""
        return self.steering_state() | prefixed("progress_", self.progress.store()) | {
            f"random_{index}": variable.numpy() for index, variable in enumerate(self.random_state())}

    def take_further_state(self, values: dict[str, np.ndarray]) -> None:
        if not self.built:
            return
        self.progress.load({name.removeprefix("progress_"): value for name, value in values.items()})
        self.take_steering_state(values)
        for index, variable in enumerate(self.random_state()):
            if f"random_{index}" in values:
                variable.assign(values[f"random_{index}"])

    def random_state(self) -> list:
        """The seeds of dropout and the like, which Keras does not save."""
        saved = set(map(id, self.weights))
        return [variable for variable in self.learner.state if id(variable) not in saved]
