"""A picture of the trees of a forest: what each node looks at, coloured by its gap."""

from typing import Any

import numpy as np
import pandas as pd

from aranyani_tf.command.drawing import new_figure

DEEPEST = 4  # levels of a tree that there is room for


def draw_trees(nodes: pd.DataFrame, height: int, leaves: np.ndarray, label: str) -> Any:
    """A figure with the trees one below the other.

    Args:
        nodes: what `splits` gives, with the feature of the largest weight in front.
        height: of the trees; below the first four levels nothing is drawn.
        leaves: (tree, leaf), the probability that each leaf gives to the label.
        label: its name.
    """
    import matplotlib  # `new_figure` tells if it is not there

    shown, trees = min(height, DEEPEST), nodes["tree"].unique()
    figure = new_figure(figsize=(2 + 1.25 * 2**shown, len(trees) * (1.3 + 0.85 * shown)))
    largest = max(float(nodes["gap"].max()), 1e-6) if "gap" in nodes else 1.0
    colors = matplotlib.colormaps["YlOrRd"]
    for tree, axes in zip(trees, np.atleast_1d(figure.subplots(len(trees), 1)), strict=True):
        for _, node in nodes[(nodes["tree"] == tree) & (nodes["depth"] < shown)].iterrows():
            x, y = place(node["node"])
            for child in (2 * node["node"] + 1, 2 * node["node"] + 2):
                axes.plot([x, place(child)[0]], [y, place(child)[1]], color="gray", linewidth=0.7, zorder=1)
            gap = node.get("gap", 0.0)
            text = node["left if"].replace(", ", "\n") + (f"\ngap {gap:.3f}" if "gap" in nodes else "")
            axes.text(x, y, text, ha="center", va="center", fontsize=6, zorder=2, bbox={
                "boxstyle": "round", "facecolor": colors(0.7 * gap / largest), "edgecolor": "gray"})
        if shown == height:
            for leaf, probability in enumerate(leaves[tree]):
                x, y = place(2**height - 1 + leaf)
                axes.text(x, y, f"{probability:.2f}", ha="center", va="center", fontsize=6, zorder=2, bbox={
                    "boxstyle": "round", "facecolor": "white", "edgecolor": "tab:blue"})
        axes.set_title(f"tree {tree}: left if the sum is large; leaves: probability of {label}", fontsize=8)
        axes.set_axis_off()
    return figure


def place(node: int) -> tuple[float, float]:
    """Where a node, or a leaf as the heap goes on, is drawn, between 0 and 1 from left to right."""
    depth = (int(node) + 1).bit_length() - 1
    return (node + 1 - 2**depth + 0.5) / 2**depth, -depth
