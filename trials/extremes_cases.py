"""Streams and settings at the edge of what can be, and what is sensible in each."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import aranyani_tf as ar
from aranyani_tf.variables import put

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]
SLACK = 0.03  # of accuracy, below the constant answer: what is lost until that answer is learned
SMALL = {"num_trees": 3, "height": 3, "seed": 0}


@dataclass
class Run:
    """What was seen when a model learned an extreme stream."""

    said: np.ndarray  # (row, label)
    rows: Rows
    model: Any
    before: list[np.ndarray] = field(default_factory=list)  # the state that it began with

    @property
    def accuracy(self) -> float:
        return float((self.said.argmax(axis=1) == self.rows[1]).mean())

    @property
    def late_accuracy(self) -> float:
        half = len(self.said) // 2
        return float((self.said[half:].argmax(axis=1) == self.rows[1][half:]).mean())

    @property
    def constant(self) -> float:
        """The accuracy of the best answer that is always the same."""
        return float(np.bincount(self.rows[1]).max() / len(self.rows[1]))

    @property
    def gap(self) -> float:
        return self.model.so_far()["demographic_parity"]


@dataclass(frozen=True)
class Extreme:
    """One of them.

    Args:
        meaning: what is sensible here, in words.
        rows: how many → features, labels and groups.
        count: how many, at full length.
        few: how many in the tests.
        sensible: given a run, whether it is.
        settings: of the model.
        before: changes the model before it learns.
        refused: whether the rows have to be refused, and the model left as it was.
        may_diverge: whether the model may say that it diverged, and be left as it was.
    """

    meaning: str
    rows: Callable[[int], Rows]
    count: int
    sensible: Callable[[Run], bool] = lambda run: True
    settings: dict[str, Any] = field(default_factory=dict)
    few: int = 300
    before: Callable[[Any], None] = lambda model: None
    refused: bool = False
    may_diverge: bool = False


def people(count: int, *, num_groups: int = 2, num_features: int = 6, seed: int = 0) -> Rows:
    """Rows that can be learned from; label 1 is in 40 %, and more often in group 0."""
    random = np.random.default_rng(seed)
    groups = random.integers(0, num_groups, count)
    features = random.normal(size=(count, num_features)).astype("float32")
    score = features[:, 0] + features[:, 1] + 0.6 * (groups == 0) + 0.5 * random.normal(size=count)
    return features, (score > 0.6).astype(int), groups


def scaled(size: float) -> Callable[[int], Rows]:
    def rows(count: int) -> Rows:
        x, y, a = people(count)
        with np.errstate(over="ignore"):
            return (x.astype("float64") * size).clip(-1e38, 1e38).astype("float32"), y, a
    return rows


def largest(count: int) -> Rows:
    x, y, a = people(count)
    return np.where(x > 0, np.float32(9e17), np.float32(-9e17)), y, a


def constant(count: int) -> Rows:
    x, y, a = people(count)
    return np.full_like(x, 3.0), y, a


def equal(count: int) -> Rows:
    x, _, _ = people(1)
    return np.repeat(x, count, axis=0), np.ones(count, int), np.zeros(count, int)


def telling(count: int) -> Rows:
    """Features that depend on the group: without λ decisions do, too."""
    x, y, a = people(count)
    x[:, 0] += 0.8 * (a == 0)
    return x, y, a


def one_group_then_the_other(count: int) -> Rows:
    x, y, _ = people(count)
    return x, y, (np.arange(count) >= count // 2).astype(int)


def many_groups(count: int) -> Rows:
    return people(count, num_groups=50)


def old_cells(count: float) -> Callable[[Any], None]:
    """A model whose cells have seen so many rows each, of mean decision ½ and no gradient."""
    def age(model: Any) -> None:
        put(model.statistics.cell_count, np.full(2, count))
        put(model.statistics.means[0], np.full(model.statistics.means[0].shape, 0.5, "float32"))
    return age


def learns(run: Run) -> bool:
    return run.accuracy >= run.constant - SLACK and np.isfinite(run.gap)


def same_for_everybody(run: Run) -> bool:
    said = run.model.predict(run.rows[0][:500], verbose=0)
    return learns(run) and float(np.ptp(said, axis=0).max()) < 1e-6


def smaller_gap(run: Run) -> bool:
    without = ar.Aranyani(**SMALL, fairness_weight=0.0)
    without.predict_then_learn(*run.rows)
    return run.gap < without.so_far()["demographic_parity"]


def means_stay(run: Run) -> bool:
    """Each cell counts on, row by row; a row's share of its mean is less than the last digit that float32 has."""
    counts, means = np.asarray(run.model.statistics.cell_count), np.asarray(run.model.statistics.means[0])
    return counts.sum() == 2e8 + len(run.said) and bool((means == 0.5).all()) and learns(run)


def means_follow(run: Run) -> bool:
    """With decay the count falls to 1/decay, and the mean is that of the last rows, as of a model without a past."""
    young = ar.Aranyani(**SMALL, decay=0.01, fairness_weight=0.0)
    young.predict_then_learn(*run.rows)
    counts = np.asarray(run.model.statistics.cell_count)
    apart = np.abs(np.asarray(run.model.statistics.means[0]) - np.asarray(young.statistics.means[0]))
    return bool((counts <= 1 / 0.01 + 1).all() and apart.max() < 0.01) and learns(run)


EXTREMES: dict[str, Extreme] = {
    "features of 1e30": Extreme("refused, with the row and the feature; the model stays as it was", scaled(1e30), 300,
                                refused=True),
    "features of 9e17": Extreme("the largest that are taken: learned, or told to diverge and left as it was", largest,
                                20_000, may_diverge=True),
    "features of 1e-30": Extreme("as good as none: the constant answer", scaled(1e-30), 20_000, learns),
    "constant features": Extreme("the constant answer, the same for everybody", constant, 20_000,
                                 same_for_everybody),
    "equal rows": Extreme("the row's label, with a probability above 0.99; the cell has counted every row", equal,
                          1_000_000, lambda run: bool(run.said[-1, 1] > (0.99 if len(run.said) > 10_000 else 0.5)) and (
                              np.asarray(run.model.statistics.cell_count)[0] == len(run.said)), few=2000),
    "height 10": Extreme("learned", people, 20_000, learns, {"height": 10, "num_trees": 1}, few=100),
    "λ = 10⁶": Extreme("finite, and a smaller gap than with λ = 0, though features tell the group", telling, 20_000,
                       smaller_gap, {"fairness_weight": 1e6}, few=3000),
    "λ = 10⁶, slope 1": Extreme("finite, and a smaller gap than with λ = 0, though features tell the group", telling,
                                20_000, smaller_gap, {"fairness_weight": 1e6, "penalty": ar.Huber(linear_slope=1.0)},
                                few=3000),
    "100 trees": Extreme("learned", people, 20_000, learns, {"num_trees": 100}),
    "50 groups": Extreme("learned, and the largest gap measured", many_groups, 50_000, learns, {"num_groups": 50},
                         few=3000),
    "labels never seen": Extreme("learned; labels that never came have less than 1 % in the end", people, 20_000,
                                 lambda run: learns(run) and float(run.said[-1, 2:].sum()) < (
                                     0.01 if len(run.said) > 10_000 else 0.6), {"num_labels": 5}),
    "one group, then the other": Extreme("learned; the gap is measured once both were seen", one_group_then_the_other,
                                         200_000, learns, few=600),
    "10⁸ rows in each cell": Extreme("counts go on exactly; means stay: a row's share is below float32's last digit",
                                     people, 20_000, means_stay, before=old_cells(1e8)),
    "10⁸ rows in each cell, decay": Extreme("the past is forgotten: counts fall to 1/decay, means are those of a model "
                                            "without it", people, 20_000, means_follow, {
                                                "decay": 0.01, "fairness_weight": 0.0}, 6000, old_cells(1e8))}
