"""The walk over a stream for many models at once: every array has a leading replica axis.

The step is the same pure function as a single model's (`learning.step`), mapped over the replicas, and the
loop is the same (`learning.chunk_walk`); only the optimizer is another, `replica_adam`.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from aranyani_tf.grove.replica_adam import Adam, Replicas
from aranyani_tf.interfaces import Learner
from aranyani_tf.learning.chunk_walk import Rows, walk
from aranyani_tf.learning.step import Outcome, Step
from aranyani_tf.learning.target_scale import in_unit, scaled_along, unit_of
from aranyani_tf.streams.feed import pad


def walk_replicas(step: Step, optimizer: Adam, replicas: Replicas, fairness_weights: tf.Tensor, rows: Rows,
                  num_rows: tf.Tensor, samples_per_step: int) -> tuple[Replicas, tf.Tensor, tf.Tensor]:
    """Takes the first `num_rows` rows in order, with every replica.

    Args:
        fairness_weights: (replica,).
        rows: features, labels and groups, (row, …), the same rows for all replicas; or (row, replica, …),
            where each has an order of its own.

    Returns:
        the replicas, what they predicted (row, replica, label), and the norms of their gradients
        (step, replica, norm), if the step records them.
    """
    axis = fairness_weights.shape  # (replica,), or () for one without that axis
    own_order = rows[1].shape.rank == 2

    def advance(replicas: Replicas, samples: Rows) -> tuple[Replicas, Outcome]:
        each = (replicas.weights, replicas.state, replicas.memory, fairness_weights)
        if not axis.rank:
            outcome = step(*each, *samples)
        elif own_order:  # (sample, replica, …) → (replica, sample, …)
            samples = tuple(tf.transpose(array, (1, 0, *range(2, array.shape.rank))) for array in samples)
            outcome = tf.vectorized_map(lambda one: step(*one[0], *one[1]), (each, samples))
        else:
            outcome = tf.vectorized_map(lambda one: step(*(*one, *samples)), each)
        replicas = optimizer.moved(replicas, outcome.gradients, outcome.update)
        return replicas._replace(state=outcome.state, memory=outcome.memory), outcome

    replicas, outputs, norms = walk(step, advance, replicas, rows, num_rows, samples_per_step, axis)
    if axis.rank:
        outputs = tf.transpose(outputs, (0, 2, 1, 3))  # (step, sample, replica, label)
    return replicas, tf.reshape(outputs, (-1, *axis, step.objective.num_labels)), norms


def walk_alone(step: Step, optimizer: Adam, replicas: Replicas, fairness_weights: tf.Tensor, rows: Rows,
               *settings: Any) -> tuple[Replicas, tf.Tensor, tf.Tensor]:
    """`walk_replicas` with one of them, whose axis is left out on the way: XLA is seven times slower with it."""
    if rows[1].shape.rank == 2:
        rows = tuple(array[:, 0] for array in rows)
    alone = tf.nest.map_structure(lambda array: array[0], replicas)
    replicas, outputs, norms = walk_replicas(step, optimizer, alone, fairness_weights[0], rows, *settings)
    return tf.nest.map_structure(lambda array: array[None], replicas), outputs[:, None], norms[:, None]


def outputs_of(learner: Learner, weights: tuple, state: tuple, features: tf.Tensor) -> tf.Tensor:
    """Predictions of every replica for the same rows, and nothing learned: (replica, row, label)."""
    inputs = learner.prepare(features)
    return tf.vectorized_map(lambda one: learner.predict(one[0], one[1], inputs), (weights, state))


class GridWalk:
    """Takes replicas through a stream, chunk by chunk, with one compilation.

    Args:
        step, optimizer: a `Step` and an `Adam`.
        samples_per_step: how many rows share an update.
        scale_target: scales a regression target along the stream, as a single model does.
    """

    def __init__(self, step: Step, optimizer: Adam, samples_per_step: int,
                 scale_target: bool = False) -> None:
        self.samples_per_step, self.scale_target = samples_per_step, scale_target

        def walk_all(replicas: Replicas, fairness_weights: tf.Tensor, features: tf.Tensor, labels: tf.Tensor,
                     groups: tf.Tensor, num_rows: tf.Tensor) -> tuple[Replicas, tf.Tensor, tf.Tensor]:
            chosen = walk_alone if fairness_weights.shape[0] == 1 else walk_replicas
            return chosen(step, optimizer, replicas, fairness_weights, (features, labels, groups), num_rows,
                          samples_per_step)

        self.compiled = tf.function(walk_all, jit_compile=True, autograph=False)
        self.compiled_outputs = tf.function(
            lambda *arguments: outputs_of(step.learner, *arguments), jit_compile=True, autograph=False)

    def begin(self, models: Sequence[Any], fairness_weights: Sequence[float]) -> None:
        """Replicas with the weights, states and running means of built models, one each."""
        weights, state, memory = tf.nest.map_structure(lambda *parts: tf.stack(parts), *(
            (tuple(variable.value for variable in model.learner.variables),
             tuple(variable.value for variable in model.learner.state), model.statistics.read())
            for model in models))
        zeros = tuple(map(tf.zeros_like, weights))
        self.replicas = Replicas(weights, state, memory, zeros, zeros, tf.zeros(len(models), tf.int32))
        self.fairness_weights = tf.constant(fairness_weights, weights[0].dtype)

    def walk(self, rows: tuple[np.ndarray, ...], orders: np.ndarray | None, chunk_size: int,
             stops: Sequence[int] = ()) -> Iterator[tuple[np.ndarray, ...]]:
        """Yields (labels, groups, outputs, norms) of every chunk that was learned.

        Args:
            rows: features, labels and groups of the whole stream.
            orders: (row, replica), the rows in each replica's order; None for the stream's own.
            stops: numbers of rows after which a chunk ends, also before it is full.
        """
        size = -(-min(chunk_size, len(rows[0])) // self.samples_per_step) * self.samples_per_step
        for start, end in pieces_of(len(rows[0]), chunk_size, self.samples_per_step, stops):
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
            yield labels, piece[2], outputs.numpy(), norms.numpy()[: -(-count // self.samples_per_step)]

    def outputs(self, features: np.ndarray) -> np.ndarray:
        """What the replicas say about rows, as they are now: (row, replica, label)."""
        outputs = self.compiled_outputs(self.replicas.weights, self.replicas.state, tf.constant(features))
        if self.scale_target:
            outputs = in_unit(outputs, *unit_of(self.moments))
        return outputs.numpy().transpose(1, 0, 2)

    def diverged(self, index: int) -> bool:
        """Whether a replica's weights are numbers no longer."""
        return not all(np.isfinite(weight[index]).all() for weight in self.replicas.weights)

    def member(self, index: int) -> tuple[Replicas, tf.Tensor | None]:
        """One replica's tensors, and the scale of its target; all have the same scale if they share an order."""
        moments = None
        if self.scale_target:
            moments = self.moments[:, index] if self.moments.shape.rank == 2 else self.moments
        return tf.nest.map_structure(lambda array: array[index], self.replicas), moments

    def put_into(self, model: Any, trained: tuple[Replicas, tf.Tensor | None], optimizer: Adam) -> None:
        """Makes a built model the trained member."""
        replica, moments = trained
        for variables, values in ((model.learner.variables, replica.weights), (model.learner.state, replica.state)):
            for variable, value in zip(variables, values, strict=True):
                variable.assign(value)
        model.learner.store()
        model.statistics.write(replica.memory)
        if moments is not None:
            model.target_scale.moments.assign(moments)
        model.compile(optimizer.keras(model.learner.variables, replica))


def pieces_of(num_rows: int, chunk_size: int, samples_per_step: int, stops: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Where chunks begin and end: after so many rows, in whole steps, and also at the stops.

    >>> list(pieces_of(100, 40, samples_per_step=10, stops=[15]))
    [(0, 20), (20, 40), (40, 80), (80, 100)]
    """
    size = -(-min(chunk_size, num_rows) // samples_per_step) * samples_per_step
    in_steps = (-(-stop // samples_per_step) * samples_per_step for stop in stops)
    ends = sorted({*range(size, num_rows, size), *in_steps, num_rows})
    yield from zip([0, *ends], [end for end in ends if end <= num_rows], strict=False)
