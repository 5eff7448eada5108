"""Lemmas 2 and 6: how steep, how curved and how flexible one tree is."""

from itertools import product

import numpy as np
import pytest

from aranyani_tf.theory import bounds, counterexamples, soft_tree
from search import largest

ROUNDING = 1e-9


def split(parameters, height):
    """Logits, and leaves within ±1: (candidate, node) and (candidate, leaf)."""
    nodes = 2**height - 1
    return parameters[:, :nodes], np.tanh(parameters[:, nodes:])


@pytest.mark.parametrize("height", range(1, 6))
def test_no_tree_is_steeper_or_more_curved_than_the_bounds(height):
    size = 2 ** (height + 1) - 1

    def steepness(parameters):
        return np.linalg.norm(soft_tree.gradient(*split(parameters, height)), axis=1)

    def curvature(parameters):
        return np.abs(np.linalg.eigvalsh(soft_tree.hessian(*split(parameters, height)))).max(axis=1)

    for measured, near, tightened, printed in (
            (steepness, 0.999, bounds.lipschitz_tightened(1.0), bounds.lipschitz_printed(height, 1.0)),
            (curvature, 0.999 if height == 1 else 0.38, bounds.smoothness_tightened(height, 1.0),
             bounds.smoothness_printed(height, 1.0))):
        found = largest(measured, size, seed=height, rounds=80)
        assert found <= tightened + ROUNDING and tightened <= printed + ROUNDING
        assert found > near * tightened
        if measured is curvature and height > 1:  # what docs/theory.md says of it
            assert found == pytest.approx(27 / 128, rel=0.01)


def test_lemma_6_is_attained_by_one_node():
    assert counterexamples.slope_of_one_node() == pytest.approx([0.5, 0.5, 0.5])
    curvature = counterexamples.curvature_of_one_node()
    assert curvature.measured == pytest.approx(curvature.corrected) and curvature.printed == 0.25


def test_one_node_fits_any_signs():
    case = counterexamples.complexity_of_one_node()
    assert case.measured > 0.999999 and case.printed == pytest.approx(0.8944, abs=1e-4) and case.breaks_printed
    assert not counterexamples.complexity_of_one_node(num_samples=4).breaks_printed  # five samples are the fewest
    assert case.measured <= case.corrected


@pytest.mark.parametrize("height", [1, 2, 3])
def test_no_tree_fits_signs_better_than_lemma_2_as_corrected(height):
    """Where weights are short the printed bound holds as well; the corrected one has to hold for every length."""
    samples, inputs, radius = 6, 3, 0.5
    nodes = 2**height - 1
    points = np.random.default_rng(height).standard_normal((samples, inputs))
    points /= np.linalg.norm(points, axis=1, keepdims=True)

    def answers(parameters):
        weights = parameters[:, : nodes * inputs].reshape(-1, nodes, inputs)
        weights = weights / np.maximum(1, np.linalg.norm(weights, axis=2, keepdims=True) / radius)
        logits = np.einsum("si,cni->csn", points, weights)
        leaves = np.repeat(np.tanh(parameters[:, nodes * inputs:]), samples, axis=0)
        flat = soft_tree.sigmoid(logits.reshape(-1, nodes))
        return soft_tree.output(flat, leaves).reshape(-1, samples)

    half = [signs for signs in product([-1, 1], repeat=samples) if signs[0] == 1]  # the others mirror them
    found = np.mean([largest(lambda many, signs=signs: answers(many) @ np.array(signs) / samples,
                             nodes * inputs + 2**height, seed=0, rounds=15, population=24) for signs in half])
    assert 0.2 < found <= bounds.complexity_corrected(height, samples, radius, 1.0)
