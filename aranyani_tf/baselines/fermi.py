"""FERMI (Lowy et al., 2021): a min–max game against the dependence of prediction and group.

The exponential Rényi mutual information between the prediction ŷ and the group s is the maximum over
matrices W (group, label) of E[ψ], with

    ψ = −Tr(W diag(ŷ) Wᵀ) + 2 Tr(W ŷ sᵀ P_s^(−1/2)) − 1
      = Σ_l ŷ_l·(2 W[a, l]/√p_a − ‖W[:, l]‖²) − 1        for a sample of group a.

Each step ascends in W and descends in the model: loss = task + λ·ψ. The shares p_a of the groups are
counted along the stream. Nothing else is remembered, so it works at any number of samples per step.
"""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from aranyani_tf.errors import ArgumentError
from aranyani_tf.fairness.notions import Notion
from aranyani_tf.fairness.objective import Objective
from aranyani_tf.fairness.statistics import Memory
from aranyani_tf.fairness.sums import share_out
from aranyani_tf.interfaces import Trace
from aranyani_tf.model.aranyani import Aranyani


@keras.saving.register_keras_serializable("aranyani_tf")
class EachGroup(Notion):
    """One cell for each group, however many there are."""

    def against_everybody(self, num_groups: int) -> bool:
        return False


class Dependence:
    """What FERMI keeps: the matrix W, one row a group, and the mean output of each group, which is only reported.

    Args:
        objective: its notion has one cell for each group; it has no gaps, and no use for a penalty.
        learning_rate: of W.
        radius: of the ball that W stays in.
    """

    added_later = ("output_mean",)  # files of version 0.1 do not have it

    def __init__(self, objective: Objective, learning_rate: float, radius: float) -> None:
        self.objective, self.learning_rate, self.radius = objective, learning_rate, radius

    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {"dependence": (self.objective.num_labels,), "output_mean": (self.objective.num_labels,)}

    def pack(self, means: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        return list(means)

    unpack = pack

    def quantities(self, outputs: tf.Tensor, losses: tf.Tensor) -> list[tf.Tensor]:
        return [outputs[:, label] for label in range(self.objective.num_labels)]

    def remember(self, memory: Memory, trace: Trace, membership: tf.Tensor, labels: tf.Tensor,
                 groups: tf.Tensor) -> Memory:
        """Counts the groups, and takes W a step up: ∇_W ψ = −2 W diag(ŷ) + 2 P_s^(−1/2) s ŷᵀ."""
        count, shares = self.objective.counted(memory, membership, labels, groups)
        memory = memory._replace(cell_count=count)
        dependence, output_mean = memory.kept
        known = tf.reduce_sum(membership, axis=1, keepdims=True)  # (batch, 1)
        share = known / tf.maximum(tf.reduce_sum(known), 1.0)  # a mean over the samples with a group
        outputs = trace.outputs * share
        ascent = 2 * tf.matmul(self.scaled(memory, membership), outputs, transpose_a=True)
        ascent -= 2 * dependence * tf.reduce_sum(outputs, axis=0)
        dependence = dependence + self.learning_rate * ascent
        dependence = tf.clip_by_norm(dependence, self.radius)  # back into the ball
        output_mean += share_out(shares, trace.outputs) - tf.reduce_sum(shares, axis=0)[:, None] * output_mean
        return memory._replace(kept=(dependence, output_mean))

    def shares_of(self, memory: Memory) -> tf.Tensor:
        """p_a, (group,)."""
        return memory.cell_count / tf.maximum(tf.reduce_sum(memory.cell_count), 1.0)

    def scaled(self, memory: Memory, membership: tf.Tensor) -> tf.Tensor:
        """s P_s^(−1/2), (batch, group)."""
        return membership / tf.cast(tf.sqrt(tf.maximum(self.shares_of(memory), 1e-12)), membership.dtype)

    def slopes(self, memory: Memory, membership: tf.Tensor) -> tf.Tensor:
        """∂ψ/∂ŷ, (batch, label); 0 for a sample without a group."""
        dependence, _ = memory.kept
        known = tf.reduce_sum(membership, axis=1, keepdims=True)
        across = tf.matmul(self.scaled(memory, membership), dependence)
        return 2 * across - known * tf.reduce_sum(dependence**2, axis=0)

    def fairness_gradients(self, memory: Memory, trace: Trace, membership: tf.Tensor,
                           fairness_weight: tf.Tensor) -> list[tf.Tensor]:
        known = tf.maximum(tf.reduce_sum(membership), 1.0)
        slopes = fairness_weight * self.slopes(memory, membership) / known  # (batch, label)
        return [tf.einsum("bl,bl...->...", slopes, jacobian) for jacobian in trace.jacobians()]

    def penalty(self, memory: Memory, fairness_weight: tf.Tensor) -> tf.Tensor:
        """λ·E[ψ], over the mean outputs of the groups as they were said along the stream: ψ is linear in ŷ."""
        _, output_mean = memory.kept
        shares = tf.cast(self.shares_of(memory), output_mean.dtype)
        slopes = self.slopes(memory, tf.eye(output_mean.shape[0], dtype=output_mean.dtype))  # (group, label)
        each = tf.reduce_sum(output_mean * slopes, axis=1)
        seen = tf.reduce_sum(shares)  # 1, or 0 while nobody was seen
        return fairness_weight * (tf.reduce_sum(shares * each) - seen)


@keras.saving.register_keras_serializable("aranyani_tf")
class Fermi(Aranyani):
    """FERMI on the forest, or on any predictor: `Fermi(predictor=linear(num_features))` is FERMI's own model.

    Args:
        dependence_rate: learning rate of W, which begins at 0.
        radius: of the ball, in the Frobenius norm, that W stays in.
        others: those of `Aranyani`, but for notion, constraint and penalty.
    """

    def __init__(self, *arguments: Any, dependence_rate: float = 0.001, radius: float = 10.0,
                 **settings: Any) -> None:
        own: dict[str, Any] = {"notion": EachGroup(), "constraint": "output"}
        super().__init__(*arguments, **(own | settings))
        if self.num_labels == 1:
            raise ArgumentError("FERMI needs labels; num_labels=1 is regression")
        if self.chance:
            raise ArgumentError("chance has no effect on FERMI, which has no gaps")
        self.dependence_rate, self.radius = dependence_rate, radius

    def make_constraint(self, objective: Objective, num_features: int) -> Dependence:
        return Dependence(objective, self.dependence_rate, self.radius)

    def get_config(self) -> dict[str, Any]:
        return super().get_config() | {"dependence_rate": self.dependence_rate, "radius": self.radius}


def linear(num_features: int, *, num_labels: int = 2, dtype: Any = None) -> keras.Sequential:
    """Logistic regression as a Keras model, beginning at zero."""
    return keras.Sequential([keras.Input((num_features,)), keras.layers.Dense(
        num_labels, activation="softmax", kernel_initializer="zeros", dtype=dtype)])
