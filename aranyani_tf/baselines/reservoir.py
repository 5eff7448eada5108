"""Reservoir: the forest with past samples stored, and the fairness gradient recomputed from them at every step.

What the running means of Aranyani save: here E[n | cell] and E[∇n | cell] are those of the present weights
over the stored samples, so that the fairness gradient is the exact one of Equation 4. With room for all
samples it is the paper's variant; with less, each cell keeps a uniform sample of its past (reservoir sampling).
"""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from aranyani_tf.arguments import require_whole
from aranyani_tf.errors import ArgumentError
from aranyani_tf.fairness.forest_levels import ForestTrace
from aranyani_tf.fairness.objective import Objective
from aranyani_tf.fairness.statistics import Memory
from aranyani_tf.fairness.sums import sum_over_cells
from aranyani_tf.forest.packing import with_constant
from aranyani_tf.learning.forest_learner import ForestLearner
from aranyani_tf.model.aranyani import Aranyani

BLOCK = 512  # stored samples that are looked at together


class StoredSamples:
    """What Reservoir keeps: each cell's samples, and how many they are.

    Args:
        learner, objective: a forest's, at the node level.
        capacity: samples kept of each cell.
        seed: of the samples that make room for others.
    """

    def __init__(self, learner: ForestLearner, objective: Objective, num_features: int, capacity: int,
                 seed: int | None) -> None:
        self.learner, self.objective, self.num_features = learner, objective, num_features
        self.capacity, self.seed = capacity, seed or 0
        self.block = min(BLOCK, capacity)
        self.room = -(-capacity // self.block) * self.block  # whole blocks

    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {"num_stored": (1,), "stored_features": (self.room, self.num_features)}

    def pack(self, means: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        return list(means)

    unpack = pack

    def quantities(self, outputs: tf.Tensor, losses: tf.Tensor) -> list[tf.Tensor]:
        return []

    def slot_for(self, count: tf.Tensor) -> tf.Tensor:
        """Where the next sample of a cell goes that saw `count`: behind the others, or in a random one's place.

        A slot past the capacity means that the sample is not kept.
        """
        drawn = tf.random.stateless_uniform((), (self.seed, tf.cast(count, tf.int32)), dtype=tf.float64)
        return tf.cast(tf.where(count < self.capacity, count, tf.floor(drawn * (count + 1))), tf.int32)

    def remember(self, memory: Memory, trace: ForestTrace, membership: tf.Tensor, labels: tf.Tensor,
                 groups: tf.Tensor) -> Memory:
        counts = tf.unstack(memory.cell_count)
        num_stored, stored = memory.kept  # (cell, 1), (cell, sample, feature)
        for sample in range(membership.shape[0]):
            features = trace.inputs[sample, :-1]
            for cell in range(membership.shape[1]):
                belongs = membership[sample, cell] > 0
                slot = self.slot_for(counts[cell])
                kept = belongs & (slot < self.capacity)
                place = [cell, tf.where(kept, slot, 0)]
                new = tf.where(kept, features, tf.gather_nd(stored, place))  # or what is there already
                stored = tf.tensor_scatter_nd_update(stored, [place], new[None])
                counts[cell] += tf.cast(belongs, counts[cell].dtype)
        count = tf.stack(counts)
        num_stored = tf.cast(tf.minimum(count, float(self.capacity))[:, None], num_stored.dtype)
        return memory._replace(cell_count=count, kept=(num_stored, stored))

    def exact_means(self, memory: Memory, matrix: tf.Tensor) -> Memory:
        """The memory that Aranyani would have, had it seen the stored samples with the present weights.

        Goes through the samples block by block, and no further than there are any.
        """
        (num_stored, stored), size = memory.kept, self.block
        num_cells, num_slots = stored.shape[0], matrix.shape[1]

        def body(start: tf.Tensor, decisions: tf.Tensor, gradients: tf.Tensor) -> tuple[tf.Tensor, ...]:
            here = with_constant(tf.slice(stored, (0, start, 0), (num_cells, size, stored.shape[2])))
            with tf.GradientTape() as tape:
                logits = tf.matmul(here, matrix)  # (cell, sample, slot)
                tape.watch(logits)
                block_decisions = self.learner.forest.activation(logits)
            slopes = tape.gradient(block_decisions, logits)
            kept = tf.cast(start + tf.range(size), num_stored.dtype) < num_stored  # (cell, sample)
            kept = tf.cast(kept, logits.dtype)[..., None]
            return (start + size, decisions + tf.reduce_sum(kept * block_decisions, axis=1),
                    gradients + tf.matmul(here, kept * slopes, transpose_a=True))

        last = tf.cast(tf.reduce_max(num_stored), tf.int32)
        _, decisions, gradients = tf.while_loop(
            lambda start, *_: start < last, body,
            (0, tf.zeros((num_cells, num_slots), matrix.dtype),
             tf.zeros((num_cells, *matrix.shape), matrix.dtype)))
        count = tf.maximum(num_stored, 1.0)
        return memory._replace(kept=(decisions / count, gradients / count[..., None]))

    def fairness_gradients(self, memory: Memory, trace: ForestTrace, membership: tf.Tensor,
                           fairness_weight: tf.Tensor) -> list[tf.Tensor]:
        exact = self.exact_means(memory, trace.matrix)
        coefficients = self.objective.coefficients(exact, fairness_weight)  # (cell, slot)
        return [sum_over_cells(coefficients[:, None, :], exact.gradients[0])]

    def penalty(self, memory: Memory, fairness_weight: tf.Tensor) -> tf.Tensor:
        exact = self.exact_means(memory, self.learner.pack(self.learner.natural())[0])
        return self.objective.penalty_of(exact, fairness_weight)


@keras.saving.register_keras_serializable("aranyani_tf")
class Reservoir(Aranyani):
    """Args: `capacity`, samples kept of each cell (the stream's length keeps all), then those of `Aranyani`."""

    def __init__(self, *arguments: Any, capacity: int, **settings: Any) -> None:
        require_whole("capacity", capacity, 1)
        super().__init__(*arguments, **settings)
        forgets = not self.online or self.decay is not None
        if self.level != "node" or self.encoder is not None or forgets or self.chance:
            raise ArgumentError("Reservoir is for the node level of a forest without encoder, online, and without "
                                "decay or chance")
        self.capacity = capacity

    def make_constraint(self, objective: Objective, num_features: int) -> StoredSamples:
        assert isinstance(self.learner, ForestLearner)  # nothing else is let in
        return StoredSamples(self.learner, objective, num_features, self.capacity, self.seed)

    def get_config(self) -> dict[str, Any]:
        return super().get_config() | {"capacity": self.capacity}
