"""Features by name: dicts and data frames become rows of a fixed width, in which every name has a place."""

import hashlib
from collections.abc import Hashable, Iterable, Mapping
from operator import itemgetter
from typing import Any

import numpy as np

from aranyani_tf.errors import RowError
from aranyani_tf.streams.row_rules import LARGEST, SIZE

STEP = 8  # widths are multiples of it
NUMBERS: Any = (bool, int, float, np.number, np.bool_)
ENCODE = "encode categories first, by river.preprocessing.OneHotEncoder, say"


class NamedFeatures:
    """The names of the features, in the order of their places.

    Args:
        most: how many there may be.

    >>> features = NamedFeatures(most=3)
    >>> features.add(features.new({"b": 1.0, "a": 2.0}))
    [0, 1]
    >>> features.row({"b": 1.0})[:3], features.new({"c": 0.0, "a": 1.0})
    (array([0., 1., 0.]), ['c'])
    """

    def __init__(self, most: int) -> None:
        self.most, self.names, self.width = most, list[Hashable](), STEP
        self.add([])

    def add(self, names: Iterable[Hashable]) -> list[int]:
        """Gives new names places, and more room if need be; returns the places."""
        first, names = len(self.names), list(names)
        self.names += names
        self.place_of = {name: place for place, name in enumerate(self.names)}
        # A tuple of all values at once; of a single name, `itemgetter` would give its value alone.
        self.all_values = itemgetter(*self.names) if len(self.names) > 1 else None
        if len(self.names) > self.width:  # half as many again, so that it does not happen often
            self.width = -(-max(len(self.names), self.width * 3 // 2) // STEP) * STEP
        return list(range(first, len(self.names)))

    def new(self, x: Iterable[Hashable]) -> list[Hashable]:
        """The names in a row or a list that have no place yet, in an order that does not depend on theirs."""
        found = sorted((name for name in x if name not in self.place_of), key=repr)
        if len(self.names) + len(found) > self.most:
            raise RowError(f"the feature {found[self.most - len(self.names)]!r} is new, and there is room for "
                           f"{self.most} features, which are all there: pass a larger max_features, or put something "
                           "in front that makes fewer")
        return found

    def row(self, x: Mapping[Hashable, Any]) -> np.ndarray:
        """float64 (width,): what is absent counts 0, and names without a place are left out."""
        row = np.zeros(self.width)
        try:
            values = self.all_values(x) if self.all_values else self.each(x)
        except KeyError:
            values = self.each(x)
        numbers = np.array(values)
        if numbers.dtype.kind not in "fiub" or numbers.ndim != 1:
            require_numbers(x)
            numbers = numbers.astype("float64")  # whole numbers past 64 bits
        row[: len(self.names)] = numbers
        return row

    def each(self, x: Mapping[Hashable, Any]) -> list[Any]:
        return [x.get(name, 0.0) for name in self.names]

    def rows(self, table: Any) -> np.ndarray:
        """float64 (row, width) of a data frame, checked; columns without a place are left out."""
        rows = np.zeros((len(table), self.width))
        for name in table.columns:
            column = np.asarray(table[name])
            if column.dtype.kind not in "fiub" or column.ndim != 1:
                raise RowError(f"column {name!r} must be of numbers, got {column.dtype}; {ENCODE}")
            bad = ~(np.abs(column.astype("float64")) < LARGEST)
            if bad.any():
                row = int(np.argmax(bad))
                raise RowError(f"row {row:,}: {told(name, column[row])}")
            if name in self.place_of:
                rows[:, self.place_of[name]] = column
        return rows


def told(name: Hashable, value: Any) -> str:
    return f"feature {name!r} is {value}, must be {SIZE}; mend it, or fill it first, by river.preprocessing.StatImputer"


def require_numbers(x: Mapping[Hashable, Any]) -> None:
    """Raises for the first feature that is no number, or none that can be learned from."""
    for name, value in x.items():
        if not isinstance(value, NUMBERS):
            raise RowError(f"feature {name!r} must be a number, got {value!r}; {ENCODE}")
        if not abs(value) < LARGEST:
            raise RowError(told(name, value))


def first_direction(seed: int, name: Hashable, shape: tuple[int, int]) -> np.ndarray:
    """A feature's first split directions, N(0, 1) as the paper has them; they depend on the seed and the name alone.

    So it does not matter when a feature appears, or beside which others.
    """
    digest = hashlib.blake2b(repr(name).encode(), digest_size=16).digest()
    return np.random.default_rng([seed, int.from_bytes(digest)]).standard_normal(shape)
