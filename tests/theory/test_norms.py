"""Lemma 5 and Theorem 1: how long gradients are, and how long they stay."""

import numpy as np
import pytest

from aranyani_tf.theory import bounds, counterexamples, gaps, soft_tree, task_loss
from search import largest

NORM, DELTA, ROUNDING = 1.3, 0.01, 1e-9


@pytest.mark.parametrize("height", range(1, 6))
def test_no_weights_break_the_gradient_s_bounds(height):
    nodes = 2**height - 1

    def task(parameters):
        found = []
        for each in parameters:
            in_logits, in_leaves = task_loss.cross_entropy_gradient(
                3 * each[None, :nodes], 3 * each[nodes:].reshape(-1, 2), np.array([1]))
            found.append(np.sqrt(NORM**2 * (in_logits**2).sum() + (in_leaves**2).sum()))
        return found

    def fairness(parameters):
        found = []
        for each in parameters:
            inputs = each[:8].reshape(4, 2)
            inputs = inputs / np.maximum(1, np.linalg.norm(inputs, axis=1, keepdims=True) / NORM)
            exact = gaps.node_gaps(each[8:].reshape(nodes, 2), inputs, np.array([0, 0, 1, 1]))
            found.append(np.linalg.norm(gaps.fairness_gradient(*exact, DELTA)))
        return found

    assert largest(task, nodes + 2 * 2**height, seed=height) <= bounds.task_gradient_corrected(height, NORM) + ROUNDING
    tightened, printed = (bound(height, 1.0, DELTA, NORM) for bound in (
        bounds.fairness_gradient_tightened, bounds.fairness_gradient_printed))
    assert largest(fairness, 8 + 2 * nodes, seed=height) <= tightened + ROUNDING
    assert tightened <= printed * (1 + ROUNDING)
    case = counterexamples.fairness_norm_of_opposites(height)
    assert 0.999 * case.corrected < case.measured <= case.corrected


@pytest.mark.parametrize("height", range(1, 6))
def test_a_surprise_breaks_the_task_s_part_of_lemma_5(height):
    case = counterexamples.norm_of_a_surprise(height)
    assert case.breaks_printed and 0.999999 * case.corrected < case.measured <= case.corrected + ROUNDING


def test_noise_breaks_theorem_1_at_the_optimum():
    assert counterexamples.norm_at_the_optimum() == pytest.approx([0.25, 0.01, 0.255])


def test_small_steps_break_theorem_1():
    case = counterexamples.norm_without_movement()
    assert case.measured == pytest.approx(0.25, abs=1e-4) and case.printed == 0.1 and case.measured <= case.corrected


def test_the_printed_number_of_steps_gives_half_as_much_again():
    """At γ = ε/(2Lσ²) the proof's three terms are ε, the bias and ε/2."""
    accuracy, excess, smoothness, noise = 0.1, 2.0, 3.0, 5.0
    rate = bounds.largest_rate(accuracy, smoothness, noise)
    told = {steps: bounds.convergence_corrected(1, 0.0, DELTA, 1.0, excess=excess, steps=steps, rate=rate,
                                                smoothness=smoothness, noise=noise)
            for steps in (bounds.printed_steps(accuracy, excess, smoothness, noise),
                          bounds.corrected_steps(accuracy, excess, rate))}
    assert list(told.values()) == pytest.approx([1.5 * accuracy, accuracy])


class Problem:
    """Six rows that are the whole population; λ, Huber and all parameters of a small tree in one vector."""

    def __init__(self, height, fairness_weight):
        rng = np.random.default_rng(height)
        self.height, self.nodes, self.weight = height, 2**height - 1, fairness_weight
        self.inputs = np.column_stack([rng.uniform(-1, 1, (6, 2)), np.ones(6)])
        self.labels, self.groups = np.array([0, 1, 1, 0, 1, 0]), np.array([0, 0, 0, 1, 1, 1])
        self.norm = np.linalg.norm(self.inputs, axis=1).max()
        self.size = 3 * self.nodes + 2 * 2**height

    def parts(self, parameters):
        return parameters[: 3 * self.nodes].reshape(-1, 3), parameters[3 * self.nodes:].reshape(-1, 2)

    def objective(self, parameters):
        weights, leaf_logits = self.parts(parameters)
        gap = np.abs(gaps.node_gaps(weights, self.inputs, self.groups)[0])
        huber = np.where(gap < DELTA, gap**2 / 2, DELTA * (gap - DELTA / 2)).sum()
        return task_loss.cross_entropy(self.inputs @ weights.T, leaf_logits, self.labels).mean() + self.weight * huber

    def task(self, parameters, rows):
        """Gradient of each row's loss: (row, parameter)."""
        weights, leaf_logits = self.parts(parameters)
        in_logits, in_leaves = task_loss.cross_entropy_gradient(
            self.inputs[rows] @ weights.T, leaf_logits, self.labels[rows])
        in_weights = in_logits[:, :, None] * self.inputs[rows][:, None]
        return np.concatenate([in_weights.reshape(len(rows), -1), in_leaves.reshape(len(rows), -1)], axis=1)

    def fairness(self, gap, gap_gradients):
        found = self.weight * gaps.fairness_gradient(gap, gap_gradients, DELTA)
        return np.concatenate([found.ravel(), np.zeros(self.size - found.size)])

    def exact(self, parameters):
        weights, _ = self.parts(parameters)
        return self.task(parameters, np.arange(6)).mean(axis=0) + self.fairness(
            *gaps.node_gaps(weights, self.inputs, self.groups))

    def smoothness(self):
        return bounds.objective_smoothness(self.height, self.norm, self.weight, DELTA)


@pytest.mark.parametrize(("height", "weight"), [(1, 0.0), (1, 5.0), (2, 0.5), (3, 5.0)])
def test_no_weights_make_the_objective_more_curved_than_its_bound(height, weight):
    problem, rng = Problem(height, weight), np.random.default_rng(0)

    def curvature(many):
        found = []
        for each in many:  # a long step, so that a kink of H′ is seen too
            direction = rng.standard_normal(problem.size)
            direction /= np.linalg.norm(direction)
            for _ in range(3):
                change = (problem.exact(each + 1e-4 * direction) - problem.exact(each - 1e-4 * direction)) / 2e-4
                direction = change / max(np.linalg.norm(change), 1e-12)
            found.append(np.linalg.norm(change))
        return found

    found = largest(curvature, problem.size, seed=0, rounds=8, population=16)
    assert 0.02 * problem.smoothness() < found <= problem.smoothness()


@pytest.mark.parametrize(("height", "weight"), [(1, 0.0), (1, 1.0), (2, 1.0)])
def test_sgd_with_stale_means_stays_below_theorem_1_as_corrected(height, weight):
    """A stream drawn from the six rows, plain running means as in Algorithm 1, a mean over some runs."""
    problem = Problem(height, weight)
    rate, steps, squares, noise = 1 / problem.smoothness(), 300, [], 0.0
    begin = np.random.default_rng(7).standard_normal(problem.size)
    for run in range(4):
        rng, parameters = np.random.default_rng(run), begin.copy()
        count, means = np.zeros(2), [[0.0, 0.0], [0.0, 0.0]]
        for _ in range(steps):
            row = int(rng.integers(6))
            weights, _ = problem.parts(parameters)
            group, n = problem.groups[row], soft_tree.sigmoid(weights @ problem.inputs[row])
            count[group] += 1
            for place, now in enumerate((n, (n * (1 - n))[:, None] * problem.inputs[row])):
                means[place][group] = means[place][group] + (now - means[place][group]) / count[group]
            per_row = problem.task(parameters, np.arange(6))
            noise = max(noise, ((per_row - per_row.mean(axis=0)) ** 2).sum(axis=1).mean())
            squares.append((problem.exact(parameters) ** 2).sum())
            step = per_row[row]
            if count.all():
                step = step + problem.fairness(*(of_group[0] - of_group[1] for of_group in means))
            parameters = parameters - rate * step
    bound = bounds.convergence_corrected(
        height, weight, DELTA, problem.norm, excess=problem.objective(begin), steps=steps, rate=rate,
        smoothness=problem.smoothness(), noise=noise)
    assert 0 < np.mean(squares) <= bound
