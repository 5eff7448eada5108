"""The committed results as the claims ask for them: runs of one setting, seed by seed."""

from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from harness.experiments import with_all_settings
from harness.intervals import Interval
from harness.matching import ACCURACY, GAP, area, constant_answer, hull
from harness.plots import last_records, select

TREES = ("ht", "aht", "faht")


class Results:
    """A folder of results. Every CSV is read once."""

    def __init__(self, folder: Path):
        self.folder, self.known, self.at_end, self.clouds = Path(folder), {}, {}, {}

    def __getitem__(self, name: str) -> pd.DataFrame:
        """A table by its name, such as "figure2"; a figure's has all settings as columns."""
        if name not in self.known:
            frame = pd.read_csv(self.folder / f"{name}.csv", low_memory=False)
            self.known[name] = with_all_settings(frame) if "fairness_weight" in frame else frame
        return self.known[name]

    def ends(self, name: str, **where) -> pd.DataFrame:
        """The records at the end of each run; unless asked for, no forgetting and the file's order."""
        if name not in self.at_end:
            self.at_end[name] = last_records(self[name])
        plain = {"decay": None, "order": "file", "drop_group": False, "forget": "rows"} | where
        return select(self.at_end[name], **{key: value for key, value in plain.items() if value != "any"})

    def cloud(self, name: str, method: str, **where) -> "Cloud":
        """A method's runs; the trees', which draw nothing at random, are of several orders of the rows."""
        asked = (name, method, *sorted(where.items()))
        if asked in self.clouds:  # Aranyani's is compared with many others'
            return self.clouds[asked]
        rule = "none" if method in (*TREES, "fermi_forest", "fermi_linear") else "released"
        order = {"order": "shuffled"} if method in TREES else {}
        runs = self.ends(name, **({"method": method, "rule": rule} | order | where))
        if runs.empty:
            raise ValueError(f"{name}.csv has no runs of {method} with {where}")
        self.clouds[asked] = Cloud(runs)
        return self.clouds[asked]

    def constant(self, name: str, dataset: str) -> float:
        """The accuracy of the more frequent label."""
        everything = {"decay": "any", "order": "any", "drop_group": "any", "forget": "any"}
        return constant_answer(self.ends(name, dataset=dataset, **everything))[ACCURACY]


class Cloud:
    """Runs of one setting: gap and accuracy of every λ and seed.

    Args:
        runs: at the end of the stream.
        gap, accuracy: which columns.
    """

    def __init__(self, runs: pd.DataFrame, gap: str = GAP, accuracy: str = ACCURACY):
        self.gaps = runs.pivot_table(index="fairness_weight", columns="seed", values=gap)
        self.accuracies = runs.pivot_table(index="fairness_weight", columns="seed", values=accuracy)
        self.areas: dict[tuple, float] = {}

    @property
    def seeds(self) -> list[int]:
        return list(self.gaps.columns)

    @cached_property
    def weights(self) -> np.ndarray:
        return self.gaps.index.to_numpy()

    @cached_property
    def runs(self) -> tuple[np.ndarray, dict[int, int]]:
        """(λ, seed, 2), and where each seed is in it."""
        return (np.stack([self.gaps, self.accuracies], axis=-1),
                {seed: position for position, seed in enumerate(self.seeds)})

    def points(self, seeds: list[int]) -> np.ndarray:
        """Mean gap and accuracy of every λ over some seeds, one of which may be there twice: (λ, 2)."""
        runs, position = self.runs
        return runs[:, [position[seed] for seed in seeds]].mean(axis=1)

    def area(self, seeds: list[int], until: float, constant: float) -> float:
        asked = (*seeds, until, constant)
        if asked not in self.areas:  # the draws of seeds are the same for all who are compared
            self.areas[asked] = area(self.points(seeds), until, constant)
        return self.areas[asked]

    def smallest_gap(self, seeds: list[int]) -> float:
        """Of the fairest λ by the means."""
        return self.points(seeds)[:, 0].min()

    def unfair(self, seeds: list[int]) -> np.ndarray:
        """Gap and accuracy of λ = 0."""
        return self.points(seeds)[list(self.weights).index(0.0)]

    def over_majority(self, constant: float, unfair: "Cloud | None" = None) -> pd.DataFrame:
        """Accuracy less Majority's at the same gap, (λ above 0, seed).

        Majority mixes λ = 0, of this cloud or another one, with the constant answer: a line from (0, its share).
        """
        zero = unfair or self
        seeds = [seed for seed in self.seeds if seed in zero.seeds]
        gap, accuracy = zero.gaps.loc[0.0, seeds], zero.accuracies.loc[0.0, seeds]
        share = (self.gaps[seeds] / gap.clip(lower=1e-12)).clip(upper=1)
        line = constant + share * (accuracy - constant)
        found = self.accuracies[seeds] - line
        return found if unfair is not None else found.drop(index=0.0)


def area_difference(first: Cloud, second: Cloud, until: float, constant: float) -> Interval:
    """Mean accuracy over gaps up to `until`, first − second; the mixes are chosen anew in every draw of seeds."""
    common = [seed for seed in first.seeds if seed in second.seeds]
    return Interval.of_statistic(common, lambda seeds: first.area(seeds, until, constant)
                                 - second.area(seeds, until, constant))


def curve_at(cloud: Cloud, gaps: np.ndarray, seeds: list[int], constant: float) -> np.ndarray:
    """The accuracy of a method's mixes at some gaps."""
    everything = np.vstack([cloud.points(seeds), [0.0, constant]])
    corners = everything[hull(everything)]
    return np.interp(gaps, *corners.T)


def rank_correlation_of(first, second) -> float:
    """Spearman's; NaN if one of both is the same everywhere."""
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return np.nan
    return float(np.corrcoef(rankdata(first), rankdata(second))[0, 1])


def rising(values: pd.DataFrame) -> Interval:
    """Whether means rise with a setting: the rank correlation with an interval over seeds."""
    settings, of_seed = values.index.to_numpy(), {seed: values[seed].to_numpy() for seed in values}
    # Spearman's, between the setting and the means over some seeds; plain arrays, for hundreds of draws.
    return Interval.of_statistic(values.columns, lambda seeds: rank_correlation_of(
        settings, np.mean([of_seed[seed] for seed in seeds], axis=0)))


def by_setting(runs: pd.DataFrame, setting: str, column: str) -> pd.DataFrame:
    """(setting, seed), for `rising`."""
    return runs.pivot_table(index=setting, columns="seed", values=column)
