"""A Keras model that `fit` takes through a stream, chunk by chunk.

The plumbing between Keras and the learner: what `fit`, `evaluate` and `predict_then_learn` accept,
the check of the rows, and the metrics of the progress bar. What is learned from a chunk is
`learn_rows`, which a subclass has.
"""

import warnings
from types import SimpleNamespace

import numpy as np
import tensorflow as tf

from aranyani_tf.errors import ArgumentError, DivergedError, RowError
from aranyani_tf.model.chunk_model import ChunkModel
from aranyani_tf.model.progress import FitProgress
from aranyani_tf.model.settings import require_probabilities
from aranyani_tf.model.shared_model import in_turn
from aranyani_tf.streams.chunks import Chunks, Feed, pad
from aranyani_tf.streams.row_rules import RowRules, is_bad_feature

SIZES = (1, 64, 4096)  # of a compiled chunk in predict_then_learn: few sizes, few compilations


class OnlineModel(ChunkModel):
    """Base class of `Aranyani`. Threads that share a model take turns to learn and evaluate."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        # Compiled functions: one set for rows that are all complete, one for rows with gaps.
        self.functions = SimpleNamespace(all_known=False, size=None, learn={}, train={})

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
                raise ArgumentError(f"{name} has no meaning for a stream, which is learned in its order")
        self.make_sure_it_is_compiled()
        chunks = Chunks.of(x, y, size=batch_size)
        if chunks.only_once and kwargs.get("epochs", 1) > 1:
            raise ArgumentError(f"an iterator gives its rows once; for epochs={kwargs['epochs']} pass arrays, a "
                                "Stream or a dataset")
        feed = self.feed(chunks, on_bad_rows)
        if not self.checked_probabilities:  # or else a source that gives its rows once would lose some
            self.check_probabilities(chunks.first_rows())
        if self.record_gradients:
            self.gradient_record.prepare(feed.size // self.samples_per_step)
            if self.functions.size != feed.size:  # a compiled function writes to the buffer of its own size
                self.train_function, self.functions.train, self.functions.size = None, {}, feed.size
        if kwargs.get("validation_data") is not None:
            validation = kwargs["validation_data"]
            validation = validation if isinstance(validation, tuple) else (validation,)
            kwargs["validation_data"] = self.feed(Chunks.of(*validation), on_bad_rows).dataset()
        self.set_all_known(chunks.all_known(self.num_labels))
        self.progress.epoch_rows.assign(0)
        # First in the list: at the end of an epoch it is done with it before a backup is made.
        follow = FitProgress(self.progress, self.after_chunk, self.restored)
        callbacks = [follow, *([] if callbacks is None else callbacks if isinstance(callbacks, list) else [callbacks])]
        history = self.with_clear_errors(
            feed, lambda: super(OnlineModel, self).fit(
                feed.dataset(), shuffle=False, callbacks=callbacks, **kwargs))
        self.warn(at_once=True)
        return history

    def after_chunk(self, told="this chunk"):
        """Looks after a chunk whether it went well, and keeps its norms."""
        if self.progress.diverged.numpy():
            self.progress.diverged.assign(False)
            raise DivergedError(
                f"the model has diverged in {told}: its answers or weights are no longer numbers. It was left as it "
                f"was before. Try a smaller learning rate (now {float(self.optimizer.learning_rate):g}) or "
                f"fairness_weight (now {self.fairness_weight:g}), and features of a moderate size")
        if self.record_gradients:
            self.gradient_record.keep()

    def warn(self, at_once):
        """Tells what the metrics so far show about the stream; in calls of a few rows only now and then."""
        for sentence in self.progress.sentences(at_once):
            warnings.warn(sentence, stacklevel=4)

    def restored(self):
        """A backup from the middle of an epoch was restored: what it has learned is passed over as missing rows."""
        self.set_all_known(False)
        self.make_train_function()

    @in_turn
    def evaluate(self, x=None, y=None, batch_size=None, *, on_bad_rows=None, **kwargs):
        """The metrics on rows that are not learned from; x and y as in `fit`. `so_far` is not touched."""
        feed = self.feed(Chunks.of(x, y, size=batch_size), on_bad_rows)
        self.make_sure_it_is_compiled()
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
                        self.compute_dtype, chunks.feature_names, on_bad_rows or self.on_bad_rows,
                        self.progress.has_seen_label_0())

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
        chunks = Chunks.of_arrays(x, y, a, size=4096)
        if not chunks.num_rows:
            raise RowError("the stream is empty")
        rules = self.rules(chunks, on_bad_rows)
        rows, bad, sentence = rules.checked(*chunks.arrays)
        if sentence:
            warnings.warn(f"skipped {bad.sum():,} of {len(bad):,} rows; the first: {sentence}", stacklevel=3)
        outputs = np.full((len(bad), self.num_labels), np.nan, self.compute_dtype)
        with self.state:
            self.make_sure_it_is_compiled()
            self.build_for(rules.num_features)
            if not bad.all():
                rows = rules.good_rows(bad, *rows)
                self.check_probabilities(rows[0])
                outputs[~bad] = self.learn_arrays(*rows)
        self.warn(at_once=False)
        return outputs

    def so_far(self):
        """The metrics of all rows that the model has learned from, in all calls, also before it was saved.

        >>> import aranyani_tf as ar
        >>> stream = ar.datasets.load("synthetic", num_rows=100)
        >>> model = ar.Aranyani(num_trees=1, height=2, seed=0)
        >>> said = model.predict_then_learn(stream.features, stream.labels, stream.groups)
        >>> model.so_far()["rows"]
        100
        """
        with self.state:
            return self.progress.results()

    def check_probabilities(self, features):
        """Asks a predictor once, with real rows, whether it gives probabilities."""
        features = np.asarray(features[:64], self.compute_dtype)
        usable = features[~is_bad_feature(features)]
        if not self.checked_probabilities and len(usable):
            require_probabilities(self(usable))
            self.checked_probabilities = True

    def learn_arrays(self, *rows):
        """Learns from rows that were checked; returns the predictions (n, label)."""
        under_way = self.functions.all_known  # of a `fit` in whose callback this may be called
        self.set_all_known(Chunks.of_arrays(*rows, size=1).all_known(self.num_labels))
        num_rows, k = len(rows[0]), self.samples_per_step
        size = next((s for s in SIZES if s >= num_rows), SIZES[-1])
        size = -(-size // k) * k
        outputs, norms_under_way = [], self.gradient_record.current
        try:
            for start in range(0, num_rows, size):
                piece = tuple(array[start : start + size] for array in rows)
                count = len(piece[0])
                if self.record_gradients:
                    self.gradient_record.prepare(size // k)
                predicted = self.learn_function()(*map(tf.constant, pad(piece, size)), tf.constant(count))
                self.after_chunk(f"the rows from {start:,} to {start + count - 1:,}, of those that could be used")
                outputs.append(predicted.numpy()[:count])
        finally:
            self.set_all_known(under_way)
            self.gradient_record.current = norms_under_way or self.gradient_record.current
        return np.concatenate(outputs)

    def learn_function(self):
        """`learn_and_score`, compiled unless the user wants it eager."""
        functions = self.functions
        if self.run_eagerly:
            return self.learn_and_score
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
