"""What a model does with one chunk of the stream, as one compiled program: learn, score, take note.

A chunk either is learned as a whole, or changes nothing: if the model diverges on the way, every variable is
put back. The subclass has `learn_rows`, which walks the samples.
"""

import tensorflow as tf

from aranyani_tf.evaluation.binary_metrics import fitting
from aranyani_tf.learning.forest_learner import is_informative, is_labelled, losses
from aranyani_tf.learning.step import missing_label
from aranyani_tf.model.shared_model import SharedModel, prefixed


class ChunkModel(SharedModel):
    """Base class of `OnlineModel`: the compiled side of learning, and what of it is saved."""

    def make_train_function(self, force=False):
        """As Keras's, but rows are waited for outside the lock: whoever brings them may save or predict meanwhile."""
        if self.train_function is not None and not force:
            return
        step = self.train_step if self.run_eagerly else tf.function(
            self.train_step, jit_compile=bool(self.jit_compile), autograph=False)

        def take_then_move(iterator):
            data = next(iterator)
            with self.state:
                return step(data)

        self.train_function = take_then_move

    def train_step(self, data):
        inputs, labels = data
        features, groups = inputs["features"], inputs["group"]
        progress, size = self.progress, tf.shape(labels)[0]
        if not self.functions.all_known:
            learned = tf.range(size) < tf.cast(tf.minimum(progress.to_skip, tf.int32.max), tf.int32)
            labels, groups = hidden(learned, labels, groups)
        skipped = tf.minimum(progress.to_skip, tf.cast(size, tf.int64))
        progress.to_skip.assign_sub(skipped)
        progress.epoch_rows.assign_add(tf.cast(size, tf.int64) - skipped)
        self.learn_and_score(features, labels, groups, last_informative_row(labels, groups))
        return self.get_metrics_result()

    def test_step(self, data):
        inputs, labels = data
        self.score(labels, inputs["group"], self(inputs["features"], training=False))
        self.fairness_penalty.update_state(self.step.penalty_of(self.statistics.read(), self._fairness_weight))
        return self.get_metrics_result()

    def learn_and_score(self, features, labels, groups, num_rows):
        """Learns from a chunk, unless the model diverges on the way: then everything is as it was before."""
        progress = self.progress
        before = [tf.identity(variable.value) for variable in self.moving()]
        outputs = self.learn_rows(features, labels, groups, num_rows)
        # The optimizer's too: an infinite velocity would stop a weight for good, without a word.
        finite = [tf.reduce_all(tf.math.is_finite(variable.value)) for variable in self.moving()
                  if tf.as_dtype(variable.dtype).is_floating]
        good = ~progress.diverged & tf.reduce_all(tf.math.is_finite(outputs)) & tf.reduce_all(finite)
        progress.diverged.assign(~good)
        for variable, old in zip(self.moving(), before, strict=True):
            variable.assign(tf.where(good, variable.value, old))
        labels, groups = hidden(~good, labels, groups)
        outputs = tf.where(good, outputs, tf.zeros_like(outputs))
        self.score(labels, groups, outputs)
        progress.add(labels, groups, outputs, losses(outputs, labels), is_labelled(labels))
        return outputs

    def moving(self):
        """Every variable that learning moves."""
        scale = [] if self.target_scale is None else self.target_scale.weights
        return [*self.learner.variables, *self.learner.state, *self.optimizer.variables, *self.statistics.weights,
                *(self.forest.weights if self.forest is not None else ()), *scale, *self.fairness_penalty.variables]

    def score(self, labels, groups, outputs):
        """Adds rows to the prequential metrics, and to any metric given to `compile`."""
        self.prequential.update_state(labels, groups, outputs)
        known = tf.cast(is_labelled(labels), outputs.dtype)
        self.task_loss.update_state(losses(outputs, labels), known)
        if self._compile_metrics is not None:
            self._compile_metrics.update_state(
                tf.where(is_labelled(labels), labels, tf.zeros_like(labels)), outputs, known)

    def fitting_metrics(self, metrics):
        return [fitting(metric, self.num_labels, self.positive_label) for metric in metrics or []]

    def sealed(self, as_loaded=False):
        """What the parts of a file can be compared by; of an optimizer only with one of the same kind.

        Counts that were loaded may have been reset since, by whoever loaded them; so they are kept as they came.
        """
        found = {"cell_count": self.statistics.loaded_count if as_loaded else self.statistics.cell_count.numpy()}
        if self.compiled:
            found[f"iterations_of_{len(self.optimizer.variables)}"] = self.optimizer.iterations.numpy()
        return found

    def further_state(self):
        """What a file keeps beside the weights: the metrics so far, and where random numbers go on."""
        return prefixed("progress_", self.progress.store()) | {
            f"random_{index}": variable.numpy() for index, variable in enumerate(self.random_state())}

    def take_further_state(self, values):
        if not self.built:
            return
        self.progress.load({name.removeprefix("progress_"): value for name, value in values.items()})
        for index, variable in enumerate(self.random_state()):
            if f"random_{index}" in values:
                variable.assign(values[f"random_{index}"])

    def random_state(self):
        """The seeds of dropout and the like, which Keras does not save."""
        part = self.predictor or self.encoder
        saved = set(map(id, part.weights)) if part is not None else ()
        return [variable for variable in self.learner.state if id(variable) not in saved]


def hidden(where, labels, groups):
    """Labels and groups, missing where they are not to be seen."""
    return tf.where(where, tf.constant(missing_label(labels), labels.dtype), labels), tf.where(where, -1, groups)


def last_informative_row(labels, groups):
    """How many rows there are before the padding begins."""
    return tf.reduce_max(tf.where(is_informative(labels, groups), tf.range(1, tf.shape(labels)[0] + 1), 0))
