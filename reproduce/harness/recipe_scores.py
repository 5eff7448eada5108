"""How good a recipe is on a dataset, and which one would have been chosen without that dataset."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from harness.field_table import STREAM, WITHIN
from harness.recipes import ALL, SHIPPED, Recipe

NOTION = "demographic_parity"
EXCESS = 10.0  # a gap beyond what counts as kept costs so many times its excess in accuracy: 0.001 a point
MOST = 0.05  # and five points at most, which is more than lies between recipes that keep the gap
PLACE = [*STREAM, "target"]  # where recipes are compared with each other

OPENING = f"""\
Which recipe `ar.recommended` should have, and which one it would have had if a dataset had not been looked
at. A recipe is trees x height, Adam's learning rate, and where fairness is imposed (by thresholds of groups: nowhere).
Every one is run over the streams of the field, in two orders, for demographic parity at most 0.1, 0.05 and 0.02; judged
are the rows behind the first tenth. Its score on a dataset is the mean over streams, targets and orders of its
accuracy, less the best recipe's there; where the gap is more than {WITHIN} times the target, {EXCESS:g} times the
excess is taken off its accuracy, {100 * MOST:g} points at most. *Chosen without it*: the recipe with the best mean
score on all other datasets, which is what the field uses there. The streams of a dataset count as one."""


def value(accuracy: Any, gap: Any, target: Any) -> Any:
    """Accuracy less what is taken off for a target that is not kept.

    >>> [round(float(each), 3) for each in value(0.8, pd.Series([0.05, 0.061, 0.09]), 0.05)]
    [0.8, 0.79, 0.75]
    """
    return accuracy - (EXCESS * (gap - WITHIN * target)).clip(0, MOST)


def scores(runs: pd.DataFrame) -> pd.DataFrame:
    """A row for each class, recipe and dataset, from one run for each stream, target, seed and recipe.

    `score` is the mean over a dataset's streams, targets and seeds of the value, less that of the best recipe on the
    same stream and target: 0 for one that is the best everywhere. `elsewhere` is the mean of the other datasets'
    scores, and `chosen` has the recipe for which that is the largest: the one chosen without the dataset. In the rows
    whose dataset is "all" it is the one chosen on all of them.
    """
    runs = runs.assign(value=value(runs["accuracy"], runs[NOTION], runs["target"]),
                       kept=runs[NOTION] <= WITHIN * runs["target"])
    places = runs.groupby(["group_decides", *PLACE, "recipe"], sort=False)[["value", "accuracy", "kept"]].mean()
    best = places["value"].groupby(["group_decides", *PLACE], sort=False).transform("max")
    found = places.assign(score=places["value"] - best).groupby(
        ["group_decides", "dataset", "recipe"], sort=False)[["score", "accuracy", "kept"]].mean().reset_index()
    datasets = found["dataset"].nunique()
    total = found.groupby(["group_decides", "recipe"], sort=False)["score"].transform("sum")
    found["elsewhere"] = (total - found["score"]) / (datasets - 1) if datasets > 1 else found["score"]
    overall = found.groupby(["group_decides", "recipe"], sort=False)[["score", "accuracy", "kept"]].mean().reset_index()
    found = pd.concat([found, overall.assign(dataset=ALL, elsewhere=overall["score"])], ignore_index=True)
    largest = found.groupby(["group_decides", "dataset"], sort=False)["elsewhere"].idxmax()
    found["chosen"] = found.index.isin(largest)
    return found


def written(found: pd.DataFrame, label_of: Callable[[str], str] = str) -> str:
    """`results/recipes.md`."""
    parts = ["# Recipes", OPENING]
    for group_decides, own in found.groupby("group_decides", sort=False):
        datasets = list(dict.fromkeys(own["dataset"]))
        title = "Thresholds by group" if group_decides else "ParityTarget"
        points = 100 * own.pivot_table(index="recipe", columns="dataset", values="score", sort=False)[datasets]
        kept = own[own["dataset"] == ALL].set_index("recipe")["kept"]
        lines = [f"## {title}", "", "Scores in points of accuracy, and the share of runs that kept their target.", "",
                 f"| recipe | {' | '.join(map(label_of, datasets))} | kept |", "|---" * (len(datasets) + 2) + "|"]
        for recipe, row in points.sort_values(ALL, ascending=False, kind="stable").iterrows():
            name = f"**{recipe}**, as shipped" if recipe == SHIPPED[bool(group_decides)].name else recipe
            lines.append(f"| {name} | {' | '.join(f'{number:.2f}' for number in row)} | {kept[recipe]:.0%} |")
        lines += ["", "| without | chosen | its score there |", "|---|---|---|"]
        lines += [f"| {label_of(row.dataset) if row.dataset != ALL else 'nothing left out'} | "
                  f"{row.recipe} | {100 * row.score:.2f} |" for row in own[own["chosen"]].itertuples()]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def chosen_on_all(found: pd.DataFrame, group_decides: bool) -> Recipe:
    own = found[(found["dataset"] == ALL) & found["chosen"] & (found["group_decides"] == group_decides)]
    return Recipe.named(own["recipe"].iloc[0])
