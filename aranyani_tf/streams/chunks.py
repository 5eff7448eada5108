"""Pieces of a stream on their way into the training loop: checked, cut to one size, and padded.

A row with neither label nor group teaches nothing, so that is what a padding row is.
"""

import itertools
import warnings

import numpy as np
import tensorflow as tf

from aranyani_tf.arguments import require_whole
from aranyani_tf.errors import RowError
from aranyani_tf.streams.row_rules import as_rows, is_missing

SMALL = 2**30  # bytes of features that `Feed` copies as a whole


class Chunks:
    """A stream in pieces; iterating gives ({"features": x, "group": a}, y), as Keras wants them.

    Args:
        pieces: function without arguments, gives an iterator over (features, labels, groups).
        size: rows per chunk in the training loop.
        num_rows: how many rows there are, if known.
        arrays: the three whole arrays, if the stream is in memory.
        only_once: whether `pieces` always gives the same iterator.
    """

    def __init__(self, pieces, *, size, num_rows=None, arrays=None, feature_names=None, only_once=False):
        require_whole("the chunk size", size, 1)
        self.pieces, self.size, self.num_rows, self.arrays = pieces, size, num_rows, arrays
        self.feature_names, self.only_once = feature_names, only_once

    @classmethod
    def of_arrays(cls, features, labels, groups, *, size, feature_names=None):
        arrays = as_rows(features, labels, groups)

        def pieces():
            for start in range(0, len(arrays[0]), size):
                yield tuple(array[start : start + size] for array in arrays)

        return cls(pieces, size=size, num_rows=len(arrays[0]), arrays=arrays, feature_names=feature_names)

    @classmethod
    def of(cls, x, y=None, *, size=None):
        """Whatever `fit` was given: a Stream, chunks, arrays, a dataset or an iterable of batches."""
        if isinstance(x, Chunks):
            return x
        if callable(getattr(x, "chunks", None)):
            return x.chunks(size or 4096)
        if isinstance(x, dict):
            if y is None:
                raise RowError("labels are missing: fit({'features': x, 'group': a}, y)")
            return cls.of_arrays(*split_batch((x, y)), size=size or 4096)
        if y is not None or isinstance(x, np.ndarray):
            raise RowError("the group is missing: pass {'features': x, 'group': a} as x, or a Stream")
        if not hasattr(x, "__iter__") or isinstance(x, str):
            raise RowError("rows must be a Stream, {'features': x, 'group': a} with y, or batches of these; got "
                           f"{type(x).__name__}")
        if iter(x) is x:
            pieces = map(split_batch, x)
            return cls(lambda: pieces, size=size or 4096, only_once=True)
        return cls(lambda: map(split_batch, x), size=size or 4096)

    def __iter__(self):
        for features, labels, groups in self.pieces():
            yield {"features": features, "group": groups}, labels

    def __len__(self):
        if self.num_rows is None:
            raise TypeError("the length of this stream is not known")
        return -(-self.num_rows // self.size)

    @property
    def num_features(self):
        return self.first_rows().shape[1]

    def first_rows(self):
        """The features of the first piece; an iterator that runs only once gets them back."""
        if self.arrays is not None:
            return self.arrays[0][: self.size]
        pieces = self.pieces()
        first = next(pieces, None)
        if first is None:
            raise RowError("the stream is empty")
        if self.only_once:
            rest = itertools.chain([first], pieces)
            self.pieces = lambda: rest
        features = np.asarray(first[0])
        if features.ndim != 2:
            raise RowError(f"the features of a batch must be (rows, features), got shape {features.shape}; a dataset "
                           "of single rows has to be batched first: dataset.batch(1024)")
        return features

    def all_known(self, num_labels):
        """Whether every row surely has a label and a group."""
        if self.arrays is None:
            return False
        _, labels, groups = self.arrays
        return not (is_missing(labels, num_labels).any() or (groups < 0).any())


def split_batch(batch):
    """({"features": x, "group": a}, y) → x, y, a."""
    if not (isinstance(batch, (tuple, list)) and len(batch) == 2
            and isinstance(batch[0], dict) and {"features", "group"} <= set(batch[0])):
        raise RowError("a batch must be ({'features': x, 'group': a}, y)")
    inputs, labels = batch
    return inputs["features"], labels, inputs["group"]


class Feed:
    """Checked chunks of one size for the training loop.

    Rows in memory are all checked before the first one is used; rows of a dataset are checked
    chunk by chunk, each before the model sees it.
    """

    def __init__(self, chunks, rules, *, size):
        self.chunks, self.rules, self.size = chunks, rules, size
        self.error, self.num_given = None, 0
        self.num_rows = None
        self.all_good = False  # known to be so
        if chunks.arrays is not None:
            rules.require_no_signs(chunks.arrays[1])
            self.num_rows = sum(len(labels) for _, labels, _ in self.good_pieces(tell=False))
            self.all_good = self.num_rows == chunks.num_rows

    def good_pieces(self, tell=True):
        """The pieces without their bad rows: skips and tells of them, or raises at the first."""
        start, num_good, first = 0, 0, None
        for piece in self.chunks.pieces():
            piece = self.rules.convert(*piece)
            bad, problem = self.rules.problems(*piece, whole=self.chunks.arrays and self.chunks.arrays[1:])
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

    def padded(self):
        """Chunks of exactly `size` rows; the last one is filled up with rows that teach nothing."""
        held = []
        for piece in self.good_pieces():
            held.append(piece)
            while sum(len(x) for x, _, _ in held) >= self.size:
                rows = held[0] if len(held) == 1 else tuple(map(np.concatenate, zip(*held, strict=True)))
                yield tuple(array[: self.size] for array in rows)
                held = [tuple(array[self.size :] for array in rows)]
        if held and sum(len(x) for x, _, _ in held):
            yield pad(tuple(map(np.concatenate, zip(*held, strict=True))), self.size)

    def dataset(self):
        """The padded chunks as a tf.data.Dataset of ({"features", "group"}, labels)."""
        options = tf.data.Options()
        options.autotune.enabled = False  # it can double the time of a short epoch
        small = self.all_good and self.chunks.arrays[0].nbytes <= SMALL
        return (self.whole() if small else self.generated()).with_options(options)

    def whole(self):
        """The dataset of arrays that may be copied once: cheaper a chunk than a generator."""
        rows = self.rules.good_rows(np.zeros(self.num_rows, bool), *self.rules.convert(*self.chunks.arrays))
        padded = pad(rows, -(-self.num_rows // self.size) * self.size)
        features, labels, groups = (
            array.reshape(-1, self.size, *array.shape[1:]) for array in padded)
        return tf.data.Dataset.from_tensor_slices(({"features": features, "group": groups}, labels))

    def generated(self):
        """The dataset of rows that come piece by piece, checked on the way."""
        rules = self.rules
        label_type = rules.dtype if rules.num_labels == 1 else "int32"
        signature = ({"features": tf.TensorSpec((self.size, rules.num_features), rules.dtype),
                      "group": tf.TensorSpec((self.size,), "int32")},
                     tf.TensorSpec((self.size,), label_type))

        def generate():
            try:
                self.num_given = 0
                for features, labels, groups in self.padded():
                    yield {"features": features, "group": groups}, labels
                    self.num_given += len(labels)
            except Exception as error:  # tf.data would bury it; `fit` raises it as it is
                self.error = error
                raise

        dataset = tf.data.Dataset.from_generator(generate, output_signature=signature)
        if self.num_rows is not None:
            dataset = dataset.apply(
                tf.data.experimental.assert_cardinality(-(-self.num_rows // self.size)))
        return dataset


def pad(rows, size):
    """(features, labels, groups) filled up to `size` rows with rows that teach nothing."""
    no_label = np.nan if rows[1].dtype.kind == "f" else -1
    return tuple(
        np.pad(array, [(0, size - len(array))] + [(0, 0)] * (array.ndim - 1), constant_values=filler)
        for array, filler in zip(rows, (0, no_label, -1), strict=True))
