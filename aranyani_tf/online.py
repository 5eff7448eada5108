"""A Keras model that `fit` takes through a stream, chunk by chunk.

The plumbing between Keras and the learner: what `fit`, `evaluate` and `predict_then_learn` accept,
the check of the rows, and the metrics of the progress bar. What is learned from a chunk is
`learn_rows`, which a subclass has.
"""

import functools
import threading
import warnings
from types import SimpleNamespace

import keras
import numpy as np
import tensorflow as tf

from aranyani_tf.chunks import Chunks, Feed, pad
from aranyani_tf.learners import is_labelled, losses
from aranyani_tf.rows import RowRules

SIZES = (1, 64, 4096)  # of a compiled chunk in predict_then_learn: few sizes, few compilations


def in_turn(method):
    """Lets one thread at a time into the methods that are marked so."""
    @functools.wraps(method)
    def wait_then_run(self, *arguments, **kwargs):
        with self.turn:
            return method(self, *arguments, **kwargs)
    return wait_then_run


class OnlineModel(keras.Model):
    """Base class of `Aranyani`. Threads that share a model take turns to learn and evaluate."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        # Compiled functions: one set for rows that are all complete, one for rows with gaps.
        self.functions = SimpleNamespace(all_known=False, size=None, learn={}, train={})
        self.turn = threading.RLock()

    @in_turn
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
            value = kwargs.pop(name, None)
            if value is not None and not (np.isscalar(value) and not value):
                raise ValueError(f"{name} has no meaning for a stream, which is learned in its order")
        if not self.compiled:
            self.compile()
        chunks = Chunks.of(x, y, size=batch_size)
        if chunks.only_once and kwargs.get("epochs", 1) > 1:
            raise ValueError(f"an iterator gives its rows once; for epochs={kwargs['epochs']} pass arrays, a Stream "
                             "or a dataset")
        feed = self.feed(chunks, on_bad_rows)
        callbacks = callbacks or []
        if self.record_gradients:
            self.gradient_record.prepare(feed.size // self.samples_per_step)
            if self.functions.size != feed.size:  # a compiled function writes to the buffer of its own size
                self.train_function, self.functions.train, self.functions.size = None, {}, feed.size
            recorder = keras.callbacks.LambdaCallback(
                on_train_batch_end=lambda batch, logs: self.gradient_record.keep())
            callbacks = (callbacks if isinstance(callbacks, list) else [callbacks]) + [recorder]
        if kwargs.get("validation_data") is not None:
            validation = kwargs["validation_data"]
            validation = validation if isinstance(validation, tuple) else (validation,)
            kwargs["validation_data"] = self.feed(Chunks.of(*validation), on_bad_rows).dataset()
        self.set_all_known(chunks.all_known)
        return self.with_clear_errors(
            feed, lambda: super(OnlineModel, self).fit(
                feed.dataset(), shuffle=False, callbacks=callbacks, **kwargs))

    @in_turn
    def evaluate(self, x=None, y=None, batch_size=None, *, on_bad_rows=None, **kwargs):
        """The metrics on rows that are not learned from; x and y as in `fit`."""
        feed = self.feed(Chunks.of(x, y, size=batch_size), on_bad_rows)
        if not self.compiled:
            self.compile()
        return self.with_clear_errors(
            feed, lambda: super(OnlineModel, self).evaluate(feed.dataset(), **kwargs))

    def train_on_batch(self, *arguments, **kwargs):
        """Not for a stream: a batch of it has groups, and comes with what was said before it was learned."""
        raise NotImplementedError("use predict_then_learn(x, y, a), which learns from rows as they arrive")

    def test_on_batch(self, *arguments, **kwargs):
        raise NotImplementedError("use evaluate({'features': x, 'group': a}, y)")

    def feed(self, chunks, on_bad_rows=None):
        """Checked chunks whose size is a whole number of steps; builds the model if need be."""
        rules = self.rules(chunks, on_bad_rows)
        steps = max(chunks.size // self.samples_per_step, 1)
        feed = Feed(chunks, rules, size=steps * self.samples_per_step)
        self.build_for(rules.num_features)
        return feed

    def rules(self, chunks, on_bad_rows):
        """What rows have to be, and what is done about bad ones."""
        return RowRules(self.num_features if self.built else chunks.num_features, self.num_labels, self.num_groups,
                        self.compute_dtype, chunks.feature_names, on_bad_rows or self.on_bad_rows)

    def build_for(self, num_features):
        if not self.built:  # by a call, since Keras exports only what was called
            self(np.zeros((1, num_features), self.compute_dtype))

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
        self.fairness_penalty.update_state(self.step.penalty_of(self.statistics.read(), self._fairness_weight))
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

    @in_turn
    def predict_then_learn(self, x, y, a, *, on_bad_rows=None):
        """Predicts each row, then learns from it, in order; one row or many.

        A step does not go on from one call to the next: with `samples_per_step=10` the last step of a call
        takes the rows that are left, and a call with one row is a step.

        Args:
            x, y, a: features (n, feature), labels (n,) and groups (n,); a label or group of −1 is missing, in
                regression a label of NaN.
            on_bad_rows: "raise"; or "skip", which learns nothing from a bad row, and says NaN about it. None is
                the model's own setting.

        Returns:
            (n, label): what the model said about each row before it learned from that row.
        """
        chunks = Chunks.of_arrays(x, y, a, size=max(len(x), 1))
        if not chunks.num_rows:
            raise ValueError("the stream is empty")
        rules = self.rules(chunks, on_bad_rows)
        features, labels, groups = rules.convert(*chunks.arrays)
        bad, problem = rules.problems(features, labels, groups)
        if problem:
            sentence = f"row {problem[0]:,}: {problem[1]}"
            rules.complain(sentence)
            warnings.warn(f"skipped {bad.sum():,} of {len(bad):,} rows; the first: {sentence}", stacklevel=2)
        outputs = np.full((len(bad), self.num_labels), np.nan, self.compute_dtype)
        if not self.compiled:
            self.compile()
        self.build_for(rules.num_features)
        if not bad.all():
            outputs[~bad] = self.learn_arrays(*rules.good_rows(bad, features, labels, groups))
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
                self.gradient_record.prepare(size // k)
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
