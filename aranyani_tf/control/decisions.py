"""Decisions counted by label and group, and the gaps between the groups' rates in such a table.

A table is (label + 1, group + 1, decision), as in `evaluation.metrics`; the last label and the last group stand for
"missing". The metrics there are TensorFlow's and take half a millisecond to begin, which is too long for what is asked
every few rows; a test holds these equal to them.
"""

import numpy as np

from aranyani_tf.engine.compiler import compiled
from aranyani_tf.engine.row_engine import plain
from aranyani_tf.errors import ArgumentError
from aranyani_tf.fairness.notions import DemographicParity, EqualizedOdds, EqualOpportunity, Notion

GAPS = ("demographic_parity", "equal_opportunity", "equalized_odds")
MEASURED_BY = {DemographicParity: GAPS[0], EqualOpportunity: GAPS[1], EqualizedOdds: GAPS[2]}


@compiled(_nrt=False)
def count(labels: np.ndarray, groups: np.ndarray, outputs: np.ndarray, table: np.ndarray) -> int:
    """Adds rows to a table: labels and groups (n,), −1 where missing; outputs (n, label), whose largest is decided.

    A row with neither is not counted. Gives how many were.
    """
    counted = 0
    for t in range(labels.size):
        if not (labels[t] >= 0 or groups[t] >= 0):
            continue
        counted += 1
        said = 0
        for c in range(outputs.shape[1]):
            if outputs[t, c] > outputs[t, said]:
                said = c
        label = int(labels[t]) if labels[t] >= 0 else table.shape[0] - 1
        group = int(groups[t]) if groups[t] >= 0 else table.shape[1] - 1
        table[label, group, said] += 1
    return counted


def gap_name(notion: Notion) -> str:
    """Which gap of decisions belongs to a notion."""
    for kind, name in MEASURED_BY.items():
        if isinstance(notion, kind):
            return name
    raise ArgumentError(f"which gap of decisions belongs to {type(notion).__name__} is not known; pass the target's "
                        f"metric, one of {', '.join(GAPS)}")


def conditions_of(table: np.ndarray, name: str, positive_label: int) -> np.ndarray:
    """What a gap is the spread of: (condition, group, decision), of rows that have a group."""
    if name == "demographic_parity":
        return table[:, :-1].sum(axis=0, keepdims=True)
    if name == "equal_opportunity":
        return table[positive_label : positive_label + 1, :-1]
    return table[:-1, :-1]


def cells_of(table: np.ndarray, name: str, positive_label: int, with_everybody: bool) -> np.ndarray:
    """Decisions by the cells of a notion, (cell, decision): condition by condition its groups, then all of them."""
    found = conditions_of(table, name, positive_label)
    if with_everybody:
        found = np.concatenate([found, found.sum(axis=1, keepdims=True)], axis=1)
    return found.reshape(-1, found.shape[2])


def gap_of(table: np.ndarray, name: str, positive_label: int = 1, chance: float = 0.0, few: float = 0.0) -> float:
    """The largest difference between two groups' rates of a decision; 0 while fewer than two groups were seen.

    Args:
        chance: how many standard errors of the difference, if the two groups were alike, it is shorter by.
        few: rows that a rate rests on, before it counts.

    >>> table = np.zeros((3, 3, 2))
    >>> table[0, 0], table[0, 1] = (8, 2), (5, 5)           # 2 of 10 in the one group, 5 of 10 in the other
    >>> round(gap_of(table, "demographic_parity"), 3)
    0.3
    """
    found = conditions_of(table, name, positive_label)
    if name == "equal_opportunity":
        found = np.stack([found.sum(axis=2) - found[:, :, positive_label], found[:, :, positive_label]], axis=2)
    return largest_gap(plain(found, "float64"), float(chance), float(few))


@compiled(_nrt=False, fastmath=False)
def largest_gap(found: np.ndarray, chance: float, few: float) -> float:
    """The largest, of decisions (condition, group, decision)."""
    largest = 0.0
    for c in range(found.shape[0]):
        for d in range(found.shape[2]):
            high, low, above, below, seen, rows, said = -1.0, 2.0, 0.0, 0.0, 0, 0.0, 0.0
            for g in range(found.shape[1]):
                count = 0.0
                for each in range(found.shape[2]):
                    count += found[c, g, each]
                rows += count
                said += found[c, g, d]
                if count > 0 and count >= few:
                    seen += 1
                    rate = found[c, g, d] / count
                    if rate > high:
                        high, above = rate, count
                    if rate < low:
                        low, below = rate, count
            if seen > 1:
                everybody = said / rows
                error = np.sqrt(everybody * (1 - everybody) * (1 / above + 1 / below)) if chance > 0 else 0.0
                largest = max(largest, high - low - chance * error)
    return largest
