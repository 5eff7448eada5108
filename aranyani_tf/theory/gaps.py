"""What is measured beside the bounds: gaps between two groups, exact, over rows at hand. Groups are 0 and 1."""

import numpy as np

from aranyani_tf.theory.soft_tree import sigmoid


def parity_gap(outputs: np.ndarray, groups: np.ndarray) -> float:
    """|E[f given a=0] − E[f given a=1]|, Equation 1 of soft outputs."""
    return float(abs(outputs[groups == 0].mean() - outputs[groups == 1].mean()))


def node_gaps(weights: np.ndarray, inputs: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """F_j and ∇F_j of Equations 3 and 5 at these weights: (node, input) and (batch, input) → (node,), (node, input)."""
    n = sigmoid(inputs @ weights.T)  # (batch, node)
    sign = np.where(groups == 0, 1 / max((groups == 0).sum(), 1), -1 / max((groups == 1).sum(), 1))
    return sign @ n, (n * (1 - n) * sign[:, None]).T @ inputs


def penalty_slope(gaps: np.ndarray, delta: float, linear_slope: float | None = None) -> np.ndarray:
    """H′(F): F within δ, else δ·sgn(F), or another slope than δ, as in the released code.

    >>> penalty_slope(np.array([0.004, -0.2]), 0.01).tolist()
    [0.004, -0.01]
    """
    slope = delta if linear_slope is None else linear_slope
    return np.where(np.abs(gaps) < delta, gaps, slope * np.sign(gaps))


def fairness_gradient(gaps: np.ndarray, gap_gradients: np.ndarray, delta: float,
                      linear_slope: float | None = None) -> np.ndarray:
    """∇H(F_j) = H′(F_j)·∇F_j: (node, input)."""
    return penalty_slope(gaps, delta, linear_slope)[:, None] * gap_gradients


def distances_to(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Mean of |a − b| over all b, for each a, by sorting: as many steps as n·log n, not all pairs.

    >>> distances_to(np.array([0.0, 2.0]), np.array([1.0, 3.0])).tolist()
    [2.0, 1.0]
    """
    ordered = np.sort(second)
    sums = np.concatenate([[0.0], np.cumsum(ordered)])
    below = np.searchsorted(ordered, first)
    return (first * (2 * below - len(ordered)) - 2 * sums[below] + sums[-1]) / len(ordered)


def pair_distances(decisions: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """E|n_j(x₀) − n_j(x₁)| over all pairs across the groups, the condition of Lemma 1: (node,)."""
    first, second = decisions[groups == 0], decisions[groups == 1]
    return np.array([distances_to(*each).mean() for each in zip(first.T, second.T, strict=True)])


def reached_pair_distances(decisions: np.ndarray, reached: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """E[reach_j(x₀)·|n_j(x₀) − n_j(x₁)|]: the same, where a node counts for those who come by. (node,)"""
    first, second = decisions[groups == 0], decisions[groups == 1]
    weights = reached[groups == 0][:, : decisions.shape[1]]
    return np.array([(w * distances_to(a, b)).mean()
                     for w, a, b in zip(weights.T, first.T, second.T, strict=True)])
