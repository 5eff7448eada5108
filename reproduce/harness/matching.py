"""Methods at the same fairness: what accuracy each has where its gap is as small as asked for."""

import quiet  # noqa: F401

import numpy as np
import pandas as pd

from aranyani_tf.errors import ArgumentError
from harness.plots import pareto_front
from harness.settings import CURVE


def accuracy_at(points: np.ndarray, gap: float) -> float:
    """The best accuracy at a gap, on the line through the Pareto front of one seed's runs, (gap, accuracy) each.

    A method whose runs all have smaller gaps has its best accuracy there too; one whose gaps are all
    larger has none.
    """
    front = pareto_front(points)
    if gap < front[0, 0]:
        return np.nan
    return float(np.interp(gap, front[:, 0], front[:, 1]))


def at_gap(runs: pd.DataFrame, gap: float) -> pd.Series:
    """Accuracy at a gap, for every seed that gets there; the runs are of one setting, with several λ and seeds."""
    mixed = varied(runs)
    if mixed:
        raise ArgumentError(f"runs that differ in {', '.join(mixed)} do not belong to one curve; choose one setting")
    found = [accuracy_at(seed[["demographic_parity", "accuracy"]].to_numpy(), gap) for _, seed in runs.groupby("seed")]
    return pd.Series(found, dtype=float).dropna()


def varied(runs: pd.DataFrame) -> list[str]:
    """The settings, but for λ, that have more than one value."""
    return [name for name in CURVE if name in runs and runs[name].nunique(dropna=False) > 1]
