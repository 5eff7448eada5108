"""The smallest cases in which a printed bound breaks, or in which one is as good as attained.

Each gives what is measured, the bound as printed, and the one that holds. Docs and tests use the same ones.
"""

from itertools import product
from typing import NamedTuple

import numpy as np

from aranyani_tf.theory import bounds
from aranyani_tf.theory.gaps import fairness_gradient, node_gaps, pair_distances, parity_gap
from aranyani_tf.theory.soft_tree import gradient, hessian, output, sigmoid
from aranyani_tf.theory.task_loss import cross_entropy, cross_entropy_gradient

ONE_EACH = np.array([0, 1])  # two rows, one of each group


class Case(NamedTuple):
    """What is measured, and the bounds that should be above it."""

    measured: float
    printed: float
    corrected: float

    @property
    def breaks_printed(self) -> bool:
        return self.measured > self.printed


def parity_with_equal_means(scale: float = 20.0) -> Case:
    """Every node has the same mean in both groups, F = 0, and one group gets 1, the other 0 (h = 2).

    x = (u, v) with u = v in group 0 and u = −v in group 1. The root looks at u, its children at v, and the outer
    leaves say 1. The printed bound is Lemma 1's with |F| in the place of E|n(x₀) − n(x₁)|: what is really trained.
    """
    inputs = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
    groups, leaves = np.array([0, 0, 1, 1]), np.array([1.0, 0.0, 0.0, 1.0])
    weights = scale * np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    n = sigmoid(inputs @ weights.T)
    largest = float(np.abs(node_gaps(weights, inputs, groups)[0]).max())
    return Case(parity_gap(output(n, leaves), groups), bounds.parity_printed(2, largest),
                bounds.parity_tightened(pair_distances(n, groups), leaf_range=1.0))


def parity_at_height_one(scale: float = 1.0) -> Case:
    """Two rows, x = ±1 by group, one node, leaves ±1: the gap is 2ε, both bounds are."""
    n = sigmoid(scale * np.array([[1.0], [-1.0]]))
    distances = pair_distances(n, ONE_EACH)
    return Case(parity_gap(output(n, np.array([1.0, -1.0])), ONE_EACH), bounds.parity_printed(1, distances.max()),
                bounds.parity_tightened(distances))


def parity_of_one_turn_each(height: int = 3) -> Case:
    """Group 1 always goes right; of group 0 each h-th turns left at another depth of that way: DP = h·ε (θ in [0, 1]).

    So Lemma 1's factor cannot be less than h.
    """
    decisions = np.zeros((2 * height, bounds.num_nodes(height)))
    way = [2 ** (depth + 1) - 2 for depth in range(height)]  # the rightmost node of each level
    decisions[range(height), way] = 1.0
    leaves, groups = np.ones(2**height), np.repeat([0, 1], height)
    leaves[-1] = 0.0
    distances = pair_distances(decisions, groups)
    return Case(parity_gap(output(decisions, leaves), groups), bounds.parity_printed(height, distances.max()),
                bounds.parity_tightened(distances, leaf_range=1.0))


def complexity_of_one_node(num_samples: int = 5, scale: float = 20.0) -> Case:
    """As many inputs as samples: one node and two leaves ±1 answer with any signs that one likes (h = 1).

    The samples are the unit vectors, and w = scale·signs. The mean is over all signs, so nothing is drawn.
    """
    signs = np.array(list(product([-1.0, 1.0], repeat=num_samples)))  # (draw, sample)
    answers = 2 * sigmoid(scale * signs) - 1  # z of sample t is w_t
    return Case(float((signs * answers).mean()), bounds.complexity_printed(1, num_samples),
                bounds.complexity_corrected(1, num_samples, scale * np.sqrt(num_samples), 1.0))


def error_of_a_saturated_past(input_norm: float = 1.0, radius: float = 10.0) -> Case:
    """x = ±B by group; the past was seen with w = R, where σ is flat, and now w = 0."""
    inputs = np.array([[input_norm], [-input_norm]])
    now, past = (node_gaps(np.array([[weight]]), inputs, ONE_EACH)[1] for weight in (0.0, radius))
    return Case(float(np.linalg.norm(now - past)), bounds.gap_gradient_error_printed(input_norm, radius),
                bounds.gap_gradient_error_corrected(input_norm, radius))


def error_of_a_flipped_past(height: int = 1, weight: float = 0.1, delta: float = 0.01) -> Case:
    """x = ±1 by group; every w was −0.1 and is 0.1 now, so every gap has changed its sign. At each node (Lemma 3)."""
    bias = bias_of_a_flipped_past(height, weight, delta).measured / np.sqrt(bounds.num_nodes(height))
    return Case(float(bias), bounds.fairness_gradient_error_printed(delta, 1.0),
                bounds.fairness_gradient_error_corrected(delta, 1.0))


def bias_of_a_flipped_past(height: int = 1, weight: float = 0.1, delta: float = 0.01) -> Case:
    """The same over all nodes, λ = 1: the bias of the whole gradient."""
    inputs, weights = np.array([[1.0], [-1.0]]), np.full((bounds.num_nodes(height), 1), weight)
    now, past = (fairness_gradient(*node_gaps(sign * weights, inputs, ONE_EACH), delta) for sign in (1, -1))
    return Case(float(np.linalg.norm(now - past)), bounds.bias_printed(height, 1.0, delta, 1.0),
                bounds.bias_tightened(height, 1.0, delta, 1.0))


def one_node_gradients(label: int, weight: float = 0.0) -> np.ndarray:
    """Gradient of the loss at x = 1 of one node (w, and leaf logits 0), for one label: (parameter,)."""
    in_logits, in_leaves = cross_entropy_gradient(np.array([[weight]]), np.zeros((2, 2)), np.array([label]))
    return np.concatenate([in_logits.ravel(), in_leaves.ravel()])


def norm_at_the_optimum(accuracy: float = 0.01) -> Case:
    """λ = 0, the same x with both labels, and a tree that says 1/2: the best there is, so F = 0 and G = 0.

    Theorem 1 then asks for no step at all and promises ε, but ‖Ĝ‖² is 1/4 whichever label comes. One step, T = 1.
    Without bias E‖Ĝ‖² = ‖G‖² + E‖n‖², so what holds for Ĝ is the corrected bound for G, plus σ².
    """
    both = np.stack([one_node_gradients(label) for label in (0, 1)])
    noise = float((both**2).sum(axis=1).mean())
    smoothness = bounds.objective_smoothness(1, 1.0)
    assert np.allclose(both.mean(axis=0), 0) and bounds.printed_steps(accuracy, 0.0, smoothness, noise) == 0
    rate = bounds.largest_rate(accuracy, smoothness, noise)
    of_exact = bounds.convergence_corrected(1, 0.0, 0.01, 1.0, excess=0.0, steps=1, rate=rate, smoothness=smoothness,
                                            noise=noise)
    return Case(noise, bounds.convergence_printed(1, accuracy, 0.0, 0.01, 1.0), of_exact + noise)


def norm_without_movement(accuracy: float = 0.1, rate: float = 1e-6) -> Case:
    """λ = 0, one x with one label, so no noise; γ is far below its limit, T as printed: ‖G‖² stays what it was."""
    smoothness, excess = bounds.objective_smoothness(1, 1.0), float(np.log(2))
    steps = int(np.ceil(bounds.printed_steps(accuracy, excess, smoothness, 0.0)))
    weight, leaf_logits, norms = np.zeros((1, 1)), np.zeros((2, 2)), []
    for _ in range(steps):
        in_logits, in_leaves = cross_entropy_gradient(weight, leaf_logits, np.array([1]))
        norms.append((in_logits**2).sum() + (in_leaves**2).sum())
        weight, leaf_logits = weight - rate * in_logits, leaf_logits - rate * in_leaves[0]
    return Case(float(np.mean(norms)), bounds.convergence_printed(1, accuracy, 0.0, 0.01, 1.0),
                bounds.convergence_corrected(1, 0.0, 0.01, 1.0, excess=excess, steps=steps, rate=rate,
                                             smoothness=smoothness, noise=0.0))


def norm_of_a_surprise(height: int = 1, input_norm: float = 1.0, scale: float = 20.0) -> Case:
    """The label is known to one leaf only, a little, and next to nobody goes there: λ = 0 (Lemma 5).

    Every node on the way has n = σ(−scale), so the leaf's prior is tiny, but all others are surer that the label is
    wrong; so its posterior is 1. Each node on the way then gets B·(1 − n), and the leaf √2·(1 − q).
    """
    logits = np.full((1, bounds.num_nodes(height)), -scale)
    leaf_logits = np.zeros((2**height, 2))
    leaf_logits[0, 1], leaf_logits[1:, 1] = -scale, -(height + 2) * scale
    in_logits, in_leaves = cross_entropy_gradient(logits, leaf_logits, np.array([1]))
    assert np.isfinite(cross_entropy(logits, leaf_logits, np.array([1]))).all()
    return Case(float(np.sqrt(input_norm**2 * (in_logits**2).sum() + (in_leaves**2).sum())),
                bounds.task_gradient_printed(), bounds.task_gradient_corrected(height, input_norm))


def fairness_norm_of_opposites(height: int = 1, weight: float = 0.05, delta: float = 0.01) -> Case:
    """x = ±1 by group, every w small: each node's fairness gradient is as good as δB/2 (Lemma 5, λ = 1)."""
    weights = np.full((bounds.num_nodes(height), 1), weight)
    found = fairness_gradient(*node_gaps(weights, np.array([[1.0], [-1.0]]), ONE_EACH), delta)
    return Case(float(np.linalg.norm(found)), bounds.fairness_gradient_printed(height, 1.0, delta, 1.0),
                bounds.fairness_gradient_tightened(height, 1.0, delta, 1.0))


def slope_of_one_node() -> Case:
    """n = 1/2 and leaves ±1: |∂f/∂z| = 1/2 (Lemma 6)."""
    slope = np.abs(gradient(np.zeros((1, 1)), np.array([1.0, -1.0]))).max()
    return Case(float(slope), bounds.lipschitz_printed(1, 1.0), bounds.lipschitz_tightened(1.0))


def curvature_of_one_node() -> Case:
    """z = log(2 + √3), where |σ″| is largest, and leaves ±1 (Lemma 6)."""
    logits = np.full((1, 1), np.log(2 + np.sqrt(3)))
    return Case(float(np.abs(hessian(logits, np.array([1.0, -1.0]))).max()), bounds.smoothness_printed(1, 1.0),
                bounds.smoothness_tightened(1, 1.0))
