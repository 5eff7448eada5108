"""The walk over a chunk of the stream: predict, then learn, step by step (Algorithm 1).

`walk` is the loop for one model and for a grid of them (`grove.grid_walk`); they differ in what a step
carries on to the next, and in who moves the weights. Keras sees none of what is kept here: it is neither
saved nor counted as weights.
"""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from aranyani_tf.fairness.statistics import CellStatistics, Memory
from aranyani_tf.labels import missing_label
from aranyani_tf.learning.step import Outcome, Step

Rows = tuple[tf.Tensor, ...]  # features, labels, groups, and weights if they have any


def walk(step: Step, advance: Callable[[Any, Rows], tuple[Any, Outcome]], carried: Any, rows: Rows,
         num_rows: tf.Tensor, samples_per_step: int,
         axis: Sequence[int] = ()) -> tuple[Any, tf.Tensor, tf.Tensor]:
    """Takes the first `num_rows` rows in order, step by step.

    Args:
        step: whose learner the rows are prepared for.
        advance: (what is carried, a step's samples) → what is carried on, and the step's `Outcome`.
        carried: what the first step begins with.
        axis: the shape of what an outcome has in front, (replica,) for a grid.

    Returns:
        what the last step carried on; outputs (step, *axis, sample, label), what was predicted for each row
        before it was learned; norms (step, *axis, norm) of the gradients, if the step records them.
    """
    features, labels, groups, *row_weights = rows
    samples = tuple(in_steps(array, samples_per_step, filler) for array, filler in (
        (step.learner.prepare(features), 0), (labels, missing_label(labels)), (groups, -1),
        *((array, 1) for array in row_weights)))
    num_steps, size = (num_rows + samples_per_step - 1) // samples_per_step, tf.shape(samples[1])[0]

    def body(index: tf.Tensor, carried: Any, outputs: tf.TensorArray,
             norms: tf.TensorArray) -> tuple[tf.Tensor, Any, tf.TensorArray, tf.TensorArray]:
        carried, outcome = advance(carried, tuple(tf.gather(array, index) for array in samples))
        return index + 1, carried, outputs.write(index, outcome.outputs), norms.write(index, outcome.norms)

    shape, dtype = (*axis, samples_per_step, step.objective.num_labels), samples[0].dtype
    _, carried, outputs, norms = tf.while_loop(
        lambda index, *_: index < num_steps, body,
        (tf.constant(0), carried, tf.TensorArray(dtype, size, element_shape=shape),
         tf.TensorArray(dtype, size, element_shape=(*axis, step.num_norms))))
    return carried, outputs.stack(), norms.stack()


def walk_model(step: Step, statistics: CellStatistics, optimizer: Any, fairness_weight: tf.Tensor, rows: Rows,
               num_rows: tf.Tensor, samples_per_step: int) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """One model's walk: it moves the learner's variables, the optimizer and the statistics.

    Returns:
        outputs (row, label), norms (step, norm), and the penalty at the end.
    """
    learner = step.learner

    def advance(memory: Memory, samples: Rows) -> tuple[Memory, Outcome]:
        outcome = step([variable.value for variable in learner.variables],
                       [variable.value for variable in learner.state], memory, fairness_weight, *samples)
        move(optimizer, learner.variables, outcome.gradients, outcome.update)
        for variable, value in zip(learner.state, outcome.state, strict=True):
            variable.assign(value)
        return outcome.memory, outcome

    learner.load()
    memory, outputs, norms = walk(step, advance, statistics.read(), rows, num_rows, samples_per_step)
    learner.store()
    statistics.write(memory)
    outputs = tf.reshape(outputs, (-1, step.objective.num_labels))
    if samples_per_step > 1:
        outputs = outputs[: tf.shape(rows[0])[0]]  # without what filled up the last step
    return outputs, norms, step.constraint.penalty(memory, fairness_weight)


def move(optimizer: Any, variables: Sequence[Any], gradients: Sequence[tf.Tensor], update: tf.Tensor) -> None:
    """The optimizer's step, undone where there should be none."""
    if tf.get_static_value(update):
        optimizer.apply(gradients, variables)
        return
    touched = [*variables, *optimizer.variables]
    before = [tf.identity(variable.value) for variable in touched]
    optimizer.apply(gradients, variables)
    for variable, old in zip(touched, before, strict=True):
        variable.assign(tf.where(update, variable.value, old))


def in_steps(array: tf.Tensor, samples_per_step: int, filler: float) -> tf.Tensor:
    """(row, …) → (step, sample, …), filled up to a whole number of steps."""
    if samples_per_step > 1:
        missing = -tf.shape(array)[0] % samples_per_step
        array = tf.pad(array, [[0, missing]] + [[0, 0]] * (array.shape.rank - 1), constant_values=filler)
    return tf.reshape(array, (-1, samples_per_step, *array.shape[1:]))
