"""Means and deviations of columns over the rows so far, in one pass."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

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

    def contents(self) -> dict[str, list]:
        """What a file keeps of it."""
        return {"count": self.count.tolist(), "mean": self.mean.tolist(), "squares": self.squares.tolist()}

    @classmethod
    def of_contents(cls, contents: Mapping[str, Any]) -> Self:
        moments = cls(len(contents["count"]))
        moments.count = np.array(contents["count"], int)
        moments.mean, moments.squares = (np.array(contents[name], "float64") for name in ("mean", "squares"))
        return moments
