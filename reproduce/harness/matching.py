"""Methods at the same fairness: what accuracy each has where its gap is as small as asked for.

A method is a set of settings of λ. Whoever may use one of them may also toss a coin for every row and use one or the
other, or a constant answer, which has no gap: every mix of its points can be had, so that a method *is* the upper
convex hull of its points and of the constant answer. One more setting can only raise it.

Which mix has a gap of 0.05 is found on half of the seeds, and judged on the others: the best of many noisy settings
looks better on the seeds that it was chosen by.
"""

import quiet  # noqa: F401

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd

from aranyani_tf.errors import ArgumentError
from harness.settings import CURVE

GAP, ACCURACY = "demographic_parity", "accuracy"
# Of a mix each is the mean of its parts', or at most that where a gap changes its sign from part to part.
MIXED = (ACCURACY, GAP, "late_accuracy", "late_demographic_parity", "window_demographic_parity", "equal_opportunity")


class Mix(NamedTuple):
    """Shares of a method's settings, in their order, and of the constant answer."""

    shares: np.ndarray
    constant: float


def hull(points: np.ndarray) -> np.ndarray:
    """The indices of the points on the upper convex hull up to the most accurate, by their gaps: (gap, accuracy) each.

    >>> hull(np.array([[0.0, 0.76], [0.05, 0.77], [0.1, 0.82], [0.2, 0.84], [0.3, 0.83]])).tolist()
    [0, 2, 3]
    """
    corners: list[int] = []
    pairs = points.tolist()  # plain numbers: a few points thousands of times
    for index in sorted(range(len(pairs)), key=lambda i: (pairs[i][0], -pairs[i][1])):
        if corners and pairs[index][1] <= pairs[corners[-1]][1]:
            continue  # less fair, and not better
        while len(corners) > 1 and lies_below(pairs[corners[-1]], pairs[corners[-2]], pairs[index]):
            corners.pop()
        corners.append(index)
    return np.array(corners)


def lies_below(point: list[float], first: list[float], last: list[float]) -> bool:
    """Whether a point lies on or below the line from the first to the last."""
    x, y, to_x, to_y = point[0] - first[0], point[1] - first[1], last[0] - first[0], last[1] - first[1]
    return x * to_y - y * to_x >= 0


def mix_at(points: np.ndarray, gap: float, constant: float) -> Mix:
    """The most accurate mix of points, (gap, accuracy) each, and a constant answer, whose gap is at most `gap`.

    >>> mix_at(np.array([[0.1, 0.8]]), 0.05, constant=0.7)
    Mix(shares=array([0.5]), constant=0.5)
    """
    everything = np.vstack([points, [0.0, constant]])
    corners = hull(everything)
    gaps, shares = everything[corners, 0], np.zeros(len(everything))
    after = int(np.searchsorted(gaps, gap))
    if after == len(corners):  # the best there is has a smaller gap
        shares[corners[-1]] = 1
    else:
        before = max(after - 1, 0)
        share = 1.0 if after == before else (gap - gaps[before]) / (gaps[after] - gaps[before])
        shares[corners[after]] += share
        shares[corners[before]] += 1 - share
    return Mix(shares[:-1], float(shares[-1]))


def constant_answer(records: pd.DataFrame) -> pd.Series:
    """What the more frequent label for every row has: Majority with p = 0, at the end of the stream."""
    found = records[(records["method"] == "majority") & (records["probability"] == 0)]
    if found.empty:
        raise ArgumentError("the records have no Majority, so that the constant answer is not known")
    return found[list(MIXED)].mean()


def at_gap(runs: pd.DataFrame, gap: float, constant: pd.Series, by: str = GAP) -> pd.DataFrame:
    """What a method has at a gap, a row for each seed, whose mix was chosen on the other half of the seeds.

    Args:
        runs: of one setting, with several λ and seeds, at the end of the stream.
        gap: the largest that is allowed.
        constant: of `constant_answer`.
        by: which gap.

    Returns:
        The columns `MIXED`, `constant` (the share of rows that got the constant answer) and `elsewhere` (whether other
        seeds chose the mix; a single seed has no others).
    """
    return at_gaps(runs, (gap,), constant, by)[gap]


def at_gaps(runs: pd.DataFrame, gaps: Iterable[float], constant: pd.Series, by: str = GAP) -> dict[float, pd.DataFrame]:
    """`at_gap` for several of them: the means over seeds, which take most of the time, are the same for all."""
    mixed = varied(runs)
    if mixed:
        raise ArgumentError(f"runs that differ in {', '.join(mixed)} do not belong to one curve; choose one setting")
    runs = runs[list(dict.fromkeys(["seed", "fairness_weight", by, *MIXED]))]  # to cut all columns takes long
    of_seeds = runs.groupby(["fairness_weight", "seed"])[list(MIXED)].mean().unstack("seed")
    seeds, halves = np.sort(runs["seed"].unique()), []
    for own in (seeds[::2], seeds[1::2]):
        others = np.setdiff1d(seeds, own)
        chosen_on = others if len(others) else own
        means = runs[runs["seed"].isin(chosen_on)].groupby("fairness_weight")[[by, ACCURACY]].mean()
        here = of_seeds.reindex(means.index).to_numpy().reshape(len(means), len(MIXED), len(seeds))
        halves.append((own, len(others) > 0, means.to_numpy(), here.transpose(2, 1, 0)))  # (seed, column, λ)
    found = {}
    for gap in gaps:
        rows = {}
        for own, elsewhere, points, here in halves:
            mix = mix_at(points, gap, constant[ACCURACY])
            used = mix.shares > 0
            for seed in own:
                values = here[np.searchsorted(seeds, seed)][:, used] @ mix.shares[used]
                values = values + mix.constant * constant.to_numpy()
                rows[int(seed)] = dict(zip(MIXED, values, strict=True)) | {
                    "constant": mix.constant, "elsewhere": elsewhere}
        found[gap] = pd.DataFrame.from_dict(rows, orient="index").rename_axis("seed").sort_index()
    return found


def area(points: np.ndarray, until: float, constant: float) -> float:
    """The mean over gaps from 0 to `until` of the accuracy that the points' mixes have there: a hypervolume.

    >>> round(area(np.array([[0.1, 0.8]]), 0.1, constant=0.7), 6)
    0.75
    """
    everything = np.vstack([points, [0.0, constant]])
    corners = everything[hull(everything)]
    gaps = np.unique(np.concatenate([corners[:, 0].clip(max=until), [until]]))
    return float(np.trapezoid(np.interp(gaps, *corners.T), gaps) / until)


def varied(runs: pd.DataFrame) -> list[str]:
    """The settings, but for λ, that have more than one value."""
    return [name for name in CURVE if name in runs and runs[name].nunique(dropna=False) > 1]
