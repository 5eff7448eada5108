"""Columns of a table become features, in one of four named ways.

| way            | categories                          | scale                                       |
|----------------|-------------------------------------|---------------------------------------------|
| `released`     | codes in sorted order               | z-score of the whole stream (ddof 1)        |
| `standardized` | the same                            | the same; they differ for COMPAS only       |
| `one_hot`      | one 0/1 feature per category        | numbers: z-score of the whole stream        |
| `online`       | codes in order of first appearance  | z-score of the rows up to and with this one |

Only `online` is honest for a stream: the other three know the mean, the spread and the categories
of rows that have not arrived yet.

A column has at most `max_categories` categories. Where there are more, the most frequent are kept (`online`:
the first) and the others share the last one, "(other)". An empty cell, and a category that was not there when
the codes were settled, become all zeros if one-hot, and the mean of the column otherwise (0 if scaled);
`online` has codes for new categories.
"""

import warnings
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd

from aranyani_tf.errors import TableError
from aranyani_tf.streams.moments import RunningMoments
from aranyani_tf.streams.table_options import TableOptions

Unknown = dict[str, list]  # column → [how many cells have a new category, the first of these]


class TableEncoder:
    """Turns pieces of a table into float32 features.

    `observe` all pieces, `settle`, then `encode` them, in the order in which they arrive if `online`. What it
    holds grows with the number of columns and categories, never with the number of rows.

    Args:
        options: preprocessing, scale, max_categories and unknown are those that count here.
        columns: names, in the order of the table.
        categories: those of them that hold categories; the others hold numbers.
    """

    def __init__(self, options: TableOptions, *, columns: Sequence[str], categories: Collection[str]) -> None:
        self.preprocessing, self.scale = options.preprocessing, options.scale
        self.max_categories, self.unknown = options.max_categories, options.unknown
        self.columns = list(columns)
        self.codes: dict[str, dict[str, int]] = {  # value → code
            name: {} for name in self.columns if name in set(categories)}
        self.with_other: set[str] = set()  # columns that have one code more, for all other values
        self.numbers = [name for name in self.columns if name not in self.codes]
        self.moments = RunningMoments(len(self.columns if self.online else self.numbers))
        self.counts: dict[str, Counter] = {name: Counter() for name in self.codes}
        self.center = self.spread = np.zeros(0)  # (column,), of the whole stream, once it is settled

    @property
    def online(self) -> bool:
        return self.preprocessing == "online"

    def contents(self) -> dict[str, Any]:
        """What a file keeps of it, once it is settled: lists, texts and numbers."""
        return {"columns": list(self.columns), "codes": {name: list(codes) for name, codes in self.codes.items()},
                "with_other": sorted(self.with_other), "center": self.center.tolist(), "spread": self.spread.tolist(),
                "moments": self.moments.contents()}

    @classmethod
    def of_contents(cls, options: TableOptions, contents: Mapping[str, Any]) -> Self:
        """What `contents` gave."""
        encoder = cls(options, columns=contents["columns"], categories=list(contents["codes"]))
        encoder.codes = {name: {value: code for code, value in enumerate(values)}
                         for name, values in contents["codes"].items()}
        encoder.counts, encoder.with_other = {}, set(contents["with_other"])
        encoder.center, encoder.spread = (np.array(contents[name], "float64") for name in ("center", "spread"))
        encoder.moments = RunningMoments.of_contents(contents["moments"])
        return encoder

    def num_codes(self, name: str) -> int:
        return len(self.codes[name]) + (name in self.with_other)

    @property
    def feature_names(self) -> tuple[str, ...]:
        if self.preprocessing != "one_hot":
            return tuple(self.columns)
        return tuple(feature for name in self.columns for feature in (
            [f"{name}={value}" for value in [*self.codes[name], "(other)"][: self.num_codes(name)]]
            if name in self.codes else [name]))

    def observe(self, piece: pd.DataFrame) -> None:
        """Takes note of the numbers and categories of one piece; `online` forgets them again in `settle`."""
        if self.numbers and not self.online:
            self.moments.update(self.values(piece, self.numbers))
        for name, counter in self.counts.items():
            counter.update(piece[name].value_counts().to_dict())
            if len(counter) > self.max_categories and len(counter) > 0.9 * counter.total():
                raise TableError(f"column {name!r} has more than {self.max_categories:,} categories, different in "
                                 "nearly every row, as names and numbers of cases are; leave it out with "
                                 f"exclude=[{name!r}], or raise max_categories")

    def settle(self) -> None:
        """Once all pieces are observed: the codes of the categories, and every column's scale."""
        counts, self.counts = self.counts, {}
        if self.online:
            return
        own = zip(self.moments.mean, self.moments.squares, self.moments.count, strict=True)
        moments = dict(zip(self.numbers, own, strict=True))
        for name, counter in counts.items():
            values = sorted(counter)
            if len(values) > self.max_categories:
                self.with_other.add(name)
                values = sorted(sorted(values, key=lambda value: -counter[value])[: self.max_categories - 1])
            self.codes[name] = {value: code for code, value in enumerate(values)}
            kept = [counter.pop(value) for value in values]
            rows = np.array([*kept, counter.total()] if name in self.with_other else kept)
            code = np.arange(len(rows))
            mean = rows @ code / max(rows.sum(), 1)
            moments[name] = mean, rows @ (code - mean) ** 2, rows.sum()
        self.center, squares, num_rows = np.array([moments[name] for name in self.columns]).T
        self.spread = np.sqrt(squares / np.maximum(num_rows - 1, 1))

    def encode(self, piece: pd.DataFrame, unknown: Unknown | None = None, *, by_rows: bool = False) -> np.ndarray:
        """Features (row, feature) of one piece of the table. A dict `unknown` is told of categories that have no
        feature or code: column → [how many cells, the first value]. With `by_rows` an `online` encoder rounds as if
        rows came one by one, so that it makes no difference how a table is cut."""
        if self.online:
            self.meet(piece)
        values = self.values(piece, self.columns, unknown)
        move = self.moments.walk if by_rows else self.moments.update
        center, spread = move(values) if self.online else (self.center, self.spread)
        scaled = self.scaled(values, center, spread)
        if self.preprocessing != "one_hot":
            return scaled.astype("float32")
        blocks = [self.one_hot(values[:, column], self.num_codes(name)) if name in self.codes
                  else scaled[:, [column]].astype("float32") for column, name in enumerate(self.columns)]
        return np.concatenate(blocks, axis=1)

    def scaled(self, values: np.ndarray, center: np.ndarray, spread: np.ndarray) -> np.ndarray:
        """Values (row, column) with their gaps filled by the mean, as z-scores if they are to be."""
        filled = np.where(np.isnan(values), center, values)
        return (filled - center) / np.where(spread > 0, spread, 1) if self.scale else filled

    @staticmethod
    def one_hot(codes: np.ndarray, num_codes: int) -> np.ndarray:
        rows = np.eye(num_codes + 1, num_codes, dtype="float32")  # the last one is all zeros
        return rows[np.where(np.isnan(codes), num_codes, codes).astype(int)]

    def meet(self, piece: pd.DataFrame) -> None:
        """Gives categories that were not seen before the next codes, and once these are used up the last one."""
        for name in self.codes:
            for value in dict.fromkeys(piece[name].to_numpy(object)):
                if value == value:  # not empty
                    self.meet_value(name, value)

    def meet_value(self, name: str, value: str) -> None:
        codes = self.codes[name]
        if value not in codes and len(codes) < self.max_categories - 1:
            codes[value] = len(codes)
        elif value not in codes:
            self.with_other.add(name)

    def values(self, piece: pd.DataFrame, names: Sequence[str], unknown: Unknown | None = None) -> np.ndarray:
        """float64 (row, name): numbers as they are, categories as their codes; NaN for what has none."""
        columns = [self.codes_of(piece[name], unknown) if name in self.codes
                   else piece[name].to_numpy("float64") for name in names]
        return np.stack(columns, axis=1).astype("float64")

    def codes_of(self, column: pd.Series, unknown: Unknown | None = None) -> np.ndarray:
        name = column.name
        known = self.codes[name]
        codes = np.array(list(map(known.get, column.to_numpy(object))), "float64")  # NaN for None; quick for one row
        new = np.isnan(codes)
        if new.any():
            new &= column.notna().to_numpy()
        if name in self.with_other:
            codes[new] = len(known)
        elif new.any():
            row = int(np.argmax(new))
            if self.unknown == "raise":
                raise TableError(f"row {column.index[row]:,}: column {name!r} has the new category "
                                 f"{column.iloc[row]!r}, which no feature stands for; merge it with a known one, or "
                                 "make the stream with unknown='ignore' or preprocessing='online'")
            if unknown is not None:
                unknown.setdefault(name, [0, column.iloc[row]])[0] += int(new.sum())
        return codes


def warn_of_unknown(unknown: Unknown, source: str, stacklevel: int) -> None:
    if unknown:
        found = "; ".join(f"{name!r}: {count:,} cells, the first {value!r}"
                          for name, (count, value) in unknown.items())
        warnings.warn(f"{source} has categories that were not there before, and no feature stands for them: "
                      f"{found}", stacklevel=stacklevel)
