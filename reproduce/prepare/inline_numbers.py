"""Numbers inside sentences of the README and the docs, each after a comment that says what it is.

`<!--at adult 0.05 leaf-->81.2<!--/-->` is the accuracy of Leaf on Adult at a gap of 0.05: the first word is one of
`READERS`, the others are its arguments. `make numbers` writes all of them anew from `results/`, and a test fails while
one is old.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from harness.matching import ACCURACY, GAP
from harness.plots import select
from ledger.results_data import TREES, Results

PATTERN = re.compile(r"<!--([a-z_]+(?: [^ >]+)*)-->(.*?)<!--/-->", flags=re.DOTALL)
# Settings beside the method, in words; what is not named is as in the paper.
PLAIN = {"order": "file", "drop_group": False, "decay": None, "forget": "rows"}
VARIANTS = {"decay0.01": {"decay": 0.01}, "decay0.001": {"decay": 0.001}, "nogroup": {"drop_group": True},
            "shuffled": {"order": "shuffled"}, "intime": {"decay": 0.001, "forget": "time"}}


def matched_row(results: Results, dataset: str, gap: str, method: str, *variants: str) -> pd.Series:
    where = PLAIN | ({"order": "shuffled"} if method in TREES else {})
    for variant in variants:
        where |= VARIANTS[variant]
    rows = select(results["matched"], dataset=dataset, method=method, **{GAP: float(gap)}, **where)
    (_, row), = rows[rows["rule"] != "paper"].iterrows()
    return row


def at(results: Results, *which: str) -> str:
    """Accuracy at a gap: dataset, gap, method, variants."""
    return f"{100 * matched_row(results, *which)[ACCURACY]:.1f}"


def at_interval(results: Results, *which: str) -> str:
    row = matched_row(results, *which)
    return f"{100 * row[ACCURACY]:.1f} % ({100 * row['low']:.1f} to {100 * row['high']:.1f})"


def beside(results: Results, column: str, *which: str) -> str:
    """Another gap of the same mix, or `late_accuracy`: column, dataset, gap, method, variants."""
    value = matched_row(results, *which)[column]
    return f"{100 * value:.1f}" if column in ("late_accuracy", "over_majority") else f"{value:.3f}"


def seeds_above(results: Results, *which: str) -> str:
    """Share of seeds whose gap is larger than was asked for, in %."""
    return f"{100 * matched_row(results, *which)['seeds_above_gap']:.0f}"


def runs_of(results: Results, figure: str, dataset: str, method: str, *settings: str) -> pd.DataFrame:
    """At the end of the stream; a setting is "order=shuffled", say."""
    where: dict = {"dataset": dataset, "method": method}
    for setting in settings:
        name, value = setting.split("=")
        where[name] = value if not re.fullmatch(r"[0-9.e-]+", value) else float(value)
    found = results.ends(figure, **where)
    usual = "released" if "released" in set(found["rule"]) else found["rule"].iloc[0]
    return found[found["rule"] == where.get("rule", usual)]


def ends(results: Results, figure: str, dataset: str, method: str, weight: str, *settings: str) -> pd.DataFrame:
    return select(runs_of(results, figure, dataset, method, *settings), fairness_weight=float(weight))


def accuracy(results: Results, *which: str) -> str:
    """Mean accuracy at the end: figure, dataset, method, λ, settings."""
    return f"{100 * ends(results, *which)[ACCURACY].mean():.1f}"


def accuracy_spread(results: Results, *which: str) -> str:
    found = 100 * ends(results, *which)[ACCURACY]
    return f"{found.mean():.1f} ± {found.std():.1f}"


def gap(results: Results, *which: str) -> str:
    return f"{ends(results, *which)[GAP].mean():.3f}"


def smallest_gap(results: Results, figure: str, dataset: str, method: str, *settings: str) -> str:
    """Of the fairest λ."""
    found = runs_of(results, figure, dataset, method, *settings)
    return f"{found.groupby('fairness_weight')[GAP].mean().min():.3f}"


def reservoir(results: Results, method: str, what: str) -> str:
    """Time or kilobytes of state of a Reservoir as a multiple of Aranyani's, or its own state in kB."""
    runs = results.ends("figure4", method=method)
    if what == "time":
        ratio = (runs["seconds"] / runs["aranyani_seconds"]).mean()
        return f"{float(f'{ratio:.2g}'):,.0f}"  # two digits: it is a time
    return f"{runs['state_bytes' if what == 'state' else 'aranyani_state_bytes'].mean() / 1000:,.0f}"


def ours(results: Results, id: str) -> str:
    """What was found about a claim."""
    return str(results["claims"].set_index("id").loc[id, "ours"])


def verdict(results: Results, id: str) -> str:
    return str(results["claims"].set_index("id").loc[id, "verdict"])


def paired(results: Results, id: str) -> str:
    """Points of accuracy by which one method is above another, seed by seed."""
    row = results["paired"].set_index("id").loc[id]
    mean, low, high = (f"{100 * row[column]:+.1f}" for column in ("difference", "low", "high"))
    return f"{mean} points ({low} to {high})"


READERS: dict[str, Callable[..., str]] = {each.__name__: each for each in (
    at, at_interval, beside, seeds_above, accuracy, accuracy_spread, gap, smallest_gap, reservoir, ours, verdict,
    paired)}
PAGES = ("README.md", "docs/deviations.md")


def with_numbers(text: str, folder: Path) -> str:
    """The page with every number as the results have it."""
    results = Results(folder)

    def number(found: re.Match) -> str:
        name, *arguments = found[1].split(" ")
        if name not in READERS:
            raise ValueError(f"the page asks for {found[1]!r}; known are {', '.join(READERS)}")
        try:
            return f"<!--{found[1]}-->{READERS[name](results, *arguments)}<!--/-->"
        except (KeyError, ValueError) as error:
            raise ValueError(f"the page asks for {found[1]!r}, which the results do not have: {error}") from error

    return PATTERN.sub(number, text)
