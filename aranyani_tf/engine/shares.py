"""How much of the output's gap the gap at each node or leaf makes.

p = 1/T Σ_l reach_l·q_l, so that the gap of p is Σ_j share_j·F_j over the leaves' gaps F, with share_l = q_l/T. Of the
nodes the same is true to first order: share_j = 1/T·reach_j·(v_left − v_right), where reach_j is the probability of
coming to the node and v what p is expected to be below it, both by the mean decisions.
"""

import numpy as np

from aranyani_tf.engine.compiler import compiled
from aranyani_tf.engine.layout import by_levels, leaf_order
from aranyani_tf.engine.passes import ascend, at, descend


class Order:
    """Places of one kind, nodes or leaves: which of (tree, place) order comes where in level order."""

    def __init__(self, order: np.ndarray, num_trees: int) -> None:
        self.order, self.num_trees = order, num_trees

    def by_level(self, per_tree: np.ndarray) -> np.ndarray:
        """(…, tree, place) → (…, place by level)."""
        return per_tree.reshape(*per_tree.shape[:-2], -1)[..., self.order]

    def by_tree(self, by_level: np.ndarray) -> np.ndarray:
        """(…, place by level, idle ones behind them) → (…, tree, place)."""
        result = np.empty((*by_level.shape[:-1], len(self.order)), by_level.dtype)
        result[..., self.order] = by_level[..., : len(self.order)]
        return result.reshape(*by_level.shape[:-1], self.num_trees, -1)


class OutputShares:
    """The shares of a forest's nodes, or of its leaves."""

    def __init__(self, num_trees: int, height: int, *, by_leaf: bool) -> None:
        self.num_trees, self.height, self.by_leaf = num_trees, height, by_leaf
        self.nodes = Order(by_levels(num_trees, height), num_trees)
        self.leaves = Order(leaf_order(num_trees, height), num_trees)

    def by_tree(self, means: np.ndarray, logits: np.ndarray) -> np.ndarray:
        """As `by_level`, of means (tree, place) and logits (tree, leaf, label)."""
        order = self.leaves if self.by_leaf else self.nodes
        return self.by_level(order.by_level(means), self.leaves.by_level(logits.transpose(2, 0, 1)))

    def by_level(self, means: np.ndarray, logits: np.ndarray) -> np.ndarray:
        """(place in (tree, place) order, label) of means (place by level) and logits (label, leaf by level).

        For two labels there is the second alone: what the one gains the other loses.
        """
        powers = np.exp(logits - logits.max(axis=0), dtype="float64")
        leaf_shares = powers / (self.num_trees * powers.sum(axis=0))
        if len(logits) == 2:
            leaf_shares = leaf_shares[1:]
        if self.by_leaf:
            return self.leaves.by_tree(leaf_shares).reshape(len(leaf_shares), -1).T
        used, places = len(self.nodes.order), len(self.nodes.order) + len(self.leaves.order)
        decisions = np.empty((1, used))
        decisions[0] = means[:used]
        result = np.empty((1, len(leaf_shares), used))
        go_up(self.num_trees, self.height, decisions, np.ones((1, used)), np.empty((1, places)), np.empty(places),
              np.ascontiguousarray(leaf_shares), result)
        return self.nodes.by_tree(result[0]).reshape(len(leaf_shares), -1).T


@compiled(_nrt=False)
def go_up(num_trees: int, height: int, decisions: np.ndarray, slopes: np.ndarray, reach: np.ndarray, worth: np.ndarray,
          leaf_shares: np.ndarray, result: np.ndarray) -> None:
    """∂p/∂n of every node, label by label: the way back of `passes`, with slopes of 1."""
    descend(0, num_trees, height, decisions, reach)
    first = at((num_trees << height) - num_trees)
    for label in range(leaf_shares.shape[0]):
        for leaf in range(leaf_shares.shape[1]):
            worth[first + at(leaf)] = leaf_shares[label, leaf]
        ascend(0, label, num_trees, height, decisions, slopes, reach, worth, result)
