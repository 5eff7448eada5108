"""Norms of gradients along a stream, as figures 4 and 7 show them."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from harness import plots


def in_pieces(gradients: pd.DataFrame, columns: list[str], num_pieces: int = 50) -> pd.DataFrame:
    """Norms as means over equal pieces of the stream, seed by seed: `step` is the end of a piece.

    A record is a mean since the checkpoint before, so it counts as often as there are samples in between.
    """
    runs = gradients.sort_values(["seed", "step"])
    length = runs.groupby("seed")["step"].diff().fillna(runs["step"])
    end = np.ceil(runs["step"] * num_pieces / runs["step"].max()) * runs["step"].max() / num_pieces
    sums = runs[columns].mul(length, axis=0).assign(length=length).groupby([runs["seed"], end]).sum()
    return sums[columns].div(sums["length"], axis=0).reset_index()


def draw_norms(axes: Axes, gradients: pd.DataFrame, columns: dict[str, str]) -> Axes:
    """Norms along the stream on a logarithmic scale: median, and the tenth to ninetieth percentile of the seeds."""
    pieces = in_pieces(gradients, list(columns))
    for (column, label), color in zip(columns.items(), plots.SERIES, strict=False):
        means = pieces.groupby("step")[column]
        low, high = means.quantile(0.1), means.quantile(0.9)
        axes.plot(means.median().index, means.median(), color=color, linewidth=1.8, label=label)
        axes.fill_between(low.index, low, high, color=color, alpha=0.2, linewidth=0)
    plots.finish_stream(axes, "Norm of the gradient", yscale="log")
    axes.legend(fontsize=9)
    return axes
