"""Sentences of the README and the docs that call one method better than another on Figure 2's streams, each with the
paired difference that it stands on."""

from typing import NamedTuple

import pandas as pd

from harness.field_pairs import verdict
from harness.intervals import Interval
from harness.matching import ACCURACY, GAP, at_gap, constant_answer
from ledger.results_data import Results

ANY = {"decay": "any", "order": "any", "drop_group": "any", "forget": "any"}


class Curve(NamedTuple):
    """A method's runs in one setting."""

    method: str
    figure: str = "figure2"
    decay: float | None = None


class Sentence(NamedTuple):
    """That the first is better than the second, both at the same gap of demographic parity."""

    id: str
    first: Curve
    second: Curve
    dataset: str = "adult"
    gap: float = 0.05


NODES, FORGETTING = Curve("aranyani"), Curve("mlp", "figure2_beyond", 0.01)
SENTENCES = (
    Sentence("leaf-above-nodes", Curve("leaf"), NODES),
    Sentence("output-above-nodes", Curve("output", "figure2_beyond"), NODES),
    Sentence("fermi-above-nodes", Curve("fermi_forest", "figure2_beyond"), NODES),
    Sentence("mlp-forgetting-above-fermi", FORGETTING, Curve("fermi_forest", "figure2_beyond")),
    Sentence("mlp-forgetting-above-output", FORGETTING, Curve("output", "figure2_beyond", 0.01)))


def accuracies(results: Results, curve: Curve, dataset: str, gap: float) -> pd.Series:
    """By seed, each with the mix that other seeds have chosen."""
    runs = results.ends(curve.figure, dataset=dataset, method=curve.method, decay=curve.decay)
    runs = runs[runs["rule"] != "paper"]
    if runs.empty:
        raise ValueError(f"{curve.figure}.csv has no runs of {curve}")
    return at_gap(runs, gap, constant_answer(results.ends("figure2", dataset=dataset, **ANY)))[ACCURACY]


def curve_pairs(results: Results) -> pd.DataFrame:
    """A row a sentence."""
    found = []
    for each in SENTENCES:
        first, second = (accuracies(results, curve, each.dataset, each.gap) for curve in (each.first, each.second))
        difference = Interval.student_difference(first, second)
        found.append({"id": each.id, "dataset": each.dataset, "notion": GAP, "target": each.gap,
                      "first": named(each.first), "second": named(each.second), "difference": difference.mean,
                      "low": difference.low, "high": difference.high,
                      "seeds": len(first.index.intersection(second.index)), "told": verdict(difference)})
    return pd.DataFrame(found)


def named(curve: Curve) -> str:
    return curve.method + ("" if curve.decay is None else f", decay {curve.decay:g}")
