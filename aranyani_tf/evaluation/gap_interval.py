"""An interval for the gap between groups that may be looked at after every row.

The usual interval of a rate is right for one look at a number of rows that was chosen before. Who looks after every
row, and acts when it first looks bad, is misled far more often than it says. Here somebody bets against each rate p
that is claimed to be the truth. A gambler of boldness λ multiplies their money by

    exp(λ·x) / (1 − p + p·exp(λ))

with every row, where x is 1 or 0. If p is the truth this is fair: the expected factor is 1. Money that starts at 1,
spread over gamblers of many boldnesses, therefore exceeds 1/level *at any time* with a probability of at most `level`
(Ville's inequality), and the rates against which less was won make up the interval. After n rows with s ones a
gambler has exp(λ·s) / (1 − p + p·exp(λ))ⁿ: two counts are all that has to be kept, and counts add up.

The truth may drift. Let pᵢ be the probability that row i is a one, given all that came before, whatever it depends
on: a fair game multiplies by exp(λ·xᵢ) / (1 − pᵢ + pᵢ·exp(λ)). The logarithm of what one divides by is concave in pᵢ,
so dividing n times by its value at the mean p̄ = Σ pᵢ / n leaves no more money than the fair game does. Hence the
interval covers p̄, the mean of the probabilities so far, at every n, for a model that learns in a world that changes.
For this the λ must not depend on p, as those of a Beta prior do.
"""

import numpy as np

from aranyani_tf.evaluation.metrics import compared

# Boldnesses that suit a few rows (4) to some hundred million (2⁻¹²), for rates above and below the claimed one.
BOLDNESS = 2.0 ** np.arange(-12, 2.25, 0.5)
BOLDNESS = np.concatenate([BOLDNESS, -BOLDNESS])
HALVINGS = 24  # of the range in which an end of the interval lies: six digits


def log_money(ones: np.ndarray, rows: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Logarithm of what was won on average over gamblers who bet against a rate; any shapes that go together."""
    ones, rows, rate = (np.asarray(each, "float64")[..., None] for each in (ones, rows, rate))
    each = ones * BOLDNESS - rows * np.log1p(rate * np.expm1(BOLDNESS))
    most = each.max(axis=-1)
    return most + np.log(np.exp(each - most[..., None]).mean(axis=-1))


def rate_bounds(ones: np.ndarray, rows: np.ndarray, level: float) -> np.ndarray:
    """Both ends of the interval of each rate, (2, …); 0 and 1 where nothing was seen.

    The money is a convex function of the rate and at most 1 at the share of ones, so each end lies between there and
    the end of the scale. The outer of the last two guesses is given.

    >>> rate_bounds(np.array(30), np.array(100), level=0.05).round(3)
    array([0.158, 0.472])
    """
    ones, rows = np.asarray(ones, "float64"), np.asarray(rows, "float64")
    share = np.divide(ones, rows, out=np.full(ones.shape, 0.5), where=rows > 0)
    inside, outside = np.stack([share, share]), np.stack([np.zeros_like(share), np.ones_like(share)])
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2
        excluded = log_money(ones, rows, middle) > -np.log(level)
        inside, outside = np.where(excluded, inside, middle), np.where(excluded, middle, outside)
    return outside


class GapInterval:
    """The interval of a notion's gap, from the table of counts (see `metrics`).

    Each rate that is compared, P(ŷ | condition, group), gets an interval of its own, and an equal part of the level, so
    that all of them hold together. The gap is then no less than what lies between two of them, and no more than what
    the two span. It covers the gap between the groups' mean probabilities so far.

    Args:
        notion: demographic_parity, equal_opportunity or equalized_odds.
        level: probability with which it is ever wrong.
    """

    def __init__(self, notion: str, num_labels: int, num_groups: int, positive_label: int, level: float) -> None:
        # Of two predictions one has the gap of the other.
        one = num_labels == 2 or notion == "equal_opportunity"
        self.predictions = [positive_label] if one else list(range(num_labels))
        shape = (num_labels + 1, num_groups + 1, num_labels)
        cells = np.eye(int(np.prod(shape))).reshape(-1, *shape)  # tables with a single row each
        table = np.asarray(compared(cells, notion, positive_label))  # (cell, condition, group, prediction)
        # What each cell adds to the ones and to the rows of each rate: (cell, condition, prediction, group).
        ones = np.moveaxis(table[..., self.predictions], -1, -2)
        rows = np.broadcast_to(table.sum(axis=-1)[:, :, None], ones.shape)
        self.shape = ones.shape[1:]
        self.ones_of, self.rows_of = (np.array(each).reshape(len(cells), -1) for each in (ones, rows))
        self.level = level / ones[0].size  # of each rate

    def bounds(self, counts: np.ndarray) -> tuple[float, float]:
        """Both ends of the gap's interval; 0 and 1 if there are no two groups to compare."""
        ones, rows = self.counted(counts)
        lower, upper = rate_bounds(ones, rows, self.level)
        low, high = largest_difference(lower, upper, rows > 0), largest_difference(upper, lower, rows > 0)
        return (0.0, 1.0) if np.isnan(low) else (max(low, 0.0), min(high, 1.0))

    def exceeds(self, counts: np.ndarray, limit: float) -> bool:
        """Whether the lower end is above the limit; where the gap itself is not, there is no need to find out."""
        ones, rows = self.counted(counts)
        shares = ones / np.maximum(rows, 1)
        return largest_difference(shares, shares, rows > 0) > limit and self.bounds(counts)[0] > limit

    def counted(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ones and rows of each rate, (condition, prediction, group)."""
        cells = counts.ravel()
        return (cells @ self.ones_of).reshape(self.shape), (cells @ self.rows_of).reshape(self.shape)


def largest_difference(ups: np.ndarray, downs: np.ndarray, seen: np.ndarray) -> float:
    """Largest ups[…, g] − downs[…, h] over two groups that were seen; NaN if there are none."""
    both = seen[..., :, None] & seen[..., None, :] & ~np.eye(seen.shape[-1], dtype=bool)
    return float((ups[..., :, None] - downs[..., None, :])[both].max()) if both.any() else np.nan
