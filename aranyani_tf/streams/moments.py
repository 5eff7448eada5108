"""Means and deviations of columns over the rows so far, in one pass."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from aranyani_tf.engine.compiler import compiled

Moments = tuple[np.ndarray, np.ndarray, np.ndarray]  # count, mean and squares, (column,) each


class RunningMoments:
    """Count, mean and sum of squared deviations of columns, over all rows shown so far; NaN counts as not shown."""

    def __init__(self, num_columns: int) -> None:
        self.count = np.zeros(num_columns, int)
        self.mean = np.zeros(num_columns)
        self.squares = np.zeros(num_columns)

    def update(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Takes in `values` (row, column); gives the mean and the deviation (ddof 0) after each row."""
        means, deviations, (self.count, self.mean, self.squares) = self.after(values)
        return means, deviations

    def after(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, Moments]:
        """What `update` would give, and the moments that it would leave; nothing changes.

        With m the mean and M the squares of the n rows before, and s_i = Σ_{j≤i} (x_j − m):
        mean_i = m + s_i / (n+i) and M_i = M + Σ_{j≤i} (x_j − m)² − s_i² / (n+i).
        """
        shown = ~np.isnan(values)
        first = values[np.argmax(shown, axis=0), np.arange(values.shape[1])]
        before = np.where(self.count > 0, self.mean, first)
        counts = self.count + np.cumsum(shown, axis=0)
        divisor = np.maximum(counts, 1)
        difference = np.where(shown, values - before, 0)
        sums = np.cumsum(difference, axis=0)
        squares = self.squares + np.cumsum(difference**2, axis=0) - sums**2 / divisor
        squares = np.maximum(squares, 0)  # rounding may leave −1e-17 where a column is constant
        means = np.where(counts > 0, before + sums / divisor, 0)
        return means, np.sqrt(squares / divisor), (counts[-1], means[-1], squares[-1])

    def walk(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`update` row by row: the same to the last bit however rows are cut, where sums over several rows round."""
        means, deviations = np.empty_like(values), np.empty_like(values)
        state = self.count.astype("int64"), self.mean.copy(), self.squares.copy()
        walk_rows(np.ascontiguousarray(values), *state, means, deviations)
        self.count, self.mean, self.squares = state
        return means, deviations

    def contents(self) -> dict[str, list]:
        """What a file keeps of it."""
        return {"count": self.count.tolist(), "mean": self.mean.tolist(), "squares": self.squares.tolist()}

    @classmethod
    def of_contents(cls, contents: Mapping[str, Any]) -> Self:
        moments = cls(len(contents["count"]))
        moments.count = np.array(contents["count"], int)
        moments.mean, moments.squares = (np.array(contents[name], "float64") for name in ("mean", "squares"))
        return moments


@compiled(_nrt=False, fastmath=False)  # so that it rounds as NumPy does
def walk_rows(values: np.ndarray, count: np.ndarray, mean: np.ndarray, squares: np.ndarray, means: np.ndarray,
              deviations: np.ndarray) -> None:
    """`RunningMoments.after` of one row after the other, (row, column); the moments, (column,), move along."""
    for row in range(values.shape[0]):
        for column in range(values.shape[1]):
            value = values[row, column]
            if value == value:
                before = mean[column] if count[column] > 0 else value
                count[column] += 1
                difference = value - before
                square = difference * difference
                squares[column] = max(squares[column] + square - square / count[column], 0.0)
                mean[column] = before + difference / count[column]
            means[row, column] = mean[column]
            deviations[row, column] = np.sqrt(squares[column] / max(count[column], 1))
