"""How a learner fared in a stream that changes, from its decisions: gaps in windows, and the time to recover."""

from typing import NamedTuple

import numpy as np

LEVEL = 0.05  # the gap that is to be kept
WINDOW, WIDE = 500, 2_000  # rows of a window; in the wide one a gap of the level stands out from chance
BEHIND = 5_000  # rows behind a change that are looked at
NEAR = 2_000  # rows behind a change in which an alarm is no false one


class Windows(NamedTuple):
    """Of the windows that end with each row, (row,); the first ones are shorter."""

    gap: np.ndarray  # |difference of the groups' rates of decision 1|; NaN where one group has no row
    by_chance: np.ndarray  # what decisions with these rates, that know no group, have on average


def sliding(decisions: np.ndarray, groups: np.ndarray, size: int) -> Windows:
    """The gaps of two groups, 0 and 1.

    >>> found = sliding(np.array([1, 0, 1, 1]), np.array([0, 1, 0, 1]), size=2)
    >>> found.gap
    array([nan,  1.,  1.,  0.])
    """
    def within(values: np.ndarray) -> np.ndarray:
        total = np.concatenate([[0], np.cumsum(values)])
        ends = np.arange(1, len(values) + 1)
        return total[ends] - total[np.maximum(ends - size, 0)]

    counts = np.stack([within(groups == group) for group in (0, 1)])
    positive = np.stack([within((groups == group) & (decisions == 1)) for group in (0, 1)])
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = positive / counts
        rate = positive.sum(axis=0) / counts.sum(axis=0)
        error = np.sqrt(rate * (1 - rate) * (1 / counts).sum(axis=0))
    known = (counts > 0).all(axis=0)
    return Windows(np.abs(rates[1] - rates[0]), np.where(known, error * np.sqrt(2 / np.pi), np.nan))


def rows_to_recover(gaps: np.ndarray, change: int, end: int, hold: int, level: float = LEVEL) -> float:
    """Rows from a change until the gap is at or below the level and stays so for `hold` rows, all before `end`.

    0 if it did not leave the level; NaN if it did not come back. `gaps[i]` is of the window that ends with row i.

    >>> rows_to_recover(np.array([0, 0, .2, .3, .04, .2, .05, .01, 0, .2]), change=2, end=10, hold=3)
    4.0
    >>> rows_to_recover(np.array([0, 0, .2, .3, .04, .2, .05, .01, 0, .2]), change=2, end=8, hold=3)
    nan
    """
    kept = np.concatenate([[0], np.cumsum(gaps[change:end] <= level)])
    whole = np.flatnonzero(kept[hold:] - kept[: len(kept) - hold] == hold) if len(kept) > hold else []
    return float(whole[0]) if len(whole) else np.nan


def share_above(gaps: np.ndarray, change: int, end: int, level: float = LEVEL) -> float:
    """The share of the rows behind a change, `BEHIND` of them at most, whose windows have a gap above the level.

    >>> share_above(np.array([0, .2, .3, np.nan, .01]), change=1, end=5)  # of one window a group is missing
    0.5
    """
    return float((gaps[change : min(end, change + BEHIND)] > level).mean())


def is_false(alarms: np.ndarray, changes: np.ndarray, near: int = NEAR) -> np.ndarray:
    """Which alarms do not lie within some rows behind a change.

    >>> is_false(np.array([90, 100, 150, 151]), np.array([100]), near=50)
    array([ True, False, False,  True])
    """
    behind = np.asarray(alarms)[:, None] - np.asarray(changes)[None, :]
    return ~((behind >= 0) & (behind <= near)).any(axis=1)


def split_of_labels(labels: np.ndarray) -> int:
    """The row at which the label's rate changes most: both parts' own rates explain the labels best, by their squares.

    >>> split_of_labels(np.repeat([0, 1, 0, 1], [50, 1, 2, 40]))
    53
    """
    num_rows = len(labels)
    before = np.arange(1, num_rows)
    sums = np.cumsum(labels)[:-1]
    difference = sums / before - (labels.sum() - sums) / (num_rows - before)
    return int(before[np.argmax(before * (num_rows - before) * difference**2)])
