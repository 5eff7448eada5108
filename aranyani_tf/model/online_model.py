"""A Keras model that `fit` takes through a stream, chunk by chunk.

The plumbing between Keras and the learner: what `fit`, `evaluate` and `predict_then_learn` accept, and the check
of the rows.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from aranyani_tf.errors import ArgumentError, RowError
from aranyani_tf.model.answering_model import AnsweringModel
from aranyani_tf.model.progress import FitProgress
from aranyani_tf.model.settings import require_probabilities, require_weights_taken
from aranyani_tf.model.shared_model import in_turn
from aranyani_tf.streams.chunks import Chunks
from aranyani_tf.streams.feed import Feed, pad
from aranyani_tf.streams.row_rules import RowRules, is_bad_feature

SIZES = (1, 64, 4096)  # of a compiled chunk in predict_then_learn: few sizes, few compilations


class OnlineModel(AnsweringModel):
    """Base class of `Aranyani`. Threads that share a model take turns to learn and evaluate.

    Args:
        samples_per_step: how many rows share an update; chunks have a whole number of steps.
        gives_probabilities: False if that has to be looked at, once there are rows.
        others: those of `AnsweringModel`.
    """

    def __init__(self, *, samples_per_step: int, gives_probabilities: bool, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.samples_per_step = samples_per_step
        self.checked_probabilities = gives_probabilities
        self.chunk_size = 0  # rows of the chunks that are learned at the moment

    @in_turn
    def fit(self, x: Any = None, y: Any = None, batch_size: int | None = None, *,
            sample_weight: Any = None, on_bad_rows: str | None = None, callbacks: Any = None,
            **kwargs: Any) -> keras.callbacks.History:
        """Learns from a stream, in order, and returns Keras's history.

        Args:
            x: a `Stream`, `stream.chunks(size)`, a dataset or iterable of
                `({"features": x, "group": a}, y)`, or that dict of arrays beside y.
            y: the labels, when x is a dict of arrays.
            batch_size: rows per chunk (4096), when x is not in chunks already. It has no effect
                on what is learned: samples are taken one by one (`samples_per_step`).
            sample_weight: what rows of a stream in memory weigh, (n,), as in `predict_then_learn`; None is 1 each.
            on_bad_rows: "raise" or "skip"; None is the model's own setting.
            **kwargs: what Keras's `fit` takes: epochs, callbacks, verbose, validation_data, …
        """
        for name in ("class_weight", "validation_split", "shuffle"):
            value = kwargs.pop(name, None)
            if value is not None and not (np.isscalar(value) and not value):
                raise ArgumentError(f"{name} has no meaning for a stream, which is learned in its order")
        self.require_own_state()
        self.make_sure_it_is_compiled()
        chunks = Chunks.of(x, y, size=batch_size)
        if sample_weight is not None:
            chunks = chunks.weighted(sample_weight)
        if chunks.only_once and kwargs.get("epochs", 1) > 1:
            raise ArgumentError(f"an iterator gives its rows once; for epochs={kwargs['epochs']} pass arrays, a "
                                "Stream or a dataset")
        feed = self.feed(chunks, on_bad_rows)
        if sample_weight is not None:
            require_weights_taken(*self.learning_methods())
        if not self.checked_probabilities:  # or else a source that gives its rows once would lose some
            self.check_probabilities(chunks.first_rows())
        held_out = kwargs.get("validation_data")
        if held_out is not None:
            held_out = self.feed(Chunks.of_held_out(held_out), on_bad_rows)
            kwargs["validation_data"] = held_out.dataset()
        # First in the list: at the end of an epoch it is done with it before a backup is made.
        follow = FitProgress(self.progress, self.after_chunk, self.restored)
        given = [] if callbacks is None else callbacks if isinstance(callbacks, list) else [callbacks]
        with self.learning(feed.size, chunks.all_known(self.num_labels)), feed.clear_errors(), (
                nullcontext() if held_out is None else held_out.clear_errors()), self.dataset_of(feed) as dataset:
            self.progress.epoch_rows.assign(0)
            history = super().fit(dataset, shuffle=False, callbacks=[follow, *given], **kwargs)
        self.warn(at_once=True)
        return history

    @contextmanager
    def dataset_of(self, feed: Feed) -> Iterator[tf.data.Dataset]:
        """What Keras's `fit` is given while a feed is learned."""
        yield feed.dataset()

    @contextmanager
    def learning(self, chunk_size: int, all_known: bool) -> Iterator[None]:
        """Learns in chunks of this size, with or without gaps; a `fit` in whose callback that is goes on as before."""
        before = self.chunk_size, self.all_known, self.progress.epoch_rows.numpy()
        self.chunk_size, self.all_known = chunk_size, all_known
        self.before_chunks()
        try:
            yield
        finally:
            self.chunk_size, self.all_known, epoch_rows = before
            if self.chunk_size is not None:
                self.progress.epoch_rows.assign(epoch_rows)

    def before_chunks(self) -> None:
        """Called before chunks of `chunk_size` rows are learned; a subclass may make room for what it notes of them."""

    def restored(self) -> None:
        """A backup from the middle of an epoch was restored: what it has learned is passed over as missing rows."""
        self.all_known = False

    @in_turn
    def evaluate(self, x: Any = None, y: Any = None, batch_size: int | None = None, *,
                 on_bad_rows: str | None = None, **kwargs: Any) -> Any:
        """The metrics on rows that are not learned from; x and y as in `fit`. `so_far` is not touched."""
        self.settle()
        feed = self.feed(Chunks.of(x, y, size=batch_size), on_bad_rows)
        self.make_sure_it_is_compiled()
        with feed.clear_errors():
            return super().evaluate(feed.dataset(), **kwargs)

    def feed(self, chunks: Chunks, on_bad_rows: str | None = None) -> Feed:
        """Checked chunks whose size is a whole number of steps; builds the model if need be."""
        rules = self.rules(chunks, on_bad_rows)
        steps = max(min(chunks.size, self.largest_chunk()) // self.samples_per_step, 1)
        feed = Feed(chunks, rules, size=steps * self.samples_per_step)
        self.build_for(rules.num_features)
        return feed

    def largest_chunk(self) -> int:
        """Rows that may be learned at once; a subclass may have to look after each few."""
        return 2**31

    def rules(self, chunks: Chunks, on_bad_rows: str | None) -> RowRules:
        """What rows have to be, and what is done about bad ones."""
        return RowRules(self.num_features if self.built else chunks.num_features, self.num_labels, self.num_groups,
                        self.compute_dtype, chunks.feature_names,
                        self.on_bad_rows if on_bad_rows is None else on_bad_rows,
                        self.progress.has_seen_label_0())

    @in_turn
    def predict_then_learn(self, x: Any, y: Any, a: Any, sample_weight: Any = None, *,
                           on_bad_rows: str | None = None) -> np.ndarray:
        """Predicts each row, then learns from it, in order; one row or many.

        A step does not go on from one call to the next: with `samples_per_step=10` the last step of a call
        takes the rows that are left, and a call with one row is a step.

        Args:
            x, y, a: features (n, feature), labels (n,) and groups (n,); a label or group of −1 is missing, in
                regression a label of NaN.
            sample_weight: what each row weighs, (n,), finite and at least 0; None is 1 each. A row of weight w has w
                times the task's gradient, and counts for the running means as w rows that come at once; it makes
                them forget (`decay`) once. Weight 0 teaches nothing, as a row without label and group. Metrics,
                `wait_for_all_groups`, a `ParityTarget` and the scale of a regression's target count rows, whatever
                they weigh.
            on_bad_rows: "raise"; or "skip", which learns nothing from a bad row, and says NaN about it. None
                is the model's own setting.

        Returns:
            (n, label): what the model said about each row before it learned from that row.
        """
        self.require_own_state()
        chunks = Chunks.of_arrays(x, y, a, *(() if sample_weight is None else (sample_weight,)), size=4096)
        if not chunks.num_rows:
            raise RowError("the stream is empty")
        rules = self.rules(chunks, on_bad_rows)
        assert chunks.arrays is not None
        rows, bad, sentence = rules.checked(*chunks.arrays)
        if sentence:
            warnings.warn(f"skipped {bad.sum():,} of {len(bad):,} rows; the first: {sentence}", stacklevel=3)
        outputs = np.full((len(bad), self.num_labels), np.nan, self.compute_dtype)
        with self.state:
            self.make_sure_it_is_compiled()
            self.build_for(rules.num_features)
            if sample_weight is not None:
                require_weights_taken(*self.learning_methods())
            if not bad.all():
                rows = rules.good_rows(bad, *rows)
                self.check_probabilities(rows[0])
                outputs[~bad] = self.learn_arrays(*rows)
        self.warn(at_once=False)
        return outputs

    def learning_methods(self) -> list[Any]:
        """Those that have to know what rows weigh."""
        return [self.learn_rows, self.learn_and_score]

    def check_probabilities(self, features: np.ndarray) -> None:
        """Asks a predictor once, with real rows, whether it gives probabilities."""
        features = np.asarray(features[:64], self.compute_dtype)
        usable = features[~is_bad_feature(features)]
        if not self.checked_probabilities and len(usable):
            require_probabilities(self(usable))
            self.checked_probabilities = True

    def learn_arrays(self, *rows: np.ndarray) -> np.ndarray:
        """Learns from rows that were checked; returns the predictions (n, label)."""
        num_rows, k = len(rows[0]), self.samples_per_step
        size = next((s for s in SIZES if s >= num_rows), SIZES[-1])
        size = max(min(size, self.largest_chunk()) // k, 1) * k
        outputs = []
        with self.learning(size, Chunks.of_arrays(*rows, size=1).all_known(self.num_labels)):
            learn = self.program(self.learn_and_score)
            for start in range(0, num_rows, size):
                piece = tuple(array[start : start + size] for array in rows)
                count = len(piece[0])
                features, labels, groups, *row_weights = map(tf.constant, pad(piece, size))
                predicted = learn(features, labels, groups, tf.constant(count), *row_weights)
                self.after_chunk(f"the rows from {start:,} to {start + count - 1:,}, of those that could be used")
                outputs.append(predicted.numpy()[:count])
        return np.concatenate(outputs)
