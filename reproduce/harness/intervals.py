"""95 % intervals over seeds, paired where two methods had the same seeds: by bootstrap, or Student's t for few."""

import numpy as np
import pandas as pd
from scipy import stats

RESAMPLES, SEED = 2000, 0


class Interval:
    """A mean and where it would lie for other seeds: between `low` and `high` in 95 of 100 cases.

    >>> Interval.of([1.0, 1.0, 1.0])
    1 (1 to 1)
    """

    def __init__(self, mean: float, low: float, high: float):
        self.mean, self.low, self.high = float(mean), float(low), float(high)

    @classmethod
    def of(cls, values) -> "Interval":
        """Of the mean of one value for each seed; a single one has no interval."""
        values = np.asarray(pd.Series(values).dropna(), float)
        if len(values) < 2:
            return cls(values.mean() if len(values) else np.nan, np.nan, np.nan)
        means = values[resamples(len(values))].mean(axis=1)
        return cls(values.mean(), *np.percentile(means, [2.5, 97.5]))

    @classmethod
    def of_difference(cls, first: pd.Series, second: pd.Series) -> "Interval":
        """Of first − second, both by seed: seed by seed where they share two or more, else each by itself."""
        together = pd.concat([first, second], axis=1, keys=("first", "second")).dropna()
        if len(together) > 1:
            return cls.of(together["first"] - together["second"])
        first, second = (each.dropna().to_numpy(float) for each in (first, second))
        means = [each[resamples(len(each), draw)].mean(axis=1) for draw, each in enumerate((first, second))]
        return cls(first.mean() - second.mean(), *np.percentile(means[0] - means[1], [2.5, 97.5]))

    @classmethod
    def student(cls, values) -> "Interval":
        """Of the mean of one value for each seed, by Student's t: of five values a bootstrap's is a third too narrow.

        >>> Interval.student([1.0, 2.0, 3.0])
        2 (-0.4841 to 4.484)
        """
        values = np.asarray(pd.Series(values).dropna(), float)
        if len(values) < 2:
            return cls(values.mean() if len(values) else np.nan, np.nan, np.nan)
        around = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
        return cls(values.mean(), values.mean() - around, values.mean() + around)

    @classmethod
    def student_difference(cls, first: pd.Series, second: pd.Series) -> "Interval":
        """Of first − second, both by seed, over the seeds that they share."""
        return cls.student(first - second)

    @classmethod
    def of_statistic(cls, seeds, statistic) -> "Interval":
        """Of a function of a list of seeds, such as the hull of their means: the choice is made anew for each draw."""
        seeds = np.asarray(list(seeds))
        drawn = [statistic(list(seeds[chosen])) for chosen in resamples(len(seeds))[:500]]
        return cls(statistic(list(seeds)), *np.nanpercentile(drawn, [2.5, 97.5]))

    @classmethod
    def of_ratios(cls, values) -> "Interval":
        """Of the geometric mean of one ratio for each seed."""
        found = cls.of(np.log(pd.Series(values)))
        return cls(*np.exp([found.mean, found.low, found.high]))

    @property
    def above_zero(self) -> bool:
        return self.low > 0

    @property
    def below_zero(self) -> bool:
        return self.high < 0

    def times(self, factor: float) -> "Interval":
        low, high = sorted((factor * self.low, factor * self.high))
        return Interval(factor * self.mean, low, high)

    def __repr__(self) -> str:
        return f"{self.mean:.4g} ({self.low:.4g} to {self.high:.4g})"


def resamples(count: int, draw: int = 0) -> np.ndarray:
    """Indices of `RESAMPLES` draws with replacement; the same for the same count, so that pairs stay pairs."""
    return np.random.default_rng(SEED + draw).integers(0, count, (RESAMPLES, count))
