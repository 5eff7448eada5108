"""Proposition 1 and Lemma 1: nothing that is found breaks them; and the gaps that are trained bound nothing."""

import numpy as np
import pytest

from aranyani_tf.theory import bounds, counterexamples, gaps, soft_tree
from search import largest

ROWS = 2  # of each group
GROUPS = np.repeat([0, 1], ROWS)
ROUNDING = 1e-9


def test_products_differ_by_less_than_their_factors():
    rng = np.random.default_rng(0)
    for _ in range(2000):
        first, second = rng.beta(0.3, 0.3, (2, rng.integers(1, 6)))  # often near 0 or 1
        assert abs(first.prod() - second.prod()) <= bounds.product_distance(first, second) + ROUNDING
    assert bounds.product_distance(np.ones(1), np.zeros(1)) == 1  # attained


def tree_of(parameters, height):
    """Any decisions can be had with enough features, so they are searched themselves, with leaves within ±1."""
    nodes = 2**height - 1
    split = 2 * ROWS * nodes
    return soft_tree.sigmoid(parameters[:split].reshape(2 * ROWS, nodes)), np.tanh(parameters[split:])


@pytest.mark.parametrize("height", range(1, 6))
def test_the_difference_of_two_outputs_is_told_node_by_node(height):
    rng = np.random.default_rng(height)
    decisions, leaves = tree_of(rng.standard_normal(2 * ROWS * (2**height - 1) + 2**height), height)
    first, second = decisions[:ROWS], decisions[ROWS:]
    told = (soft_tree.reach(first)[:, : 2**height - 1] * (first - second) * soft_tree.worth(second, leaves)).sum(axis=1)
    np.testing.assert_allclose(soft_tree.output(first, leaves) - soft_tree.output(second, leaves), told, atol=1e-12)


@pytest.mark.parametrize("height", range(1, 6))
def test_no_tree_breaks_the_parity_bounds(height):
    def ratios(parameters):
        decisions, leaves = tree_of(parameters, height)
        gap, distances = (gaps.parity_gap(soft_tree.output(decisions, leaves), GROUPS),
                          gaps.pair_distances(decisions, GROUPS))
        reached = gaps.reached_pair_distances(decisions, soft_tree.reach(decisions), GROUPS)
        tightened, printed = bounds.parity_tightened(distances), bounds.parity_printed(height, distances.max())
        assert tightened <= printed + ROUNDING and gap <= bounds.parity_by_reach(reached) + ROUNDING
        return gap / max(tightened, 1e-9)

    found = largest(lambda many: [ratios(each) for each in many], 2 * ROWS * (2**height - 1) + 2**height, seed=height,
                    rounds=30, population=40)
    assert 0.5 / height < found <= 1 + ROUNDING  # two rows a group cannot turn at h depths
    if height == 1:
        assert found > 0.999


@pytest.mark.parametrize("height", range(1, 6))
def test_lemma_1_s_factor_is_between_h_and_2h(height):
    """With more rows than above, since it is in many rows that turns can be rare."""
    case = counterexamples.parity_of_one_turn_each(height)
    assert case.measured == pytest.approx(1.0)
    assert case.measured <= case.corrected + ROUNDING and case.corrected <= case.printed + ROUNDING
    rng, nodes = np.random.default_rng(height), 2**height - 1
    for _ in range(300):
        groups, common = np.repeat([0, 1], 8), rng.random(nodes).round()
        turns = rng.random((16, nodes)) < rng.choice([0.05, 0.2])
        decisions = np.where(turns, 1 - common, common)  # most do the same, some turn: ε is small and turns go together
        leaves = rng.integers(0, 2, 2**height).astype(float)
        gap = gaps.parity_gap(soft_tree.output(decisions, leaves), groups)
        distances = gaps.pair_distances(decisions, groups)
        assert gap <= bounds.parity_tightened(distances, leaf_range=1.0) + ROUNDING


def test_lemma_1_is_attained_by_one_node():
    assert counterexamples.parity_at_height_one() == pytest.approx([0.92423] * 3, abs=1e-5)


def test_equal_means_at_every_node_do_not_bound_parity():
    case = counterexamples.parity_with_equal_means()
    assert case.measured > 0.9999999 and case.printed < 1e-15 and case.measured <= case.corrected
