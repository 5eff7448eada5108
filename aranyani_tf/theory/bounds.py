"""The paper's bounds as printed, and beside each one that holds; proofs and verdicts are in docs/theory.md.

One tree of height h, with 2^h − 1 nodes. Shared names: `leaf_range` is R_θ = max θ − min θ over the leaves, 1 for a
probability and 2 for |θ| ≤ 1, the paper's assumption; `input_norm` is B ≥ ‖x̃‖, the 1 for the bias included; `radius`
is R ≥ ‖w_j‖; `slope` is the largest |H′|, which is δ in the paper and `linear_slope` in the released code.
"""

import numpy as np

SIGMOID_SMOOTHNESS = 1 / (6 * np.sqrt(3))  # max |σ″|
PRINTED_SIGMOID_SMOOTHNESS = (2 * np.sqrt(3) - 3) / 18  # what the paper has for it


def num_nodes(height: int) -> int:
    return 2**height - 1


def product_distance(first: np.ndarray, second: np.ndarray) -> float:
    """Proposition 1 (Appendix A.2): |Π p − Π q| ≤ Σ |p − q|, factors within [0, 1]. It holds."""
    return float(np.abs(first - second).sum())


def parity_printed(height: int, distance: float) -> float:
    """Lemma 1: DP ≤ h·2^h·ε, with ε ≥ E|n_j(x₀) − n_j(x₁)| at every node, |θ| ≤ 1. It holds."""
    return float(height * 2**height * distance)


def parity_tightened(distances: np.ndarray, leaf_range: float = 2.0) -> float:
    """Lemma 1, tightened: DP ≤ R_θ·min{Σ_j E|n_j(x₀) − n_j(x₁)|, 2h·ε}. Attained at h = 1.

    The first holds for any pairs, the second for independent ones. So DP ≤ R_θ·min{2^h − 1, 2h}·ε.

    Args:
        distances: `gaps.pair_distances`, (node,).
    """
    height = (len(distances) + 1).bit_length() - 1
    return leaf_range * float(min(np.sum(distances), 2 * height * np.max(distances)))


def parity_by_reach(reached_distances: np.ndarray, leaf_range: float = 2.0) -> float:
    """The same of one's own tree: DP ≤ R_θ·Σ_j E[reach_j(x₀)·|n_j(x₀) − n_j(x₁)|], `gaps.reached_pair_distances`."""
    return leaf_range * float(np.sum(reached_distances))


def complexity_printed(height: int, num_samples: int) -> float:
    """Lemma 2: R̂_n ≤ 2^h/√n for |θ| ≤ 1. It fails: nothing bounds the weights."""
    return float(2**height / np.sqrt(num_samples))


def complexity_corrected(height: int, num_samples: int, radius: float, input_norm: float,
                         leaf_range: float = 2.0) -> float:
    """Lemma 2, corrected, for ‖w_j‖ ≤ R and θ in an interval of length R_θ, by the contraction of Maurer (2016)."""
    steepness = np.sqrt(2 * (leaf_range**2 / 16 + 1))
    leaves = 2**height * leaf_range / 2
    return float(steepness * (num_nodes(height) * radius * input_norm + leaves) / np.sqrt(num_samples))


def gap_gradient_error_printed(input_norm: float, radius: float,
                               smoothness: float = PRINTED_SIGMOID_SMOOTHNESS) -> float:
    """Lemma 4: ‖∇F − ∇F̂‖ ≤ min{B/4, 2·L_g·R}. It fails: both groups err."""
    return min(input_norm / 4, 2 * smoothness * radius)


def gap_gradient_error_corrected(input_norm: float, radius: float) -> float:
    """Lemma 4, exact: 2B(1/4 − σ′(BR)), which is at most min{B/2, 2·L_g·B²·R} with L_g = 1/(6√3). Attained."""
    small = np.exp(-input_norm * radius)
    return float(2 * input_norm * (0.25 - small / (1 + small) ** 2))


def fairness_gradient_error_printed(slope: float, input_norm: float) -> float:
    """Lemma 3: ‖∇H(F) − ∇H(F̂)‖ ≤ δB/2 at each node. It fails: the two may point in opposite directions."""
    return slope * input_norm / 2


def fairness_gradient_error_corrected(slope: float, input_norm: float) -> float:
    """Lemma 3, corrected: δB, δB/2 from each side. Approached."""
    return slope * input_norm


def bias_printed(height: int, fairness_weight: float, slope: float, input_norm: float) -> float:
    """Bias of the gradient (Appendix A.5): ‖b‖ ≤ 2^(h−1)·λδB. It holds, though it is summed from Lemma 3."""
    return 2 ** (height - 1) * fairness_weight * slope * input_norm


def bias_tightened(height: int, fairness_weight: float, slope: float, input_norm: float) -> float:
    """The same, tightened: √(2^h − 1)·λδB. Each node has weights of its own, so squares add. Approached."""
    return float(np.sqrt(num_nodes(height)) * fairness_weight * slope * input_norm)


def convergence_printed(height: int, accuracy: float, fairness_weight: float, slope: float, input_norm: float) -> float:
    """Theorem 1: mean E‖Ĝ‖² ≤ ε + 2^(2h−2)·λ²δ²B². It fails: Ĝ has noise, and small steps go nowhere."""
    return accuracy + bias_printed(height, fairness_weight, slope, input_norm) ** 2


def convergence_corrected(height: int, fairness_weight: float, slope: float, input_norm: float, *, excess: float,
                          steps: int, rate: float, smoothness: float, noise: float) -> float:
    """Theorem 1, corrected, of the exact gradient: mean E‖G‖² ≤ 2F/(Tγ) + (2^h − 1)λ²δ²B² + γLσ².

    For a fixed objective that is L-smooth, any T, any γ ≤ 1/((M + 1)L).

    Args:
        excess: F, how far the objective is above its infimum at the beginning.
        steps, rate: T and γ.
        smoothness, noise: L and σ².
    """
    bias = bias_tightened(height, fairness_weight, slope, input_norm)
    return float(2 * excess / (steps * rate) + bias**2 + rate * smoothness * noise)


def printed_steps(accuracy: float, excess: float, smoothness: float, noise: float, noise_growth: float = 0.0) -> float:
    """Theorem 1's T: max{4FL(M+1)/ε, 4FLσ²/ε²}. The second is half of what the proof needs."""
    return max(4 * excess * smoothness * (noise_growth + 1) / accuracy, 4 * excess * smoothness * noise / accuracy**2)


def largest_rate(accuracy: float, smoothness: float, noise: float, noise_growth: float = 0.0) -> float:
    """min{1/((M+1)L), ε/(2Lσ²)}: Theorem 1 says γ ≤ this; it needs γ = this."""
    first = 1 / ((noise_growth + 1) * smoothness)
    return min(first, accuracy / (2 * smoothness * noise)) if noise > 0 else first


def corrected_steps(accuracy: float, excess: float, rate: float) -> float:
    """T ≥ 4F/(γε), which brings 2F/(Tγ) below ε/2."""
    return 4 * excess / (rate * accuracy)


def task_gradient_printed() -> float:
    """Lemma 5's K_t of cross-entropy with softmax: √2. It fails: that is the constant in the logits of the answer."""
    return float(np.sqrt(2))


def task_gradient_corrected(height: int, input_norm: float) -> float:
    """K_t = √(hB² + 2) in the weights of nodes and leaves. Approached at every height."""
    return float(np.sqrt(height * input_norm**2 + 2))


def fairness_gradient_printed(height: int, fairness_weight: float, slope: float, input_norm: float) -> float:
    """Lemma 5's second term, 2^(h−2)·λδB. It holds."""
    return 2.0 ** (height - 2) * fairness_weight * slope * input_norm


def fairness_gradient_tightened(height: int, fairness_weight: float, slope: float, input_norm: float) -> float:
    """The same, tightened: √(2^h − 1)·λδB/2. Approached at every height."""
    return bias_tightened(height, fairness_weight, slope, input_norm) / 2


def lipschitz_printed(height: int, input_norm: float) -> float:
    """Lemma 6: ‖∂f/∂W‖ ≤ K_f = 2^(h−2)·hB for |θ| ≤ 1. It holds."""
    return 2.0 ** (height - 2) * height * input_norm


def lipschitz_tightened(input_norm: float, leaf_range: float = 2.0) -> float:
    """K_f = R_θ·B/4, whatever the height. Attained at each."""
    return leaf_range * input_norm / 4


def smoothness_printed(height: int, input_norm: float) -> float:
    """Lemma 6: ‖∂²f/∂W²‖ ≤ L_f = 2^(h−4)·h(h+1)·B² for |θ| ≤ 1. It holds."""
    return 2.0 ** (height - 4) * height * (height + 1) * input_norm**2


def smoothness_tightened(height: int, input_norm: float, leaf_range: float = 2.0) -> float:
    """L_f = R_θ·B²·min{1/(6√3) + (h − 1)/8, 1/4}. Attained at h = 1; from h = 3 on it does not grow."""
    return float(leaf_range * input_norm**2 * min(SIGMOID_SMOOTHNESS + (height - 1) / 8, 0.25))


def objective_smoothness(height: int, input_norm: float, fairness_weight: float = 0.0, delta: float = 0.01) -> float:
    """An L for Theorem 1, which gives none: (2h − 1)B²/4 + 1 + λB²(1/4 + δ/(3√3)), cross-entropy and the paper's Huber.

    There is none for the released rule, whose slope jumps at δ.
    """
    task = (2 * height - 1) * input_norm**2 / 4 + 1
    return task + fairness_weight * input_norm**2 * (0.25 + 2 * delta * SIGMOID_SMOOTHNESS)
