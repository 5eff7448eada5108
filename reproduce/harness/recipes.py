"""Recipes for `ar.recommended`: how large a forest, how fast, constrained where; and which one a dataset gets.

`make recipes` judges them; `without` is what the field uses, a recipe that was chosen on other datasets.
"""

import quiet  # noqa: F401

import itertools
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import keras
import pandas as pd

import aranyani_tf as ar
from aranyani_tf.errors import ArgumentError
from aranyani_tf.model import recommended as shipped
from harness import RESULTS

SIZES = ((3, 4), (8, 4), (8, 3), (16, 3))  # trees, height
RATES = (2e-3, 5e-3, 1e-2)
ALL = "all"  # in the place of a dataset: chosen on all of them


class Recipe(NamedTuple):
    """A forest, and how it learns.

    >>> Recipe.named(Recipe(8, 4, 5e-3).name)
    Recipe(num_trees=8, height=4, learning_rate=0.005, level='output')
    """

    num_trees: int
    height: int
    learning_rate: float
    level: str = "output"

    @property
    def name(self) -> str:
        return f"{self.num_trees}x{self.height} at {self.learning_rate:g}, {self.level}"

    @classmethod
    def named(cls, name: str) -> "Recipe":
        found = re.fullmatch(r"(\d+)x(\d+) at (\S+), (\w+)", name)
        if found is None:
            raise ArgumentError(f"{name!r} is not the name of a recipe, such as {SHIPPED[False].name!r}")
        return cls(int(found[1]), int(found[2]), float(found[3]), found[4])

    def learner(self, stream: ar.Stream, target: float, *, notion: str, group_decides: bool, seed: int) -> Any:
        """What `ar.recommended` would give if this were its recipe."""
        model = ar.Aranyani(stream.num_labels, self.num_trees, self.height, notion=notion, constraint=self.level,
                            fairness_weight=0.0 if group_decides else ar.ParityTarget(target), seed=seed,
                            num_groups=stream.num_groups)
        model.compile(optimizer=keras.optimizers.Adam(self.learning_rate))
        return ar.GroupThresholds(model, target=target, notion=notion,
                                  num_groups=stream.num_groups) if group_decides else model


SHIPPED = {decides: Recipe(shipped.NUM_TREES, shipped.HEIGHT, rate) for decides, rate in shipped.LEARNING_RATES.items()}


def recipes(group_decides: bool) -> list[Recipe]:
    """Those that are judged. Where the group decides, λ is 0 and the level has no effect."""
    found = [Recipe(*size, rate) for size, rate in itertools.product(SIZES, RATES)]
    return found if group_decides else [*found, *(Recipe(*size, 5e-3, "node") for size in SIZES[:2])]


def without(dataset: str | None, group_decides: bool, results: Path = RESULTS) -> Recipe:
    """The recipe that was chosen without this dataset; of one that had no part in `make recipes`, the shipped one."""
    return chosen(results / "recipes.csv").get((dataset, group_decides), SHIPPED[group_decides])


def told_without(datasets: list[str], results: Path = RESULTS) -> str | None:
    """What is to be said where no recipe was chosen without some datasets: the shipped one has seen them."""
    known = chosen(results / "recipes.csv")
    unknown = [name for name in dict.fromkeys(datasets) if (name, False) not in known]
    return (f"recommended on {', '.join(unknown)}: the shipped recipe, since `make recipes` has chosen none without "
            "these; it was chosen on rows that are judged here") if unknown else None


@cache
def chosen(path: Path) -> dict[tuple[str | None, bool], Recipe]:
    if not path.is_file():
        return {}
    found = pd.read_csv(path)
    own = found[found["chosen"] & (found["dataset"] != ALL)]
    return {(row.dataset, bool(row.group_decides)): Recipe.named(row.recipe) for row in own.itertuples()}
