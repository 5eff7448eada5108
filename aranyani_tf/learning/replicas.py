"""The loop over a chunk for many models at once: every array has a leading replica axis.

The step is the same pure function as a single model's (`step.py`), mapped over the replicas; only the
optimizer is written anew, since Keras's counts its steps once for all, while replicas with another λ
may hold back an update that others make.
"""

from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

from aranyani_tf.learning.chunk_walk import in_steps
from aranyani_tf.learning.step import missing_label
from aranyani_tf.model.target_scale import in_unit, scaled_along, unit_of
from aranyani_tf.streams.chunks import pad


class Replicas(NamedTuple):
    """Everything that changes while replicas learn; the first axis of each tensor is the replica."""

    weights: tuple  # of the learner's variables
    state: tuple  # the non-trainable state of a predictor or encoder
    memory: tuple  # the running means
    momentums: tuple
    velocities: tuple
    num_updates: tf.Tensor  # (replica,)


class Adam(NamedTuple):
    """Keras's Adam, with a count of steps for each replica."""

    learning_rate: float = 2e-3
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-7

    def moved(self, replicas, gradients, update):
        """The replicas after a step; where `update` (replica,) is False, nothing moves.

        m ← m + (1−β₁)(g−m),  v ← v + (1−β₂)(g²−v),  w ← w − η·√(1−β₂ᵗ)/(1−β₁ᵗ) · m/(√v + ε)
        """
        dtype = replicas.weights[0].dtype
        count = replicas.num_updates + 1
        t = tf.cast(count, dtype)
        rate = self.learning_rate * tf.sqrt(1 - tf.pow(tf.cast(self.beta_2, dtype), t)) / (
            1 - tf.pow(tf.cast(self.beta_1, dtype), t))  # (replica,)
        always = tf.get_static_value(update)
        always = always is not None and bool(always.all())

        def keep(new, old):
            return new if always else tf.where(along(update, new), new, old)

        weights, momentums, velocities = [], [], []
        for weight, momentum, velocity, gradient in zip(
                replicas.weights, replicas.momentums, replicas.velocities, gradients, strict=True):
            new_momentum = momentum + (gradient - momentum) * (1 - self.beta_1)
            new_velocity = velocity + (tf.square(gradient) - velocity) * (1 - self.beta_2)
            step = along(rate, weight) * new_momentum / (tf.sqrt(new_velocity) + self.epsilon)
            weights.append(keep(weight - step, weight))
            momentums.append(keep(new_momentum, momentum))
            velocities.append(keep(new_velocity, velocity))
        return replicas._replace(
            weights=tuple(weights), momentums=tuple(momentums), velocities=tuple(velocities),
            num_updates=keep(count, replicas.num_updates))

    def keras(self, variables, replica):
        """Keras's optimizer for these variables, as far as one replica has come."""
        optimizer = keras.optimizers.Adam(self.learning_rate, self.beta_1, self.beta_2, self.epsilon)
        optimizer.build(variables)
        optimizer.iterations.assign(tf.cast(replica.num_updates, optimizer.iterations.dtype))
        for slot, values in (("_momentum", replica.momentums), ("_velocity", replica.velocities)):
            own = [variable for variable in optimizer.variables if variable.path.endswith(slot)]
            for variable, value in zip(own, values, strict=True):
                variable.assign(value)
        return optimizer


def along(per_replica, array):
    """(replica,) in a shape that multiplies (replica, …); a scalar for a lone replica."""
    return tf.reshape(per_replica, (*per_replica.shape, *(1,) * (array.shape.rank - per_replica.shape.rank)))


def walk(step, optimizer, replicas, fairness_weights, features, labels, groups, num_rows, *, samples_per_step):
    """Takes the first `num_rows` rows in order, with every replica.

    Args:
        step, optimizer: a `Step` and an `Adam`.
        fairness_weights: (replica,).
        features, labels, groups: (row, …), the same rows for all replicas; or (row, replica, …), where
            each has an order of its own.

    Returns:
        the replicas, what they predicted (row, replica, label), and the norms of their gradients
        (step, replica, norm), if the step records them.
    """
    axis = fairness_weights.shape  # (replica,), or () for one without that axis
    own_order = labels.shape.rank == 2
    inputs, labels, groups = (
        in_steps(array, samples_per_step, filler) for array, filler in (
            (step.learner.prepare(features), 0), (labels, missing_label(labels)), (groups, -1)))
    num_steps, size = (num_rows + samples_per_step - 1) // samples_per_step, tf.shape(labels)[0]

    def body(index, replicas, outputs, norms):
        sample = tuple(tf.gather(array, index) for array in (inputs, labels, groups))
        each = (replicas.weights, replicas.state, replicas.memory, fairness_weights)
        if not axis.rank:
            outcome = step(*each, *sample)
        elif own_order:  # (sample, replica, …) → (replica, sample, …)
            sample = tuple(tf.transpose(array, (1, 0, *range(2, array.shape.rank))) for array in sample)
            outcome = tf.vectorized_map(lambda one: step(*one[0], *one[1]), (each, sample))
        else:
            outcome = tf.vectorized_map(lambda one: step(*one, *sample), each)
        replicas = optimizer.moved(replicas, outcome.gradients, outcome.update)
        replicas = replicas._replace(state=outcome.state, memory=outcome.memory)
        return index + 1, replicas, outputs.write(index, outcome.outputs), norms.write(index, outcome.norms)

    _, replicas, outputs, norms = tf.while_loop(
        lambda index, *_: index < num_steps, body,
        (tf.constant(0), replicas,
         tf.TensorArray(inputs.dtype, size, element_shape=(*axis, samples_per_step, step.num_labels)),
         tf.TensorArray(inputs.dtype, size, element_shape=(*axis, step.num_norms))))
    outputs = outputs.stack()
    if axis.rank:
        outputs = tf.transpose(outputs, (0, 2, 1, 3))  # (step, sample, replica, label)
    return replicas, tf.reshape(outputs, (-1, *axis, step.num_labels)), norms.stack()


def walk_alone(step, optimizer, replicas, fairness_weights, features, labels, groups, num_rows, **settings):
    """`walk` with one replica, whose axis is left out on the way: XLA is seven times slower with it."""
    if labels.shape.rank == 2:
        features, labels, groups = features[:, 0], labels[:, 0], groups[:, 0]
    replicas, outputs, norms = walk(
        step, optimizer, tf.nest.map_structure(lambda array: array[0], replicas), fairness_weights[0],
        features, labels, groups, num_rows, **settings)
    return tf.nest.map_structure(lambda array: array[None], replicas), outputs[:, None], norms[:, None]


def outputs_of(learner, weights, state, features):
    """Predictions of every replica for the same rows, and nothing learned: (replica, row, label)."""
    inputs = learner.prepare(features)
    return tf.vectorized_map(lambda one: learner.predict(*one, inputs), (weights, state))


class ReplicaLoop:
    """Takes replicas through a stream, chunk by chunk, with one compilation.

    Args:
        step, optimizer: a `Step` and an `Adam`.
        samples_per_step: how many rows share an update.
        scale_target: scales a regression target along the stream, as a single model does.
    """

    def __init__(self, step, optimizer, samples_per_step, scale_target=False):
        self.samples_per_step, self.scale_target = samples_per_step, scale_target

        def walk_all(replicas, fairness_weights, *rows):
            chosen = walk_alone if fairness_weights.shape[0] == 1 else walk
            return chosen(step, optimizer, replicas, fairness_weights, *rows, samples_per_step=samples_per_step)

        self.compiled = tf.function(walk_all, jit_compile=True, autograph=False)
        self.compiled_outputs = tf.function(
            lambda *arguments: outputs_of(step.learner, *arguments), jit_compile=True, autograph=False)

    def begin(self, models, fairness_weights):
        """Replicas with the weights, states and running means of built models, one each."""
        weights, state, memory = tf.nest.map_structure(lambda *parts: tf.stack(parts), *(
            (tuple(variable.value for variable in model.learner.variables),
             tuple(variable.value for variable in model.learner.state), model.statistics.read())
            for model in models))
        zeros = tuple(map(tf.zeros_like, weights))
        self.replicas = Replicas(weights, state, memory, zeros, zeros, tf.zeros(len(models), tf.int32))
        self.fairness_weights = tf.constant(fairness_weights, weights[0].dtype)

    def walk(self, rows, orders, chunk_size, stops=()):
        """Yields (labels, groups, outputs, norms) of every chunk that was learned.

        Args:
            rows: features, labels and groups of the whole stream.
            orders: (row, replica), the rows in each replica's order; None for the stream's own.
            stops: numbers of rows after which a chunk ends, also before it is full.
        """
        num_rows, k = len(rows[0]), self.samples_per_step
        size = -(-min(chunk_size, num_rows) // k) * k
        ends = sorted({*range(size, num_rows, size), *(-(-stop // k) * k for stop in stops)} | {num_rows})
        for start, end in zip([0, *ends], [end for end in ends if end <= num_rows], strict=False):
            here = slice(start, end) if orders is None else orders[start:end]
            piece = tuple(array[here] for array in rows)
            count, labels = len(piece[0]), piece[1]
            if self.scale_target:
                if start == 0:
                    self.moments = tf.zeros((3, *labels.shape[1:]), tf.float64)
                learned, before, self.moments = scaled_along(tf.constant(labels), self.moments)
                piece = piece[0], learned.numpy(), piece[2]
            self.replicas, outputs, norms = self.compiled(
                self.replicas, self.fairness_weights, *map(tf.constant, pad(piece, size)), tf.constant(count))
            outputs = outputs[:count]
            if self.scale_target:
                outputs = in_unit(outputs, *before)
            yield labels, piece[2], outputs.numpy(), norms.numpy()[: -(-count // k)]

    def outputs(self, features):
        """What the replicas say about rows, as they are now: (row, replica, label)."""
        outputs = self.compiled_outputs(self.replicas.weights, self.replicas.state, tf.constant(features))
        if self.scale_target:
            outputs = in_unit(outputs, *unit_of(self.moments))
        return outputs.numpy().transpose(1, 0, 2)

    def diverged(self, index):
        """Whether a replica's weights are numbers no longer."""
        return not all(np.isfinite(weight[index]).all() for weight in self.replicas.weights)

    def moments_of(self, index):
        """The scale of the target that a replica has learned; all have the same if they share an order."""
        return self.moments[:, index] if self.moments.shape.rank == 2 else self.moments

    def replica(self, index):
        """One replica's tensors."""
        return tf.nest.map_structure(lambda array: array[index], self.replicas)
