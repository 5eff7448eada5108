"""Columns of a table become features, in one of four named ways.

| way            | categories                          | scale                                       |
|----------------|-------------------------------------|---------------------------------------------|
| `released`     | codes in sorted order               | z-score of the whole stream (ddof 1)        |
| `standardized` | the same                            | the same; they differ for COMPAS only       |
| `one_hot`      | one 0/1 feature per category        | numbers: z-score of the whole stream        |
| `online`       | codes in order of first appearance  | z-score of the rows up to and with this one |

Only `online` is honest for a stream: the other three know the mean, the spread and the categories
of rows that have not arrived yet.
"""

from collections import Counter

import numpy as np
import pandas as pd

from aranyani_tf.arguments import require_choice

WAYS = ("released", "standardized", "one_hot", "online")


class RunningMoments:
    """Count, mean and sum of squared deviations of columns, over all rows shown so far."""

    def __init__(self, num_columns):
        self.count = 0
        self.mean = np.zeros(num_columns)
        self.squares = np.zeros(num_columns)

    def update(self, values):
        """Takes in `values` (row, column); gives the mean and the deviation (ddof 0) after each row.

        With m the mean and M the squares of the n rows before, and s_i = Σ_{j≤i} (x_j − m):
        mean_i = m + s_i / (n+i) and M_i = M + Σ_{j≤i} (x_j − m)² − s_i² / (n+i).
        """
        before = self.mean if self.count else values[0]
        counts = self.count + np.arange(1, len(values) + 1)[:, None]
        difference = values - before
        sums = np.cumsum(difference, axis=0)
        squares = self.squares + np.cumsum(difference**2, axis=0) - sums**2 / counts
        squares = np.maximum(squares, 0)  # rounding may leave −1e-17 where a column is constant
        means = before + sums / counts
        self.count, self.mean, self.squares = int(counts[-1, 0]), means[-1], squares[-1]
        return means, np.sqrt(squares / counts)


class TableEncoder:
    """Turns pieces of a table into float32 features.

    `observe` all pieces, `settle`, then `encode` them; `online` observes nothing, and encodes the
    pieces in the order in which they arrive. What it holds grows with the number of columns and categories,
    never with the number of rows.

    Args:
        preprocessing: one of `WAYS`.
        columns: names, in the order of the table.
        categories: those of them that hold categories; the others hold numbers.
        scale: False leaves numbers and codes as they are.
        max_categories: a column with more of them is refused; it may be a name or a number of a case.
    """

    def __init__(self, preprocessing, *, columns, categories, scale=True, max_categories=1000):
        require_choice("preprocessing", preprocessing, WAYS)
        self.preprocessing, self.scale, self.max_categories = preprocessing, scale, max_categories
        self.columns = list(columns)
        self.codes = {name: {} for name in self.columns if name in set(categories)}  # value → code
        self.numbers = [name for name in self.columns if name not in self.codes]
        self.moments = RunningMoments(len(self.columns if preprocessing == "online" else self.numbers))
        self.counts = {name: Counter() for name in self.codes}
        self.center = self.spread = None  # (column,), of the whole stream

    @property
    def feature_names(self):
        if self.preprocessing != "one_hot":
            return tuple(self.columns)
        return tuple(feature for name in self.columns for feature in
                     ([f"{name}={value}" for value in self.codes[name]] if name in self.codes else [name]))

    def observe(self, piece):
        """Takes note of the numbers and categories of one piece; of nothing, if `online`."""
        if self.preprocessing == "online":
            return
        if self.numbers:
            self.moments.update(self.values(piece, self.numbers))
        for name, counter in self.counts.items():
            counter.update(piece[name].value_counts().to_dict())
            self.check(name, counter)

    def settle(self):
        """Once all pieces are observed: the codes of the categories, and every column's scale."""
        if self.preprocessing == "online":
            return
        moments = dict(zip(self.numbers, zip(self.moments.mean, self.moments.squares, strict=True),
                           strict=True))
        for name, counter in self.counts.items():
            values = sorted(value for value, count in counter.items() if count)
            self.codes[name] = {value: code for code, value in enumerate(values)}
            code, rows = np.arange(len(values)), np.array([counter[value] for value in values])
            mean = rows @ code / rows.sum()
            moments[name] = mean, rows @ (code - mean) ** 2
        self.center, squares = np.array([moments[name] for name in self.columns]).T
        num_rows = self.moments.count or rows.sum()
        self.spread = np.sqrt(squares / max(num_rows - 1, 1))

    def encode(self, piece):
        """Features (row, feature) of one piece of the table."""
        if self.preprocessing == "online":
            self.meet(piece)
        values = self.values(piece, self.columns)
        if self.preprocessing == "online":
            center, spread = self.moments.update(values)
        else:
            center, spread = self.center, self.spread
        scaled = (values - center) / np.where(spread > 0, spread, 1) if self.scale else values
        if self.preprocessing != "one_hot":
            return scaled.astype("float32")
        blocks = [np.eye(len(self.codes[name]), dtype="float32")[values[:, column].astype(int)]
                  if name in self.codes else scaled[:, [column]].astype("float32")
                  for column, name in enumerate(self.columns)]
        return np.concatenate(blocks, axis=1)

    def meet(self, piece):
        """Gives categories that were not seen before the next codes."""
        for name, codes in self.codes.items():
            for value in piece[name].unique():
                codes.setdefault(value, len(codes))
            self.check(name, codes)

    def check(self, name, categories):
        if len(categories) > self.max_categories:
            raise ValueError(f"column {name!r} has more than {self.max_categories:,} categories; leave it out "
                             f"with exclude=[{name!r}], or raise max_categories")

    def values(self, piece, names):
        """float64 (row, name): numbers as they are, categories as their codes."""
        return np.stack([self.codes_of(piece[name]) if name in self.codes else piece[name].to_numpy("float64")
                         for name in names], axis=1).astype("float64")

    def codes_of(self, column):
        codes = pd.Index(self.codes[column.name]).get_indexer(column)
        if (codes < 0).any():
            raise ValueError(f"column {column.name!r} has the new category {column.iloc[int(np.argmin(codes))]!r}, "
                             "which no feature stands for; merge it with a known one, or use preprocessing='online'")
        return codes
