"""A Keras model that `fit` takes through a stream, chunk by chunk.

The plumbing between Keras and the learner: what `fit`, `evaluate` and `predict_then_learn` accept,
the check of the rows, and the metrics of the progress bar. What is learned from a chunk is
`learn_rows`, which a subclass has.
"""

import warnings
from types import SimpleNamespace

import keras
import numpy as np
import tensorflow as tf

from aranyani_tf.arguments import require_choice
from aranyani_tf.chunks import Chunks, Feed, pad
from aranyani_tf.learners import is_labelled, losses
from aranyani_tf.rows import RowRules

ON_BAD_ROWS = ("raise", "skip")
SIZES = (1, 64, 4096)  # of a compiled chunk in predict_then_learn: few sizes, few compilations


class OnlineModel(keras.Model):
    """Base class of `Aranyani`."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        # Compiled functions: one set for rows that are all complete, one for rows with gaps.
        self.functions = SimpleNamespace(all_known=False, learn={}, train={})

    def fit(self, x=None, y=None, batch_size=None, *, on_bad_rows=None, callbacks=None, **kwargs):
        """Learns from a stream, in order, and returns Keras's history.

        Args:
            x: a `Stream`, `stream.chunks(size)`, a dataset or iterable of
                `({"features": x, "group": a}, y)`, or that dict of arrays beside y.
            y: the labels, when x is a dict of arrays.
            batch_size: rows per chunk (4096), when x is not in chunks already. It has no effect
                on what is learned: samples are taken one by one (`samples_per_step`).
            on_bad_rows: "raise" or "skip"; None is the model's own setting.
            **kwargs: what Keras's `fit` takes: epochs, callbacks, verbose, validation_data, …
        """
        for name in ("sample_weight", "class_weight", "validation_split", "shuffle"):
            if kwargs.pop(name, None):
                raise ValueError(f"{name} has no meaning for a stream, which is learned in its order")
        if not self.compiled:
            self.compile()
        chunks = Chunks.of(x, y, size=batch_size)
        feed = self.feed(chunks, on_bad_rows)
        self.set_all_known(chunks.all_known)
        callbacks = callbacks or []
        if self.record_gradients:
            self.gradient_record.prepare(
                feed.size // self.samples_per_step, self.learner.names, self.compute_dtype)
            recorder = keras.callbacks.LambdaCallback(
                on_train_batch_end=lambda batch, logs: self.gradient_record.keep())
            callbacks = (callbacks if isinstance(callbacks, list) else [callbacks]) + [recorder]
        if kwargs.get("validation_data") is not None:
            validation = kwargs["validation_data"]
            validation = validation if isinstance(validation, tuple) else (validation,)
            kwargs["validation_data"] = self.feed(Chunks.of(*validation), on_bad_rows).dataset()
        return self.with_clear_errors(
            feed, lambda: super(OnlineModel, self).fit(
                feed.dataset(), shuffle=False, callbacks=callbacks, **kwargs))

    def evaluate(self, x=None, y=None, batch_size=None, *, on_bad_rows=None, **kwargs):
        """The metrics on rows that are not learned from; x and y as in `fit`."""
        feed = self.feed(Chunks.of(x, y, size=batch_size), on_bad_rows)
        if not self.compiled:
            self.compile()
        return self.with_clear_errors(
            feed, lambda: super(OnlineModel, self).evaluate(feed.dataset(), **kwargs))

    def feed(self, chunks, on_bad_rows=None):
        """Checked chunks whose size is a whole number of steps; builds the model if need be."""
        on_bad_rows = on_bad_rows or self.on_bad_rows
        require_choice("on_bad_rows", on_bad_rows, ON_BAD_ROWS)
        num_features = self.num_features if self.built else chunks.num_features
        rules = RowRules(num_features, self.num_labels, self.num_groups, self.compute_dtype,
                         chunks.feature_names)
        steps = max(chunks.size // self.samples_per_step, 1)
        feed = Feed(chunks, rules, size=steps * self.samples_per_step, on_bad_rows=on_bad_rows)
        if not self.built:  # by a call, since Keras exports only what was called
            self(np.zeros((1, num_features), self.compute_dtype))
        return feed

    def with_clear_errors(self, feed, run):
        """Runs, and raises what went wrong in the feed as it is, not as tf.data wraps it."""
        try:
            with warnings.catch_warnings():  # a stream of unknown length is no accident
                warnings.filterwarnings("ignore", "Your input ran out of data")
                return run()
        except Exception:
            if feed.error is not None:
                raise feed.error from None
            raise

    def train_step(self, data):
        inputs, labels = data
        features, groups = inputs["features"], inputs["group"]
        self.learn_and_score(features, labels, groups, last_informative_row(labels, groups))
        return self.get_metrics_result()

    def test_step(self, data):
        inputs, labels = data
        self.score(labels, inputs["group"], self(inputs["features"], training=False))
        return self.get_metrics_result()

    def learn_and_score(self, features, labels, groups, num_rows):
        outputs = self.learn_rows(features, labels, groups, num_rows)
        self.score(labels, groups, outputs)
        return outputs

    def score(self, labels, groups, outputs):
        """Adds rows to the prequential metrics, and to any metric given to `compile`."""
        self.prequential.update_state(labels, groups, outputs)
        known = tf.cast(is_labelled(labels), outputs.dtype)
        self.task_loss.update_state(losses(outputs, labels), known)
        if self._compile_metrics is not None:
            self._compile_metrics.update_state(
                tf.where(is_labelled(labels), labels, tf.zeros_like(labels)), outputs, known)

    def predict_then_learn(self, x, y, a, *, on_bad_rows=None):
        """Predicts each row, then learns from it, in order; one row or many.

        Returns:
            (n, label): what the model said about each row before it learned from that row. A row
            that was skipped as bad has NaN.
        """
        if not self.compiled:
            self.compile()
        feed = self.feed(Chunks.of_arrays(x, y, a, size=max(len(x), 1)), on_bad_rows)
        (rows,) = feed.good_pieces()
        bad, _ = feed.rules.problems(*feed.rules.convert(x, y, a))
        outputs = np.full((len(bad), self.num_labels), np.nan, self.compute_dtype)
        outputs[~bad] = self.learn_arrays(*rows)
        return outputs

    def learn_arrays(self, *rows):
        """Learns from rows that were checked; returns the predictions (n, label)."""
        self.set_all_known(Chunks.of_arrays(*rows, size=1).all_known)
        num_rows, k = len(rows[0]), self.samples_per_step
        size = next((s for s in SIZES if s >= num_rows), SIZES[-1])
        size = -(-size // k) * k
        outputs = []
        for start in range(0, num_rows, size):
            piece = tuple(array[start : start + size] for array in rows)
            count = len(piece[0])
            if self.record_gradients:
                self.gradient_record.prepare(size // k, self.learner.names, self.compute_dtype)
            predicted = self.learn_function()(*map(tf.constant, pad(piece, size)), tf.constant(count))
            outputs.append(predicted.numpy()[:count])
            if self.record_gradients:
                self.gradient_record.keep()
        return np.concatenate(outputs)

    def learn_function(self):
        """`learn_and_score`, compiled."""
        functions = self.functions
        if functions.all_known not in functions.learn:
            functions.learn[functions.all_known] = tf.function(
                self.learn_and_score, jit_compile=bool(self.jit_compile), autograph=False)
        return functions.learn[functions.all_known]

    def set_all_known(self, all_known):
        """Tells whether every row has its label and group: the loop is faster if that is sure."""
        functions = self.functions
        if functions.all_known != all_known:
            functions.train[functions.all_known] = self.train_function
            functions.all_known = all_known
            self.train_function = functions.train.get(all_known)

    def forget_functions(self):
        self.functions.learn, self.functions.train = {}, {}


def last_informative_row(labels, groups):
    """How many rows there are before the padding begins."""
    informative = is_labelled(labels) | (groups >= 0)
    return tf.reduce_max(tf.where(informative, tf.range(1, tf.shape(labels)[0] + 1), 0))
