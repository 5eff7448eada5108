"""One step of the online learner (Algorithm 1) as a pure function.

Weights, memory and samples go in; predictions, gradients and the new memory come out.
Nothing is assigned here, so the same function serves one model or a grid of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import tensorflow as tf

from aranyani_tf.fairness.objective import Objective
from aranyani_tf.fairness.statistics import Memory
from aranyani_tf.interfaces import Constraint, Learner
from aranyani_tf.labels import is_labelled


class Outcome(NamedTuple):
    """What a step gives."""

    outputs: tf.Tensor  # (batch, label), predicted before anything was learned
    gradients: tuple  # for each variable of the learner
    state: tuple  # the predictor's or encoder's non-trainable state
    memory: Memory
    update: tf.Tensor  # whether the weights should move
    norms: tf.Tensor  # (3·weight,), of the task's gradient, the fairness gradient and the sum, if recorded


@dataclass(frozen=True)
class Step:
    """The step's settings; calling it runs the step."""

    learner: Learner
    constraint: Constraint
    objective: Objective
    update_when: str = "always"
    wait_for_all_groups: bool = False
    record_gradients: bool = False
    all_known: bool = False  # every sample has a label and a group: every step moves the weights

    @property
    def always_updates(self) -> bool:
        """Whether it is sure beforehand that every step moves the weights."""
        return self.all_known and self.update_when == "always" and not self.wait_for_all_groups

    def __call__(self, weights: Sequence[tf.Tensor], state: Sequence[tf.Tensor], memory: Memory,
                 fairness_weight: tf.Tensor, inputs: tf.Tensor, labels: tf.Tensor, groups: tf.Tensor,
                 row_weights: tf.Tensor | None = None) -> Outcome:
        """Samples (batch, …), and what they weigh, float64 and more than 0; None is 1 each."""
        trace = self.learner.trace(weights, state, inputs, labels, self.constraint.quantities)
        if self.update_when == "predicted_positive":  # what is not revealed is missing
            revealed = tf.equal(tf.argmax(trace.said, axis=-1), 1)
            labels, groups = tf.where(revealed, labels, -1), tf.where(revealed, groups, -1)
        if self.always_updates and labels.shape[0] == 1:
            labelled = tf.ones_like(trace.losses)
        else:
            labelled = tf.cast(is_labelled(labels), trace.losses.dtype)  # (batch,)

        # Task gradient: the mean over the labelled samples, each times its weight.
        upstream = labelled / tf.maximum(tf.reduce_sum(labelled), 1.0)
        if row_weights is not None:
            upstream *= tf.cast(row_weights, upstream.dtype)
        task = trace.gradients(upstream)

        # Fairness gradient, from the memory after this step's samples.
        membership = self.objective.membership(labels, groups, trace.said)
        weighed = () if row_weights is None else (row_weights,)
        memory = self.constraint.remember(memory, trace, membership, labels, groups, *weighed)
        memory = self.with_groups(memory, groups)
        fairness = self.constraint.fairness_gradients(memory, trace, membership, fairness_weight)

        total = [t + f for t, f in zip(task, fairness, strict=False)] + task[len(fairness):]
        return Outcome(
            outputs=trace.said, gradients=tuple(total), state=tuple(trace.state), memory=memory,
            update=self.update(memory, membership, labelled, fairness_weight),
            norms=self.norms(task, fairness))

    def with_groups(self, memory: Memory, groups: tf.Tensor) -> Memory:
        """Counts the groups, where an update may have to wait for them."""
        if not self.wait_for_all_groups:
            return memory
        arrived = tf.one_hot(groups, self.objective.num_groups, dtype=memory.group_count.dtype)
        return memory._replace(group_count=memory.group_count + tf.reduce_sum(arrived, axis=0))

    def update(self, memory: Memory, membership: tf.Tensor, labelled: tf.Tensor,
               fairness_weight: tf.Tensor) -> tf.Tensor:
        """Whether there is something to learn, and whether it may be learned yet."""
        if self.always_updates:
            return tf.constant(True)
        fair = fairness_weight > 0
        update = tf.reduce_any(labelled > 0) | (fair & tf.reduce_any(membership > 0))
        if self.wait_for_all_groups:
            update &= tf.reduce_all(memory.group_count > 0) | ~fair
        return update

    def norms(self, task: Sequence[tf.Tensor], fairness: Sequence[tf.Tensor]) -> tf.Tensor:
        """Norms of both gradients and of their sum, weight by weight of the predictor (not of an encoder)."""
        if not self.record_gradients:
            return tf.zeros((0,), task[0].dtype)
        task = task[: self.learner.num_packed]
        fairness = [*fairness, *(tf.zeros_like(gradient) for gradient in task[len(fairness):])]
        total = [t + f for t, f in zip(task, fairness, strict=True)]
        return tf.stack([norm for part in (task, fairness, total) for norm in self.learner.norms(part)])

    @property
    def num_norms(self) -> int:
        return 3 * len(self.learner.names) if self.record_gradients else 0
