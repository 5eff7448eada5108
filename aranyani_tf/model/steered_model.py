"""λ of a model: a number that stands still, or one that a `ParityTarget` moves along the stream.

With a target the gaps have offsets too, which `control.correction` explains.
"""

from typing import Any

import numpy as np
import pandas as pd
import tensorflow as tf

from aranyani_tf.arguments import require_fairness_weight
from aranyani_tf.control.correction import Correction
from aranyani_tf.control.decisions import MEASURED_BY, gap_name
from aranyani_tf.control.parity_target import ParityTarget, require_all_groups
from aranyani_tf.control.steering import Steering
from aranyani_tf.errors import ArgumentError
from aranyani_tf.fairness.notions import Notion
from aranyani_tf.fairness.objective import Offsets
from aranyani_tf.forest.packing import pack_nodes
from aranyani_tf.model.online_model import OnlineModel
from aranyani_tf.model.shared_model import prefixed

CORRECTED = ("node", "leaf", "output")  # levels of which it is known what they make of the output


class SteeredModel(OnlineModel):
    """Base class of `FairModel`.

    Args:
        fairness_weight: λ, or a `ParityTarget`, by which it moves.
        notion: of which a target is about the gap of decisions.
        level: the constraint's name, by which it is known what its gaps make of the output's.
        others: those of `OnlineModel`.
    """

    def __init__(self, *, fairness_weight: float | ParityTarget, notion: Notion, level: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        # Not a Keras weight, so that copying weights between models does not copy λ.
        self._fairness_weight = tf.Variable(0.0, dtype=self.compute_dtype, trainable=False)
        self.notion, self.level, self.offsets = notion, level, Offsets()
        self.parity_target: ParityTarget | None = None
        self.steering: Steering | None = None  # of λ, where there is a target
        self.fairness_weight = fairness_weight

    @property
    def fairness_weight(self) -> float:
        """λ as it stands. It may be set to a number or a `ParityTarget`; that does not compile anything again."""
        return self._fairness_weight_set

    @fairness_weight.setter
    def fairness_weight(self, value: float | ParityTarget) -> None:
        goal = value if isinstance(value, ParityTarget) else None
        if goal is not None:
            require_all_groups(getattr(self, "update_when", "always"))  # which is not set yet while the model is made
        steering = None if goal is None else self.make_steering(goal)
        self.put_fairness_weight(value if steering is None else steering.weight)
        self.parity_target, self.steering = goal, steering
        self.put_offsets()

    def make_steering(self, goal: ParityTarget) -> Steering:
        told: dict[str, int] = {"num_labels": self.num_labels, "num_groups": self.num_groups,
                                "positive_label": self.positive_label}
        metric, correction = goal.metric or gap_name(self.notion), None
        by_decisions = isinstance(self.notion, tuple(MEASURED_BY)) and gap_name(self.notion) == metric
        is_known = self.level in CORRECTED and not self.own_method("make_constraint")
        if goal.correction and is_known and by_decisions and self.num_labels > 1:
            correction = Correction(self.notion, metric, **told)
        steering = Steering(goal, metric, correction=correction, **told)
        steering.before[:] = self.progress.prequential.counts.numpy()
        return steering

    def put_offsets(self) -> None:
        """The steering's offsets, if it has any and the model is built, for TensorFlow's step."""
        correction = None if self.steering is None else self.steering.correction
        num_values = None if correction is None else self.num_values()
        self.offsets.are_added = num_values is not None
        if correction is None or num_values is None:
            return
        correction.begin(num_values)
        offsets = tf.constant(correction.spread, self.compute_dtype)
        if self.level != "output":
            offsets = pack_nodes(offsets[:, None])  # of all trees, as the loop has them
        if self.offsets.variable is None:
            self.offsets.variable = tf.Variable(offsets, trainable=False)
        else:
            self.offsets.variable.assign(offsets)

    def put_fairness_weight(self, value: Any) -> None:
        require_fairness_weight(value, self.compute_dtype)
        self._fairness_weight_set = float(value)
        self._fairness_weight.assign(value)

    def steered_to(self, value: float) -> None:
        """λ as a live session has it, which writes it into the variable with all the rest."""
        self._fairness_weight_set = value

    @property
    def fairness_weight_record(self) -> pd.DataFrame:
        """λ and the gap that moved it along the stream, of a model with a `ParityTarget`; some hundred rows of it."""
        if self.steering is None:
            raise ArgumentError(f"λ stands still at {self.fairness_weight:g}: there is a record where fairness_weight "
                                "is a ParityTarget")
        self.settle()
        return self.steering.frame()

    def largest_chunk(self) -> int:
        return super().largest_chunk() if self.steering is None else self.steering.goal.every

    def take_steering(self, steering: Steering | None) -> None:
        """λ, and what moved it, after rows that went well."""
        if steering is not None:
            self.steering = steering
            self.put_fairness_weight(steering.weight)
            self.put_offsets()

    def steer_by_counts(self) -> None:
        """λ after a chunk of TensorFlow's step, whose decisions the metrics have counted."""
        if self.steering is not None:
            counts = self.progress.prequential.counts.numpy()
            self.steering.take_table(counts - self.steering.counts, self.output_shares)
            self.put_fairness_weight(self.steering.weight)
            self.put_offsets()

    def num_values(self) -> int | None:
        """How many are compared between cells; None before the model is built."""
        raise NotImplementedError

    def output_shares(self) -> np.ndarray | None:
        """How much of the output's gap each constrained value makes; None where it is the output's own."""
        raise NotImplementedError

    def steering_state(self) -> dict[str, Any]:
        """What a file keeps of λ's way."""
        return {} if self.steering is None else prefixed("steering_", self.steering.store())

    def take_steering_state(self, values: dict[str, np.ndarray]) -> None:
        """What `steering_state` gave, among other things."""
        found = {name.removeprefix("steering_"): value for name, value in values.items()
                 if name.startswith("steering_")}
        if self.steering is not None and found:
            self.steering.load(found)
            self.put_fairness_weight(self.steering.weight)
            self.put_offsets()
