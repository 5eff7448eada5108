"""What each node of a forest looks at, and how differently it treats the groups."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from aranyani_tf.errors import ArgumentError
from aranyani_tf.model.aranyani import Aranyani
from aranyani_tf.tabular.tabular_model import TabularModel

Rows = Iterator[tuple[np.ndarray, np.ndarray]]  # features (row, feature) and groups (row,)


def splits(tabular: TabularModel, top: int, rows: Rows | None = None) -> pd.DataFrame:
    """One row for each node: tree, node, depth, the features with the largest weights, and the gap between groups.

    A node sends a row left with probability n = g(w·x + b). Features are scaled alike (unless the form leaves them as
    they are), so the size of a weight tells how much its feature moves the node.

    Args:
        top: how many features are named.
        rows: to measure gaps, and how many rows reach each node; without any the gaps are those of the running means,
            which models have that impose fairness at the nodes.
    """
    forest, names = tabular.model.forest, np.array(tabular.form.encoder.feature_names, object)
    if forest is None or tabular.model.encoder is not None:
        raise ArgumentError("only a forest on the features themselves has splits that can be explained by them")
    kernel = np.asarray(forest.node_kernel)  # (tree, feature, node)
    reached, gaps = (None, remembered_gaps(tabular.model)) if rows is None else measured(tabular.model, rows)
    found = []
    for tree, node in np.ndindex(kernel.shape[0], kernel.shape[2]):
        weights = kernel[tree, :, node]
        largest = np.argsort(-np.abs(weights), kind="stable")[:top]
        found.append({"tree": tree, "node": node, "depth": (node + 1).bit_length() - 1,
                      "left if": ", ".join(f"{names[each]} {weights[each]:+.2f}" for each in largest),
                      "their share": np.abs(weights[largest]).sum() / max(np.abs(weights).sum(), 1e-30),
                      **({} if reached is None else {"reached by": reached[tree, node]}),
                      **({} if gaps is None else {"gap": gaps[tree, node]})})
    return pd.DataFrame(found)


def shares(tabular: TabularModel) -> pd.Series:
    """How much each feature counts in all nodes: its part of the sizes of a node's weights, the mean over nodes."""
    sizes = np.abs(np.asarray(tabular.model.forest.node_kernel))
    parts = sizes / np.maximum(sizes.sum(axis=1, keepdims=True), 1e-30)
    return pd.Series(parts.mean(axis=(0, 2)), tabular.form.encoder.feature_names).sort_values(ascending=False)


def remembered_gaps(model: Aranyani) -> np.ndarray | None:
    """The largest gap of each node's decisions in the running means, (tree, node); None if there are no such means."""
    means = getattr(model.statistics, "decision_mean", None)
    if means is None:
        return None
    contrasts = model.objective.contrasts  # (constraint, cell)
    seen = ((model.statistics.cell_count.numpy() > 0) | (contrasts == 0)).all(axis=1)
    gaps = np.abs(np.tensordot(contrasts, np.asarray(means), axes=1))  # (constraint, tree, node)
    return np.where(seen[:, None, None], gaps, 0).max(axis=0)


def measured(model: Aranyani, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Of these rows: the share that reaches each node, and the gap between groups of its mean decision."""
    shape = model.num_trees, 2**model.height - 1  # (tree, node)
    reached, num_rows = np.zeros(shape), 0
    sums, counts = np.zeros((model.num_groups, *shape)), np.zeros(model.num_groups)
    for features, groups in rows:
        decisions = np.asarray(model.forest.node_decisions(features), "float64")  # (row, tree, node)
        num_rows += len(decisions)
        reached += reach(decisions).sum(axis=0)
        for group in range(model.num_groups):
            sums[group] += decisions[groups == group].sum(axis=0)
            counts[group] += (groups == group).sum()
    means = sums[counts > 0] / counts[counts > 0, None, None]
    gaps = np.ptp(means, axis=0) if len(means) else np.zeros(shape)
    return reached / max(num_rows, 1), gaps


def reach(decisions: np.ndarray) -> np.ndarray:
    """The probability of coming to each node, from the nodes' decisions, (row, tree, node) both.

    >>> reach(np.array([[[0.75, 0.5, 0.5]]]))[0, 0].tolist()
    [1.0, 0.75, 0.25]
    """
    reached = np.ones_like(decisions)
    for node in range(1, decisions.shape[-1]):
        parent = (node - 1) // 2
        left = decisions[..., parent]
        reached[..., node] = reached[..., parent] * (left if node % 2 else 1 - left)
    return reached
