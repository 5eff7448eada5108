"""Pieces of a stream on their way into the training loop: checked, cut to one size, and padded.

A row with neither label nor group teaches nothing, so that is what a padding row is.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import tensorflow as tf

from aranyani_tf.errors import RowError
from aranyani_tf.labels import missing_label
from aranyani_tf.streams.chunks import Chunks, as_element
from aranyani_tf.streams.row_rules import RowRules

SMALL = 2**30  # bytes of features that `Feed` copies as a whole
PLAIN = tf.data.Options()
PLAIN.autotune.enabled = False  # it can double the time of a short epoch


class Feed:
    """Checked chunks of one size for the training loop.

    Rows in memory are all checked before the first one is used; rows of a dataset are checked
    chunk by chunk, each before the model sees it.
    """

    def __init__(self, chunks: Chunks, rules: RowRules, *, size: int) -> None:
        self.chunks, self.rules, self.size = chunks, rules, size
        self.error: Exception | None = None
        self.num_rows: int | None = None
        self.num_given = 0
        self.all_good = False  # known to be so
        if chunks.arrays is not None:
            rules.require_no_signs(chunks.arrays[1])
            self.num_rows = sum(len(features) for features, *_ in self.good_pieces(tell=False))
            self.all_good = self.num_rows == chunks.num_rows

    def good_pieces(self, tell: bool = True) -> Iterator[tuple[np.ndarray, ...]]:
        """The pieces without their bad rows: skips and tells of them, or raises at the first."""
        start, num_good, first = 0, 0, None
        for piece in self.chunks.pieces():
            piece = self.rules.convert(*piece)
            bad, problem = self.rules.problems(*piece, whole=self.chunks.arrays and self.chunks.arrays[1:3])
            if self.chunks.arrays is None:
                self.rules.require_no_signs(piece[1])
            if problem:
                sentence = f"row {start + problem[0]:,}: {problem[1]}"
                used = f" (the first {self.num_given:,} rows have been used)" if self.num_given else ""
                self.rules.complain(sentence + used)
                first = first or sentence
            piece = self.rules.good_rows(bad, *piece)
            start += len(bad)
            num_good += len(piece[0])
            yield piece
        if num_good == 0:
            raise RowError("the stream is empty" if start == 0 else
                           f"none of the {start:,} rows can be used; {first}")
        if first and tell:
            warnings.warn(f"skipped {start - num_good:,} of {start:,} rows; the first: {first}",
                          stacklevel=2)

    def padded(self) -> Iterator[tuple[np.ndarray, ...]]:
        """Chunks of exactly `size` rows; the last one is filled up with rows that teach nothing."""
        held = []
        for piece in self.good_pieces():
            held.append(piece)
            while sum(len(x) for x, *_ in held) >= self.size:
                rows = held[0] if len(held) == 1 else tuple(map(np.concatenate, zip(*held, strict=True)))
                yield tuple(array[: self.size] for array in rows)
                held = [tuple(array[self.size :] for array in rows)]
        if held and sum(len(x) for x, *_ in held):
            yield pad(tuple(map(np.concatenate, zip(*held, strict=True))), self.size)

    def dataset(self) -> tf.data.Dataset:
        """The padded chunks as a tf.data.Dataset of ({"features", "group"}, labels), and weights if rows have any."""
        arrays = self.chunks.arrays
        if self.all_good and arrays is not None and arrays[0].nbytes <= SMALL:
            return self.whole().with_options(PLAIN)
        return self.generated().with_options(PLAIN)

    def rows(self) -> tuple[np.ndarray, ...]:
        """All rows of a stream that is in memory and `all_good`, as the training loop takes them."""
        assert self.chunks.arrays is not None
        rows = self.rules.convert(*self.chunks.arrays)
        return self.rules.good_rows(np.zeros(len(rows[0]), bool), *rows)

    def whole(self) -> tf.data.Dataset:
        """The dataset of arrays that may be copied once: cheaper a chunk than a generator."""
        rows = self.rows()
        padded = pad(rows, -(-len(rows[0]) // self.size) * self.size)
        return tf.data.Dataset.from_tensor_slices(as_element(*(
            array.reshape(-1, self.size, *array.shape[1:]) for array in padded)))

    def generated(self) -> tf.data.Dataset:
        """The dataset of rows that come piece by piece, checked on the way."""
        rules = self.rules
        label_type = rules.dtype if rules.num_labels == 1 else "int32"
        weighs = self.chunks.arrays is not None and len(self.chunks.arrays) == 4
        columns = (label_type, "int32", "float64") if weighs else (label_type, "int32")
        signature = as_element(tf.TensorSpec((self.size, rules.num_features), rules.dtype),
                               *(tf.TensorSpec((self.size,), kind) for kind in columns))

        def generate() -> Iterator[tuple]:
            try:
                self.num_given = 0
                for rows in self.padded():
                    yield as_element(*rows)
                    self.num_given += self.size
            except Exception as error:  # tf.data would bury it; `fit` raises it as it is
                self.error = error
                raise

        dataset = tf.data.Dataset.from_generator(generate, output_signature=signature)
        if self.num_rows is not None:
            dataset = dataset.apply(
                tf.data.experimental.assert_cardinality(-(-self.num_rows // self.size)))
        return dataset

    @contextmanager
    def clear_errors(self) -> Iterator[None]:
        """Raises what went wrong in the feed as it is, not as tf.data wraps it."""
        try:
            with warnings.catch_warnings():  # a stream of unknown length is no accident
                warnings.filterwarnings("ignore", "Your input ran out of data")
                yield
        except Exception:
            if self.error is not None:
                raise self.error from None
            raise


class Places:
    """The chunks of a feed whose rows are in memory, for who reads them there: a dataset of their numbers alone.

    tf.data would copy every row twice, which takes a fifth of the time of learning rows of 768 features.
    """

    def __init__(self, feed: Feed) -> None:
        self.rows, self.size = feed.rows(), feed.size

    def dataset(self) -> tf.data.Dataset:
        return tf.data.Dataset.range(-(-len(self.rows[0]) // self.size)).with_options(PLAIN)

    def chunk(self, number: int) -> tuple:
        """What `Feed.dataset` has in this place."""
        start = number * self.size
        return as_element(*pad(tuple(array[start : start + self.size] for array in self.rows), self.size))


def pad(rows: tuple[np.ndarray, ...], size: int) -> tuple[np.ndarray, ...]:
    """(features, labels, groups), and weights if there are any, filled up with rows that teach nothing."""
    if len(rows[0]) == size:
        return rows
    return tuple(
        np.pad(array, [(0, size - len(array))] + [(0, 0)] * (array.ndim - 1), constant_values=filler)
        for array, filler in zip(rows, (0, missing_label(rows[1]), -1, 1), strict=False))
