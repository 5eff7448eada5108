"""Keras's Adam over a grid of models: every array has a leading replica axis.

It is written anew since Keras's counts its steps once for all, while replicas with another λ may hold back an
update that others make.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import keras
import tensorflow as tf

from aranyani_tf.interfaces import Memory


class Replicas(NamedTuple):
    """Everything that changes while replicas learn; the first axis of each tensor is the replica."""

    weights: tuple  # of the learner's variables
    state: tuple  # the non-trainable state of a predictor or encoder
    memory: Memory
    momentums: tuple
    velocities: tuple
    num_updates: tf.Tensor  # (replica,)


class Adam(NamedTuple):
    """Keras's Adam, with a count of steps for each replica."""

    learning_rate: float = 2e-3
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-7

    def moved(self, replicas: Replicas, gradients: Sequence[tf.Tensor], update: tf.Tensor) -> Replicas:
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

        def keep(new: tf.Tensor, old: tf.Tensor) -> tf.Tensor:
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

    def keras(self, variables: Sequence[Any], replica: Replicas | None = None) -> keras.optimizers.Adam:
        """Keras's optimizer for these variables, as far as one replica has come, or at its beginning."""
        optimizer = keras.optimizers.Adam(self.learning_rate, self.beta_1, self.beta_2, self.epsilon)
        optimizer.build(variables)
        if replica is None:
            return optimizer
        optimizer.iterations.assign(tf.cast(replica.num_updates, optimizer.iterations.dtype))
        # Iterations and learning rate, then momentum and velocity of each variable.
        _, _, *slots = optimizer.variables
        for own, values in ((slots[::2], replica.momentums), (slots[1::2], replica.velocities)):
            for variable, value in zip(own, values, strict=True):
                variable.assign(value)
        return optimizer


def along(per_replica: tf.Tensor, array: tf.Tensor) -> tf.Tensor:
    """(replica,) in a shape that multiplies (replica, …); a scalar for a lone replica."""
    return tf.reshape(per_replica, (*per_replica.shape, *(1,) * (array.shape.rank - per_replica.shape.rank)))
