"""Reservoir: the forest with past samples stored, and the fairness loss recomputed from them at every step.

What the running means of Aranyani save: here the gaps F and their gradients are those of the present
weights on the stored samples, by automatic differentiation. With room for all samples it is the paper's
variant; with less, each cell keeps a uniform sample of its past (reservoir sampling).
"""

import keras
import tensorflow as tf

from aranyani_tf.arguments import require_whole
from aranyani_tf.layout import with_constant
from aranyani_tf.model import Aranyani
from aranyani_tf.step import Step


class StoredSamples:
    """What `CellStatistics` keeps: each cell's samples, and how many they are."""

    def __init__(self, capacity, num_features, seed):
        self.capacity, self.num_features, self.seed = capacity, num_features, seed or 0

    def shapes(self):
        return {"num_stored": (1,), "stored_features": (self.capacity, self.num_features)}

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
        counts, (stored,) = tf.unstack(memory.cell_count), memory.gradients
        cells = tf.unstack(stored)  # each (capacity, feature)
        for sample in range(membership.shape[0]):
            features = trace.inputs[sample, :-1]
            for cell, samples in enumerate(cells):
                belongs = membership[sample, cell] > 0
                slot = tf.where(belongs, self.constraint.slot_for(counts[cell]), -1)
                here = tf.range(self.constraint.capacity) == slot
                cells[cell] = tf.where(here[:, None], features, samples)
                counts[cell] += tf.cast(belongs, counts[cell].dtype)
        count = tf.stack(counts)
        num_stored = tf.minimum(count, float(self.constraint.capacity))[:, None]
        memory = memory._replace(cell_count=count, values=tf.cast(num_stored, memory.values.dtype),
                                 gradients=(tf.stack(cells),))
        return self.counted(memory, groups), membership

    def stored_gaps(self, memory, matrix):
        """F of the present weights over the stored samples: (constraint, slot)."""
        (stored,) = memory.gradients
        decisions = self.learner.forest.activation(tf.matmul(with_constant(stored), matrix))
        kept = tf.cast(tf.range(self.constraint.capacity), stored.dtype) < memory.values  # (cell, capacity)
        total = tf.reduce_sum(tf.where(kept[..., None], decisions, tf.zeros_like(decisions)), axis=1)
        return self.gaps(memory._replace(values=total / tf.maximum(memory.values, 1.0)))

    def fairness(self, memory, membership, trace, fairness_weight):
        with tf.GradientTape() as tape:
            tape.watch(trace.matrix)
            penalty = tf.reduce_sum(self.penalty.value(self.stored_gaps(memory, trace.matrix)))
        return [fairness_weight * tape.gradient(penalty, trace.matrix)]

    def penalty_of(self, memory, fairness_weight):
        matrix = self.learner.variables[0].value
        return fairness_weight * tf.reduce_sum(self.penalty.value(self.stored_gaps(memory, matrix)))


@keras.saving.register_keras_serializable("aranyani_tf")
class Reservoir(Aranyani):
    """Args: `capacity`, samples kept of each cell (the stream's length keeps all), then those of `Aranyani`."""

    step_class = ReservoirStep

    def __init__(self, *arguments, capacity, **settings):
        require_whole("capacity", capacity, 1)
        super().__init__(*arguments, **settings)
        if self.level != "node" or self.encoder is not None or not self.online or self.decay is not None:
            raise ValueError("Reservoir is for the node level of a forest without encoder, online and without decay")
        self.capacity = capacity

    def make_constraint(self, num_features):
        return StoredSamples(self.capacity, num_features, self.seed)

    def get_config(self):
        return super().get_config() | {"capacity": self.capacity}
