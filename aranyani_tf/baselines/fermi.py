"""FERMI (Lowy et al., 2021): a min–max game against the dependence of prediction and group.

The exponential Rényi mutual information between the prediction ŷ and the group s is the maximum over
matrices W (group, label) of E[ψ], with

    ψ = −Tr(W diag(ŷ) Wᵀ) + 2 Tr(W ŷ sᵀ P_s^(−1/2)) − 1
      = Σ_l ŷ_l·(2 W[a, l]/√p_a − ‖W[:, l]‖²) − 1        for a sample of group a.

Each step ascends in W and descends in the model: loss = task + λ·ψ. The shares p_a of the groups are
counted along the stream. Nothing else is remembered, so it works at any number of samples per step.
"""

import keras
import tensorflow as tf

from aranyani_tf.errors import ArgumentError
from aranyani_tf.fairness.notions import Notion
from aranyani_tf.learning.step import Step
from aranyani_tf.model.aranyani import Aranyani


@keras.saving.register_keras_serializable("aranyani_tf")
class EachGroup(Notion):
    """One cell for each group, however many there are."""

    def against_everybody(self, num_groups):
        return False


class Dependence:
    """What `CellStatistics` keeps: the matrix W, one row a group."""

    def __init__(self, num_labels, learning_rate, radius):
        self.num_labels, self.learning_rate, self.radius = num_labels, learning_rate, radius

    def shapes(self):
        return {"dependence": (self.num_labels,)}

    def pack(self, means):
        return means

    unpack = pack

    def quantities(self, outputs, losses):
        return [outputs[:, label] for label in range(self.num_labels)]


class FermiStep(Step):
    """Algorithm 1 with ψ in the place of the gaps."""

    def remember(self, memory, trace, labels, groups):
        """Counts the groups, and takes W a step up: ∇_W ψ = −2 W diag(ŷ) + 2 P_s^(−1/2) s ŷᵀ."""
        membership = self.membership(labels, groups, trace.outputs.dtype)  # (batch, group)
        count, _ = memory.counted(membership, self.decay, self.arrived(labels, groups))
        memory = memory._replace(cell_count=count)
        known = tf.reduce_sum(membership, axis=1, keepdims=True)  # (batch, 1)
        share = known / tf.maximum(tf.reduce_sum(known), 1.0)  # a mean over the samples with a group
        outputs = trace.outputs * share
        ascent = 2 * tf.matmul(self.scaled(memory, membership), outputs, transpose_a=True)
        ascent -= 2 * memory.values * tf.reduce_sum(outputs, axis=0)
        values = memory.values + self.constraint.learning_rate * ascent
        values = tf.clip_by_norm(values, self.constraint.radius)  # back into the ball
        return self.counted(memory._replace(values=values), groups), membership

    def scaled(self, memory, membership):
        """s P_s^(−1/2), (batch, group)."""
        shares = memory.cell_count / tf.maximum(tf.reduce_sum(memory.cell_count), 1.0)
        return membership / tf.cast(tf.sqrt(tf.maximum(shares, 1e-12)), membership.dtype)

    def slopes(self, memory, membership):
        """∂ψ/∂ŷ, (batch, label); 0 for a sample without a group."""
        known = tf.reduce_sum(membership, axis=1, keepdims=True)
        across = tf.matmul(self.scaled(memory, membership), memory.values)
        return 2 * across - known * tf.reduce_sum(memory.values**2, axis=0)

    def fairness(self, memory, membership, trace, fairness_weight):
        known = tf.maximum(tf.reduce_sum(membership), 1.0)
        slopes = fairness_weight * self.slopes(memory, membership) / known  # (batch, label)
        return [tf.einsum("bl,bl...->...", slopes, jacobian) for jacobian in trace.jacobians()]

    def penalty_of(self, memory, fairness_weight):
        """Not known from W alone; reported as 0."""
        return tf.zeros_like(fairness_weight)


@keras.saving.register_keras_serializable("aranyani_tf")
class Fermi(Aranyani):
    """FERMI on the forest, or on any predictor: `Fermi(predictor=linear(num_features))` is FERMI's own model.

    Args:
        dependence_rate: learning rate of W, which begins at 0.
        radius: of the ball, in the Frobenius norm, that W stays in.
        others: those of `Aranyani`, but for notion, constraint and penalty.
    """

    step_class = FermiStep

    def __init__(self, *arguments, dependence_rate=0.001, radius=10.0, **settings):
        super().__init__(*arguments, **({"notion": EachGroup(), "constraint": "output"} | settings))
        if self.num_labels == 1:
            raise ArgumentError("FERMI needs labels; num_labels=1 is regression")
        if self.chance:
            raise ArgumentError("chance has no effect on FERMI, which has no gaps")
        self.dependence_rate, self.radius = dependence_rate, radius

    def make_constraint(self, num_features):
        return Dependence(self.num_labels, self.dependence_rate, self.radius)

    def get_config(self):
        return super().get_config() | {"dependence_rate": self.dependence_rate, "radius": self.radius}


def linear(num_features, *, num_labels=2, dtype=None):
    """Logistic regression as a Keras model, beginning at zero."""
    return keras.Sequential([keras.Input((num_features,)), keras.layers.Dense(
        num_labels, activation="softmax", kernel_initializer="zeros", dtype=dtype)])
