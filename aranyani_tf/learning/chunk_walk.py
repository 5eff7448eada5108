"""The loop over a chunk of the stream: predict, then learn, step by step (Algorithm 1).

It moves variables by what `Step` computes. Keras sees none of what is kept here: it is neither
saved nor counted as weights.
"""

import tensorflow as tf

from aranyani_tf.learning.step import missing_label


class TrainingLoop:
    """Walks chunks of rows through a `Step`.

    Args:
        step: the pure function of one step.
        statistics: the `CellStatistics` that the walk begins with and leaves behind.
        samples_per_step: how many rows share an update.
    """

    def __init__(self, step, statistics, samples_per_step):
        self.step, self.statistics, self.samples_per_step = step, statistics, samples_per_step

    def walk(self, optimizer, fairness_weight, features, labels, groups, num_rows):
        """Takes the first `num_rows` rows in order.

        Returns:
            outputs (row, label), what was predicted for each row before learning from it;
            norms (step, norm) of the gradients, if the step records them;
            penalty, λ Σ H(F) at the end.
        """
        step, learner, k = self.step, self.step.learner, self.samples_per_step
        inputs, labels, groups = (
            in_steps(array, k, filler) for array, filler in (
                (learner.prepare(features), 0), (labels, missing_label(labels)), (groups, -1)))
        num_steps, size = (num_rows + k - 1) // k, tf.shape(labels)[0]

        def body(index, memory, outputs, norms):
            outcome = step(
                [variable.value for variable in learner.variables],
                [variable.value for variable in learner.state], memory, fairness_weight,
                *(tf.gather(array, index) for array in (inputs, labels, groups)))
            move(optimizer, learner.variables, outcome.gradients, outcome.update)
            for variable, value in zip(learner.state, outcome.state, strict=True):
                variable.assign(value)
            if step.record_gradients:
                norms = norms.write(index, outcome.norms)
            return index + 1, outcome.memory, outputs.write(index, outcome.outputs), norms

        learner.load()
        _, memory, outputs, norms = tf.while_loop(
            lambda index, *_: index < num_steps, body,
            (tf.constant(0), self.statistics.read(),
             tf.TensorArray(inputs.dtype, size, element_shape=(k, step.num_labels)),
             tf.TensorArray(inputs.dtype, size, element_shape=(step.num_norms,))))
        learner.store()
        self.statistics.write(memory)
        return (tf.reshape(outputs.stack(), (-1, step.num_labels)), norms.stack(),
                step.penalty_of(memory, fairness_weight))


def move(optimizer, variables, gradients, update):
    """The optimizer's step, undone where there should be none."""
    if tf.get_static_value(update):
        optimizer.apply(gradients, variables)
        return
    touched = [*variables, *optimizer.variables]
    before = [tf.identity(variable.value) for variable in touched]
    optimizer.apply(gradients, variables)
    for variable, old in zip(touched, before, strict=True):
        variable.assign(tf.where(update, variable.value, old))


def in_steps(array, samples_per_step, filler):
    """(row, …) → (step, sample, …), filled up to a whole number of steps."""
    if samples_per_step > 1:
        missing = -tf.shape(array)[0] % samples_per_step
        array = tf.pad(array, [[0, missing]] + [[0, 0]] * (array.shape.rank - 1), constant_values=filler)
    return tf.reshape(array, (-1, samples_per_step, *array.shape[1:]))
