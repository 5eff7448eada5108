"""Reservoir: the forest with past samples stored, and the fairness gradient recomputed from them at every step.

What the running means of Aranyani save: here E[n | cell] and E[∇n | cell] are those of the present weights
over the stored samples, so that the fairness gradient is the exact one of Equation 4. With room for all
samples it is the paper's variant; with less, each cell keeps a uniform sample of its past (reservoir sampling).
"""

import keras
import tensorflow as tf

from aranyani_tf.arguments import require_whole
from aranyani_tf.errors import ArgumentError
from aranyani_tf.fairness.constraints import sum_over_cells
from aranyani_tf.forest.packing import with_constant
from aranyani_tf.learning.step import Step, combine
from aranyani_tf.model.aranyani import Aranyani

BLOCK = 512  # stored samples that are looked at together


class StoredSamples:
    """What `CellStatistics` keeps: each cell's samples, and how many they are."""

    def __init__(self, capacity, num_features, seed):
        self.capacity, self.num_features, self.seed = capacity, num_features, seed or 0
        self.block = min(BLOCK, capacity)
        self.room = -(-capacity // self.block) * self.block  # whole blocks

    def shapes(self):
        return {"num_stored": (1,), "stored_features": (self.room, self.num_features)}

    def pack(self, means):
        return means

    unpack = pack

    def quantities(self, outputs, losses):
        return []

    def slot_for(self, count):
        """Where the next sample of a cell goes that saw `count`: behind the others, or in a random one's place.

        A slot past the capacity means that the sample is not kept.
        """
        drawn = tf.random.stateless_uniform((), (self.seed, tf.cast(count, tf.int32)), dtype=tf.float64)
        return tf.cast(tf.where(count < self.capacity, count, tf.floor(drawn * (count + 1))), tf.int32)


class ReservoirStep(Step):
    """Algorithm 1 with stored samples in the place of running means."""

    def remember(self, memory, trace, labels, groups):
        membership = self.membership(labels, groups, trace.outputs.dtype)  # (batch, cell)
        counts, (stored,) = tf.unstack(memory.cell_count), memory.gradients  # stored: (cell, sample, feature)
        for sample in range(membership.shape[0]):
            features = trace.inputs[sample, :-1]
            for cell in range(membership.shape[1]):
                belongs = membership[sample, cell] > 0
                slot = self.constraint.slot_for(counts[cell])
                kept = belongs & (slot < self.constraint.capacity)
                place = [cell, tf.where(kept, slot, 0)]
                new = tf.where(kept, features, tf.gather_nd(stored, place))  # or what is there already
                stored = tf.tensor_scatter_nd_update(stored, [place], new[None])
                counts[cell] += tf.cast(belongs, counts[cell].dtype)
        count = tf.stack(counts)
        num_stored = tf.minimum(count, float(self.constraint.capacity))[:, None]
        memory = memory._replace(
            cell_count=count, values=tf.cast(num_stored, memory.values.dtype), gradients=(stored,))
        return self.counted(memory, groups), membership

    def exact_means(self, memory, matrix):
        """The memory that Aranyani would have, had it seen the stored samples with the present weights.

        Goes through the samples block by block, and no further than there are any.
        """
        (stored,), num_stored, size = memory.gradients, memory.values, self.constraint.block
        num_cells, num_slots = stored.shape[0], matrix.shape[1]

        def body(start, decisions, gradients):
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
        return memory._replace(values=decisions / count, gradients=(gradients / count[..., None],))

    def fairness(self, memory, membership, trace, fairness_weight):
        exact = self.exact_means(memory, trace.matrix)
        slopes = fairness_weight * self.penalty.gradient(self.gaps(exact))  # (constraint, slot)
        coefficients = combine(self.contrasts.T, slopes)  # (cell, slot)
        return [sum_over_cells(coefficients[:, None, :], exact.gradients[0])]

    def penalty_of(self, memory, fairness_weight):
        exact = self.exact_means(memory, self.learner.pack(self.learner.natural())[0])
        return super().penalty_of(exact, fairness_weight)


@keras.saving.register_keras_serializable("aranyani_tf")
class Reservoir(Aranyani):
    """Args: `capacity`, samples kept of each cell (the stream's length keeps all), then those of `Aranyani`."""

    step_class = ReservoirStep

    def __init__(self, *arguments, capacity, **settings):
        require_whole("capacity", capacity, 1)
        super().__init__(*arguments, **settings)
        if self.level != "node" or self.encoder is not None or not self.online or self.decay is not None or self.chance:
            raise ArgumentError("Reservoir is for the node level of a forest without encoder, online, and without "
                                "decay or chance")
        self.capacity = capacity

    def make_constraint(self, num_features):
        return StoredSamples(self.capacity, num_features, self.seed)

    def get_config(self):
        return super().get_config() | {"capacity": self.capacity}
