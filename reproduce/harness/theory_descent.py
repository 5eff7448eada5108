"""Panel d of the theory's figure: SGD along Adult, and Theorem 1's right-hand side with everything in it measured.

The objective is that of the whole stream, since the theorem needs one that stays the same; rows are its samples.
"""

from typing import NamedTuple

import numpy as np

import aranyani_tf as ar
from aranyani_tf.theory import bounds, gaps, task_loss
from harness.theory_measures import DELTA, learned, sgd_model, spaced, tree_of, with_ones

HEIGHT, FAIRNESS_WEIGHT, RATE = 4, 1.0, 2e-3  # the rate is below 1/L
STEP = 1e-4  # of the differences that give the Hessian


class Rows(NamedTuple):
    """All rows of the stream."""

    inputs: np.ndarray
    labels: np.ndarray
    groups: np.ndarray


def objective(weights: np.ndarray, logits: np.ndarray, rows: Rows) -> float:
    """Equation 4: mean cross-entropy, and λ times Huber's function of every gap."""
    gap = np.abs(gaps.node_gaps(weights, rows.inputs, rows.groups)[0])
    huber = np.where(gap < DELTA, gap**2 / 2, DELTA * (gap - DELTA / 2)).sum()
    loss = task_loss.cross_entropy(rows.inputs @ weights.T, logits, rows.labels).mean()
    return float(loss + FAIRNESS_WEIGHT * huber)


def exact_gradient(weights: np.ndarray, logits: np.ndarray, rows: Rows) -> tuple[np.ndarray, float]:
    """G as one vector, and the variance of the task's gradient over the rows: E‖g − E g‖²."""
    in_logits, in_leaves = task_loss.cross_entropy_gradient(rows.inputs @ weights.T, logits, rows.labels)
    mean = np.concatenate([(in_logits.T @ rows.inputs).ravel(), in_leaves.sum(axis=0).ravel()]) / len(rows.labels)
    squares = (in_logits**2).sum(axis=1) * (rows.inputs**2).sum(axis=1) + (in_leaves**2).sum(axis=(1, 2))
    fairness = FAIRNESS_WEIGHT * gaps.fairness_gradient(*gaps.node_gaps(weights, rows.inputs, rows.groups), DELTA)
    total = mean.copy()
    total[: fairness.size] += fairness.ravel()
    return total, float(squares.mean() - mean @ mean)


def curvature(weights: np.ndarray, logits: np.ndarray, rows: Rows, iterations: int = 8) -> float:
    """The largest |eigenvalue| of the Hessian here, by power iteration on differences of the gradient."""
    direction = np.random.default_rng(0).standard_normal(weights.size + logits.size)
    for _ in range(iterations):
        direction /= np.linalg.norm(direction)
        by_node, by_leaf = direction[: weights.size].reshape(weights.shape), direction[weights.size:].reshape(-1, 2)
        ahead, behind = (exact_gradient(weights + step * by_node, logits + step * by_leaf, rows)[0]
                         for step in (STEP, -STEP))
        direction = (ahead - behind) / (2 * STEP)
    return float(np.linalg.norm(direction))


def descent(stream: ar.Stream, seed: int = 0) -> list[dict]:
    """Means of ‖G‖² and of E‖Ĝ‖² over the steps so far, beside Theorem 1 as printed and as corrected.

    A checkpoint stands for the steps until the next one. σ² is the largest variance over the rows at a checkpoint (the
    memory's own noise, about 1/t of a node's part, is left out), so M = 0. L is known in closed form; `bound_of_data`
    has the largest curvature that was met instead, which is an estimate from below, and mean norms for B.
    """
    rows = Rows(with_ones(stream.features), stream.labels, stream.groups)
    lengths = np.linalg.norm(rows.inputs, axis=1)
    norm = float(lengths.max())
    mean_norm = float(lengths[rows.groups == 0].mean() + lengths[rows.groups == 1].mean()) / 2
    model = sgd_model(HEIGHT, FAIRNESS_WEIGHT, RATE, seed)
    model.build((None, stream.num_features))
    checkpoints = np.concatenate([[0], spaced(10, len(stream), 30)])
    found, excess = [], 0.0
    for number, step in enumerate(learned(model, stream, checkpoints)):
        weights, logits = tree_of(model)
        if step == 0:
            excess = objective(weights, logits, rows)  # above 0, which is no more than its infimum
        gradient, variance = exact_gradient(weights, logits, rows)
        found.append((gradient @ gradient, variance,
                      curvature(weights, logits, rows) if number % 6 == 0 else 0.0))
    squares, noises, curvatures = np.array(found).T
    lasting = np.diff(checkpoints)
    smoothness = bounds.objective_smoothness(HEIGHT, norm, FAIRNESS_WEIGHT, DELTA)
    told = []
    for number in range(1, len(checkpoints)):
        step = int(checkpoints[number])
        noise, met = noises[: number + 1].max(), curvatures[: number + 1].max()

        def right_hand_side(length, curved, steps=step, noise=noise):
            return bounds.convergence_corrected(HEIGHT, FAIRNESS_WEIGHT, DELTA, length, excess=excess, steps=steps,
                                                rate=RATE, smoothness=curved, noise=noise)

        corrected = right_hand_side(norm, smoothness)
        in_bias = (bounds.bias_printed(HEIGHT, FAIRNESS_WEIGHT, DELTA, norm) ** 2
                   - bounds.bias_tightened(HEIGHT, FAIRNESS_WEIGHT, DELTA, norm) ** 2)
        place = {"panel": "d", "height": HEIGHT, "seed": seed, "step": step}
        mean = np.average(squares[:number], weights=lasting[:number])
        noisy = mean + np.average(noises[:number], weights=lasting[:number])
        told += [{**place, "quantity": "mean_squared_gradient_norm", "value": mean,
                  "bound_printed": corrected + in_bias, "bound_corrected": corrected,
                  "bound_of_data": right_hand_side(mean_norm, met)},
                 {**place, "quantity": "mean_squared_noisy_gradient_norm", "value": noisy,
                  "bound_printed": corrected + in_bias},
                 {**place, "quantity": "largest_variance", "value": noise},
                 {**place, "quantity": "largest_curvature_met", "value": met, "bound_corrected": smoothness}]
    return told
