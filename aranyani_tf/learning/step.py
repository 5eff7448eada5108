"""One step of the online learner (Algorithm 1) as a pure function.

Weights, running means and samples go in; predictions, gradients and new running means come out.
Nothing is assigned here, so the same function serves one model or a grid of them.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from aranyani_tf.fairness.constraints import MANY, share_out
from aranyani_tf.learning.forest_learner import is_informative, is_labelled


class Outcome(NamedTuple):
    """What a step gives."""

    outputs: tf.Tensor  # (batch, label), predicted before anything was learned
    gradients: tuple  # for each variable of the learner
    state: tuple  # the predictor's or encoder's non-trainable state
    memory: tuple  # the running means
    update: tf.Tensor  # whether the weights should move
    norms: tf.Tensor  # (3·weight,), of the task's gradient, the fairness gradient and the sum, if recorded


@dataclass(frozen=True)
class Step:
    """The step's settings; calling it runs the step."""

    learner: object
    constraint: object
    notion: object
    penalty: object
    num_labels: int
    num_groups: int
    online: bool = True
    update_when: str = "always"
    wait_for_all_groups: bool = False
    decay: float | None = None
    forget: str = "rows"  # or "time"
    chance: float = 0.0
    record_gradients: bool = False
    all_known: bool = False  # every sample has a label and a group: every step moves the weights

    @property
    def always_updates(self):
        """Whether it is sure beforehand that every step moves the weights."""
        return self.all_known and self.update_when == "always" and not self.wait_for_all_groups

    def __call__(self, weights, state, memory, fairness_weight, inputs, labels, groups):
        trace = self.learner.trace(weights, state, inputs, labels, self.constraint.quantities)
        if self.update_when == "predicted_positive":  # what is not revealed is missing
            revealed = tf.equal(tf.argmax(trace.said, axis=-1), 1)
            labels, groups = tf.where(revealed, labels, -1), tf.where(revealed, groups, -1)
        if self.always_updates and labels.shape[0] == 1:
            labelled = tf.ones_like(trace.losses)
        else:
            labelled = tf.cast(is_labelled(labels), trace.losses.dtype)  # (batch,)

        # Task gradient: the mean over the labelled samples.
        task = trace.gradients(labelled / tf.maximum(tf.reduce_sum(labelled), 1.0))

        # Fairness gradient, from the running means after this step's samples.
        memory, membership = self.remember(memory, trace, labels, groups)
        fairness = self.fairness(memory, membership, trace, fairness_weight)

        total = [t + f for t, f in zip(task, fairness, strict=False)] + task[len(fairness):]
        return Outcome(
            outputs=trace.said, gradients=tuple(total), state=tuple(trace.state), memory=memory,
            update=self.update(memory, membership, labelled, fairness_weight),
            norms=self.norms(task, fairness))

    def fairness(self, memory, membership, trace, fairness_weight):
        """λ Σ_c H′(F_c)·∇F_c, for the first variables of the learner or for all."""
        slopes = fairness_weight * self.penalty.gradient(self.gaps(memory))  # (constraint, value)
        coefficients = combine(self.contrasts.T, slopes)  # (cell, value)
        return self.constraint.fairness_gradients(coefficients, memory.gradients)

    def remember(self, memory, trace, labels, groups):
        """The running means with this step's samples; offline they are of these samples alone."""
        if not self.online:
            blank = tf.nest.map_structure(tf.zeros_like, memory)
            memory = blank._replace(group_count=memory.group_count)
        membership = self.membership(labels, groups, trace.outputs.dtype)
        count, shares = memory.counted(membership, self.decay, self.arrived(labels, groups))
        values = self.constraint.values(trace)  # (batch, value)
        memory = memory.blended(
            shares, share_out(shares, values), self.constraint.gradients(trace, shares),
            [share_out(shares, values**2)] if self.chance else [])
        return self.counted(memory._replace(cell_count=count), groups), membership

    def arrived(self, labels, groups):
        """(batch,), which samples make all cells forget; None if each cell forgets with its own."""
        return None if self.forget == "rows" else is_informative(labels, groups)

    def membership(self, labels, groups, dtype):
        """(batch, cell), 1 where a sample counts for a cell."""
        return self.notion.membership(
            labels, groups, num_labels=self.num_labels, num_groups=self.num_groups, dtype=dtype)

    def counted(self, memory, groups):
        """Counts the groups, where an update may have to wait for them."""
        if not self.wait_for_all_groups:
            return memory
        arrived = tf.one_hot(groups, self.num_groups, dtype=memory.group_count.dtype)
        return memory._replace(group_count=memory.group_count + tf.reduce_sum(arrived, axis=0))

    @property
    def contrasts(self):
        """(constraint, cell)."""
        return self.notion.contrasts(self.num_labels, self.num_groups)

    def penalty_of(self, memory, fairness_weight):
        """λ Σ H(F) of the running means as they stand."""
        return fairness_weight * tf.reduce_sum(self.penalty.value(self.gaps(memory)))

    def gaps(self, memory):
        """F, (constraint, value); 0 for a contrast with a cell that nobody was in yet.

        With `chance` = z the gap is z standard errors shorter: what may be chance counts as none.
        """
        contrasts = self.contrasts
        seen = tf.reduce_all((memory.cell_count > 0)[None, :] | (contrasts == 0), axis=1)
        gaps = combine(contrasts, memory.values)
        if self.chance:
            left = tf.abs(gaps) - self.chance * memory.deviations(contrasts)
            gaps = tf.sign(gaps) * tf.maximum(left, 0.0)
        return tf.where(seen[:, None], gaps, tf.zeros_like(gaps))

    def update(self, memory, membership, labelled, fairness_weight):
        """Whether there is something to learn, and whether it may be learned yet."""
        if self.always_updates:
            return tf.constant(True)
        fair = fairness_weight > 0
        update = tf.reduce_any(labelled > 0) | (fair & tf.reduce_any(membership > 0))
        if self.wait_for_all_groups:
            update &= tf.reduce_all(memory.group_count > 0) | ~fair
        return update

    def norms(self, task, fairness):
        """Norms of both gradients and of their sum, weight by weight of the predictor (not of an encoder)."""
        if not self.record_gradients:
            return tf.zeros((0,), task[0].dtype)
        task = task[: self.learner.num_packed]
        fairness = [*fairness, *(tf.zeros_like(gradient) for gradient in task[len(fairness):])]
        total = [t + f for t, f in zip(task, fairness, strict=True)]
        return tf.stack([norm for part in (task, fairness, total) for norm in self.learner.norms(part)])

    @property
    def num_norms(self):
        return 3 * len(self.learner.names) if self.record_gradients else 0


def missing_label(labels):
    return np.nan if labels.dtype.is_floating else -1


def combine(matrix, values):
    """A sparse, constant matrix times (k, value); a small one term by term, so that it fuses."""
    if max(matrix.shape) >= MANY:
        return tf.matmul(tf.constant(matrix, values.dtype), values)
    rows = []
    for row in matrix:
        terms = [float(row[k]) * values[k] for k in np.flatnonzero(row)]
        rows.append(sum(terms[1:], terms[0]))
    return tf.stack(rows)
