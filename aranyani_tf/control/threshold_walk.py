"""Decisions row by row while their thresholds move: the compiled loop of `GroupThresholds`.

The most accurate decisions whose rates differ by no more than the target say 1 where

    p − Σ_c λ_ck·q_c(p)/π_ck ≥ ½,    λ_ck = Σ_j d_ckj − d_cjk

for a row of group k with the probability p of label 1 (the Lagrangian of accuracy under the constraints): c is a
condition of the notion, q_c(p) how probable it is that the row meets it (1 for demographic parity, p for y = 1,
1 − p for y = 0), π_ck the share of rows in the cell, and d_cij ≥ 0 the price of group i's rate being above group j's.
A price has two parts, one that adds up what is beyond the target and one that answers at once:

    s_cij ← [s_cij + η·(max(recent, later, ever) − target)]₊,    d_cij = s_cij + γ·[max(later, ever) − target]₊

of three gaps rate_i − rate_j: `recent` rates forget with every row, of whatever group, so that all groups are compared
over the same time; in `later` ones the weight of row s after t rows is (s/t)², so that they are those of the stream's
second half, roughly, wherever it ends; `ever` is of all rows. A rate counts once it rests on `FEW` rows: before,
chance alone would move everybody's threshold, also the large group's.
"""

import numpy as np

from aranyani_tf.engine.compiler import compiled

FEW = 20
ALWAYS, POSITIVE, EACH = 0, 1, 2  # demographic parity, equal opportunity, equalized odds
RECENT, LATER, EVER = 0, 1, 2  # the first axis of counts
SUMMED, AT_ONCE = 0, 1  # the first axis of prices


@compiled(_nrt=False, fastmath=False)  # a row by itself gives the bits that it gives among others
def shifted_row(kind: int, p: float, group: int, prices: np.ndarray, counts: np.ndarray, seen: float) -> float:
    """The probability as it is compared with ½; a row without a group is left as it is."""
    if group < 0:
        return p
    score = p
    for c in range(prices.shape[1]):
        price = 0.0
        for j in range(prices.shape[2]):
            price += prices[SUMMED, c, group, j] - prices[SUMMED, c, j, group]
            price += prices[AT_ONCE, c, group, j] - prices[AT_ONCE, c, j, group]
        meets = 1.0
        if kind != ALWAYS:
            meets = p if kind == POSITIVE or c == 1 else 1 - p
        score -= price * meets * max(seen, 1.0) / max(counts[RECENT, c, group, 0], 1.0)
    return score


@compiled(_nrt=False, fastmath=False)
def gap_between(counts: np.ndarray, of: int, c: int, i: int, j: int, otherwise: float) -> float:
    """rate_i − rate_j; what was said `otherwise` while one of them rests on too few rows."""
    if min(counts[of, c, i, 0], counts[of, c, j, 0]) < FEW:
        return otherwise
    return counts[of, c, i, 1] / counts[of, c, i, 0] - counts[of, c, j, 1] / counts[of, c, j, 0]


@compiled(_nrt=False, fastmath=False)
def learn_row(kind: int, decided: float, label: int, group: int, target: float, rate: float, gain: float, keep: float,
              prices: np.ndarray, counts: np.ndarray, seen: np.ndarray) -> None:
    """Counts a decision, and moves the prices.

    Args:
        prices: (part, condition, group, group).
        counts: (which, condition, group, [rows, decided 1]).
        seen: rows so far, with fading and without.
    """
    num_conditions, num_groups = counts.shape[1], counts.shape[2]
    seen[0] = seen[0] * keep + 1
    seen[1] += 1
    later = max(1 - 3 / seen[1], 0.0)  # so that the weights become (s/t)²
    for c in range(num_conditions):
        for k in range(num_groups):
            for place in range(2):
                counts[RECENT, c, k, place] *= keep
                counts[LATER, c, k, place] *= later
        if group >= 0 and (kind == ALWAYS or (label == 1 if kind == POSITIVE else label == c)):
            for of in range(3):
                counts[of, c, group, 0] += 1
                counts[of, c, group, 1] += decided
        for i in range(num_groups):
            for j in range(i):
                if min(counts[EVER, c, i, 0], counts[EVER, c, j, 0]) >= FEW:
                    ever = gap_between(counts, EVER, c, i, j, 0.0)
                    late = gap_between(counts, LATER, c, i, j, ever)
                    now = gap_between(counts, RECENT, c, i, j, ever)
                    high, low = max(late, ever), min(late, ever)
                    above = max(prices[SUMMED, c, i, j] + rate * (max(now, high) - target), 0.0)
                    below = max(prices[SUMMED, c, j, i] + rate * (max(-now, -low) - target), 0.0)
                    both = min(above, below)  # where the gaps disagree, prices would grow against each other
                    prices[SUMMED, c, i, j], prices[SUMMED, c, j, i] = above - both, below - both
                    prices[AT_ONCE, c, i, j] = gain * max(high - target, 0.0)
                    prices[AT_ONCE, c, j, i] = gain * max(-low - target, 0.0)


@compiled(_nrt=False, fastmath=False)
def walk(kind: int, probabilities: np.ndarray, labels: np.ndarray, groups: np.ndarray, target: float, rate: float,
         gain: float, keep: float, prices: np.ndarray, counts: np.ndarray, seen: np.ndarray,
         scores: np.ndarray) -> None:
    """Decides rows in order, and learns from each decision; fills scores, (n,)."""
    for t in range(probabilities.size):
        scores[t] = shifted_row(kind, probabilities[t], groups[t], prices, counts, seen[0])
        learn_row(kind, 1.0 if scores[t] >= 0.5 else 0.0, labels[t], groups[t], target, rate, gain, keep, prices,
                  counts, seen)
