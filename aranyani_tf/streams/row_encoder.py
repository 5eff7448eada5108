"""One row of a table, a dict, becomes features in microseconds: what `TableEncoder` makes of a table that has it alone.

What can be known beforehand of every column and category is worked out once, here.
"""

import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from aranyani_tf.errors import ArgumentError, TableError
from aranyani_tf.streams.cells import READERS
from aranyani_tf.streams.encoding import TableEncoder


class RowEncoder:
    """Turns single rows into float32 features.

    Args:
        encoder: one that is settled. If it is `online`, rows that are learned move it.
        kinds: dict from columns to kinds.
        may_be_empty: columns of which cells may be empty in any case.
    """

    def __init__(self, encoder: TableEncoder, kinds: Mapping[str, str], may_be_empty: Collection[str]) -> None:
        self.encoder, self.may_be_empty = encoder, set(may_be_empty)
        self.readers = [(name, READERS[kinds[name]]) for name in encoder.columns]
        self.told: set[str] = set()  # columns of which a warning was given
        self.num_features = len(encoder.feature_names)
        self.plan = [] if encoder.online else self.plans()

    def plans(self) -> list[tuple]:
        """For every column: its name, the place of its (first) feature, its mean and spread, and codes → features.

        The last is None for a number; it holds places of features if one-hot, and values otherwise.
        """
        encoder, place, plan = self.encoder, 0, []
        for column, name in enumerate(encoder.columns):
            center, spread = float(encoder.center[column]), float(encoder.spread[column])
            center_of, spread_of = (center, spread if spread > 0 else 1.0) if encoder.scale else (0.0, 1.0)
            neutral = (center - center_of) / spread_of
            codes: dict[str, Any] | None = None
            if name in encoder.codes and encoder.preprocessing == "one_hot":
                codes = {value: place + code for value, code in encoder.codes[name].items()}
            elif name in encoder.codes:
                codes = {value: (code - center_of) / spread_of for value, code in encoder.codes[name].items()}
            other = None
            if codes is not None and name in encoder.with_other:
                code = len(codes)
                other = place + code if encoder.preprocessing == "one_hot" else (code - center_of) / spread_of
            plan.append((name, place, center_of, spread_of, neutral, codes, other))
            place += encoder.num_codes(name) if codes is not None and encoder.preprocessing == "one_hot" else 1
        return plan

    def cells(self, row: Mapping[str, Any], fill: bool) -> list[Any]:
        """The cells of the columns that are features: float64, or a text, or NaN if empty; or a clear error.

        Args:
            fill: whether cells may be empty.
        """
        try:
            cells = [read(row[name], name) for name, read in self.readers]
        except (KeyError, TypeError):  # a name that is missing or no text, or no dict at all
            row = self.complete(row)
            cells = [read(row[name], name) for name, read in self.readers]
        if not fill:
            for (name, _), cell in zip(self.readers, cells, strict=True):
                if cell != cell and name not in self.may_be_empty:
                    raise TableError(f"column {name!r} of this row is empty; fill it in, or pass on_empty_cells='fill' "
                                     "for the mean of its column (no category, if one-hot)")
        return cells

    def complete(self, row: Any) -> dict[str, Any]:
        """The row by names that are texts; raises unless every column is there."""
        if not isinstance(row, Mapping):
            raise ArgumentError(f"a row must be a dict from columns to cells, got {type(row).__name__}")
        row = {str(name): cell for name, cell in row.items()}
        missing = [name for name, _ in self.readers if name not in row]
        if missing:
            raise TableError(f"no column {', '.join(map(repr, missing))} in this row; there are: {', '.join(row)}. An "
                             "empty cell is None")
        return row

    def features(self, cells: Sequence[Any], learn: bool) -> np.ndarray:
        """Features (feature,) of a row's cells.

        Args:
            learn: whether the row has arrived, so that an `online` encoder goes on; one that is settled stays
                as it is.
        """
        if self.encoder.online:
            return self.next_features(cells, learn)
        one_hot = self.encoder.preprocessing == "one_hot"
        features = np.zeros(self.num_features, "float32")
        for (name, place, center, spread, neutral, codes, other), cell in zip(self.plan, cells, strict=True):
            if codes is None:
                features[place] = (cell - center) / spread if cell == cell else neutral
                continue
            found = codes.get(cell, other)
            if found is None:  # empty, or new
                if cell == cell:
                    self.tell_of_new(name, cell)
                if not one_hot:
                    features[place] = neutral
            elif cell != cell:  # empty, where new ones are "other"
                if not one_hot:
                    features[place] = neutral
            elif one_hot:
                features[found] = 1
            else:
                features[place] = found
        return features

    def tell_of_new(self, name: str, value: str) -> None:
        """A category that no feature stands for is refused, or told once for each column."""
        if self.encoder.unknown == "raise":
            raise TableError(f"column {name!r} of this row has the new category {value!r}, which no feature stands "
                             "for; merge it with a known one, or make the stream with unknown='ignore' or "
                             "preprocessing='online'")
        if name not in self.told:
            self.told.add(name)
            warnings.warn(f"column {name!r} has categories that were not there before, and no feature stands for them; "
                          f"the first is {value!r}", stacklevel=4)

    def next_features(self, cells: Sequence[Any], learn: bool) -> np.ndarray:
        """What an `online` encoder makes of the row that comes next; it goes on only if it is to learn."""
        encoder = self.encoder
        codes = {name: encoder.codes[name] for name in encoder.codes}
        values = np.empty((1, len(cells)))
        for place, ((name, _), cell) in enumerate(zip(self.readers, cells, strict=True)):
            if name in codes and cell == cell:
                if learn:
                    encoder.meet_value(name, cell)
                cell = codes[name].get(cell, len(codes[name]))  # the next code, or that of all others
            values[0, place] = cell
        centers, spreads, moments = encoder.moments.after(values)
        if learn:
            encoder.moments.count, encoder.moments.mean, encoder.moments.squares = moments
        return encoder.scaled(values, centers, spreads)[0].astype("float32")
