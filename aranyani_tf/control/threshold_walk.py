"""Decisions row by row while their thresholds move: the compiled loop of `GroupThresholds`.

The most accurate decisions whose rates differ by no more than the target say 1 where

    p − Σ_c λ_ck·q_c(p)/π_ck ≥ ½,    λ_ck = Σ_j d_ckj − d_cjk

for a row of group k with the probability p of label 1 (the Lagrangian of accuracy under the constraints): c is a
condition of the notion, q_c(p) how probable it is that the row meets it (1 for demographic parity, p for y = 1,
1 − p for y = 0), π_ck the share of rows in the cell, and d_cij ≥ 0 the price of group i's rate being above group j's:

    d_cij ← [d_cij + η·(gap_cij − target)]₊,    gap_cij = max(recent rate_i − rate_j, rate_i − rate_j of all rows)

Recent rates forget with every row, of whatever group, so that all groups are compared over the same time. A rate
counts once it rests on `FEW` rows: before, chance alone would move everybody's threshold, also the large group's.
"""

import numpy as np

from aranyani_tf.engine.compiler import compiled

FEW = 20
ALWAYS, POSITIVE, EACH = 0, 1, 2  # demographic parity, equal opportunity, equalized odds


@compiled(_nrt=False, fastmath=False)  # a row by itself gives the bits that it gives among others
def shifted_row(kind: int, p: float, group: int, prices: np.ndarray, recent: np.ndarray, seen: float) -> float:
    """The probability as it is compared with ½; a row without a group is left as it is."""
    if group < 0:
        return p
    score = p
    for c in range(prices.shape[0]):
        price = 0.0
        for j in range(prices.shape[1]):
            price += prices[c, group, j] - prices[c, j, group]
        meets = 1.0
        if kind != ALWAYS:
            meets = p if kind == POSITIVE or c == 1 else 1 - p
        score -= price * meets * max(seen, 1.0) / max(recent[c, group, 0], 1.0)
    return score


@compiled(_nrt=False, fastmath=False)
def learn_row(kind: int, decided: float, label: int, group: int, target: float, rate: float, keep: float,
              prices: np.ndarray, recent: np.ndarray, total: np.ndarray) -> None:
    """Counts a decision, and moves the prices. recent and total are (condition, group, [rows, decided 1])."""
    num_conditions, num_groups = recent.shape[0], recent.shape[1]
    for c in range(num_conditions):
        for k in range(num_groups):
            recent[c, k, 0] *= keep
            recent[c, k, 1] *= keep
        meets = kind == ALWAYS or (label == 1 if kind == POSITIVE else label == c)
        if meets and group >= 0:
            recent[c, group, 0] += 1
            recent[c, group, 1] += decided
            total[c, group, 0] += 1
            total[c, group, 1] += decided
        for i in range(num_groups):
            for j in range(i):
                if min(total[c, i, 0], total[c, j, 0]) >= FEW:
                    ever = total[c, i, 1] / total[c, i, 0] - total[c, j, 1] / total[c, j, 0]
                    late = ever
                    if min(recent[c, i, 0], recent[c, j, 0]) >= FEW:
                        late = recent[c, i, 1] / recent[c, i, 0] - recent[c, j, 1] / recent[c, j, 0]
                    above = max(prices[c, i, j] + rate * (max(late, ever) - target), 0.0)
                    below = max(prices[c, j, i] + rate * (max(-late, -ever) - target), 0.0)
                    both = min(above, below)  # where the two gaps disagree, prices would grow against each other
                    prices[c, i, j], prices[c, j, i] = above - both, below - both


@compiled(_nrt=False, fastmath=False)
def walk(kind: int, probabilities: np.ndarray, labels: np.ndarray, groups: np.ndarray, target: float, rate: float,
         keep: float, prices: np.ndarray, recent: np.ndarray, total: np.ndarray, seen: np.ndarray,
         scores: np.ndarray) -> None:
    """Decides rows in order, and learns from each decision; fills scores, (n,)."""
    for t in range(probabilities.size):
        scores[t] = shifted_row(kind, probabilities[t], groups[t], prices, recent, seen[0])
        seen[0] = seen[0] * keep + 1
        learn_row(kind, 1.0 if scores[t] >= 0.5 else 0.0, labels[t], groups[t], target, rate, keep, prices, recent,
                  total)
