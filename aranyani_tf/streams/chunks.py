"""A stream in pieces, whatever it was given as: arrays, a dataset, an iterable of batches."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from aranyani_tf.arguments import require_whole
from aranyani_tf.errors import ArgumentError, RowError
from aranyani_tf.labels import is_labelled
from aranyani_tf.streams.row_rules import Rows, as_rows
from aranyani_tf.streams.row_weights import all_teach


class Chunks:
    """A stream in pieces; iterating gives ({"features": x, "group": a}, y), as Keras wants them, and weights behind y.

    Args:
        pieces: function without arguments, gives an iterator over (features, labels, groups), and weights if
            rows have any.
        size: rows per chunk in the training loop.
        num_rows: how many rows there are, if known.
        arrays: the whole arrays, if the stream is in memory.
        only_once: whether `pieces` always gives the same iterator.
    """

    def __init__(self, pieces: Callable[[], Iterator[tuple]], *, size: int, num_rows: int | None = None,
                 arrays: Rows | None = None, feature_names: tuple[str, ...] | None = None,
                 only_once: bool = False) -> None:
        require_whole("the chunk size", size, 1)
        self.pieces, self.size, self.num_rows, self.arrays = pieces, size, num_rows, arrays
        self.feature_names, self.only_once = feature_names, only_once

    @classmethod
    def of_arrays(cls, features: Any, labels: Any, groups: Any, *row_weights: Any, size: int,
                  feature_names: tuple[str, ...] | None = None) -> "Chunks":
        arrays = as_rows(features, labels, groups, *row_weights)

        def pieces() -> Iterator[tuple[np.ndarray, ...]]:
            for start in range(0, len(arrays[0]), size):
                yield tuple(array[start : start + size] for array in arrays)

        return cls(pieces, size=size, num_rows=len(arrays[0]), arrays=arrays, feature_names=feature_names)

    @classmethod
    def of(cls, x: Any, y: Any = None, *, size: int | None = None) -> "Chunks":
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

    @classmethod
    def of_held_out(cls, given: Any) -> "Chunks":
        """Rows of Keras's `validation_data`, of which the first are looked at before anything is learned."""
        rows = given if isinstance(given, tuple) else (given,)
        if not 1 <= len(rows) <= 2:
            raise RowError("validation_data must be a Stream, batches, or ({'features': x, 'group': a}, y); got a "
                           f"tuple of {len(rows)}")
        chunks = cls.of(*rows)
        chunks.first_rows()
        return chunks

    def weighted(self, sample_weight: Any) -> "Chunks":
        """The same rows with weights, (row,); for rows in memory."""
        if self.arrays is None:
            raise ArgumentError("sample_weight goes with rows in memory, a Stream or {'features': x, 'group': a} with "
                                "y; a dataset's are learned batch by batch: predict_then_learn(x, y, a, sample_weight)")
        return Chunks.of_arrays(*self.arrays[:3], sample_weight, size=self.size, feature_names=self.feature_names)

    def __iter__(self) -> Iterator[tuple]:
        return (as_element(*piece) for piece in self.pieces())

    def __len__(self) -> int:
        if self.num_rows is None:
            raise TypeError("the length of this stream is not known")
        return -(-self.num_rows // self.size)

    @property
    def num_features(self) -> int:
        return self.first_rows().shape[1]

    def first_rows(self) -> np.ndarray:
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

    def all_known(self, num_labels: int) -> bool:
        """Whether every row surely has a label and a group."""
        if self.arrays is None:
            return False
        _, labels, groups, *row_weights = self.arrays
        return bool(is_labelled(labels, regression=num_labels == 1).all() and (groups >= 0).all()
                    and all(map(all_teach, row_weights)))


def as_element(features: Any, labels: Any, groups: Any, *row_weights: Any) -> tuple:
    """Rows as Keras wants an element of a dataset."""
    return {"features": features, "group": groups}, labels, *row_weights


def split_batch(batch: Any) -> tuple[Any, Any, Any]:
    """({"features": x, "group": a}, y) → x, y, a."""
    if not (isinstance(batch, (tuple, list)) and len(batch) == 2
            and isinstance(batch[0], dict) and {"features", "group"} <= set(batch[0])):
        raise RowError("a batch must be ({'features': x, 'group': a}, y)")
    inputs, labels = batch
    return inputs["features"], labels, inputs["group"]
