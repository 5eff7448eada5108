"""What is known of a run of the field: its decisions on the first tenth of a stream, and on the rest, by tables.

The first tenth is what a setting may be chosen by; all rows behind it are judged.
"""

from itertools import pairwise
from typing import Any

import numpy as np

import aranyani_tf as ar
from aranyani_tf.control.decisions import gap_of
from aranyani_tf.evaluation.records import NUM_WINDOWS
from harness.registry import NOTIONS

FEW = 100  # rows of a group among those judged: with fewer, a gap of 0.05 is one standard error
FEW_AT_FIRST = FEW // 20  # likewise in half of the first tenth, which knows of no other row
PARTS = ("first", "", "late", "window")  # what is chosen by; then of the judged rows all, the second half, windows


def first_rows(num_rows: int) -> int:
    """How many rows a setting is chosen by."""
    return num_rows // 10


def columns() -> list[str]:
    return [*(named(part, what) for part in PARTS[:3] for what in ("accuracy", *NOTIONS)),
            *(named("window", notion) for notion in NOTIONS)]


def named(part: str, what: str) -> str:
    return f"{part}_{what}" if part else what


def measured(outputs: np.ndarray | None, stream: ar.Stream) -> dict[str, float]:
    """Accuracy and gaps of (row, label) outputs, whose largest is decided; NaN throughout for one that diverged."""
    if outputs is None:
        return dict.fromkeys(columns(), np.nan)
    decisions, begin, end = outputs.argmax(axis=1), first_rows(len(stream)), len(stream)
    found = measured_first(outputs[:begin], stream[:begin])
    groups = compared(stream.groups[begin:])
    slices = {"": slice(begin, end), "late": slice((begin + end) // 2, end)}
    for part, rows in slices.items():
        found[named(part, "accuracy")] = float((decisions[rows] == stream.labels[rows]).mean())
        table = table_of(decisions, stream, rows, groups)
        found |= {named(part, notion): gap_of(table, notion) for notion in NOTIONS}
    cuts = np.unique(np.round(np.linspace(begin, end, NUM_WINDOWS + 1)).astype(int))
    tables = [table_of(decisions, stream, slice(*ends), groups) for ends in pairwise(cuts.tolist())]
    for notion in NOTIONS:
        found[named("window", notion)] = float(np.mean([gap_of(table, notion) for table in tables]))
    return found


def measured_first(outputs: np.ndarray | None, first: ar.Stream) -> dict[str, float]:
    """What a setting is chosen by: the second half of the first tenth.

    Not the first half, where the more frequent label beats most learners, and so does whoever learns slowly.
    """
    if outputs is None:
        return {named("first", what): np.nan for what in ("accuracy", *NOTIONS)}
    decisions, rows = outputs.argmax(axis=1), slice(len(first) // 2, len(first))
    table = table_of(decisions, first, rows, compared(first.groups[rows], FEW_AT_FIRST))
    return {"first_accuracy": float((decisions[rows] == first.labels[rows]).mean())} | {
        named("first", notion): gap_of(table, notion) for notion in NOTIONS}


def compared(groups: np.ndarray, few: int = FEW) -> np.ndarray:
    """The groups that are compared: those with enough rows, or all if fewer than two have them."""
    names, counts = np.unique(groups[groups >= 0], return_counts=True)
    return names[counts >= few] if (counts >= few).sum() > 1 else names


def table_of(decisions: np.ndarray, stream: ar.Stream, rows: slice, groups: np.ndarray) -> np.ndarray:
    """Counts (label + 1, group + 1, decision) of the compared groups, as `gap_of` takes them."""
    table = np.zeros((stream.num_labels + 1, len(groups) + 1, stream.num_labels))
    own, labels = stream.groups[rows], stream.labels[rows]
    known = np.isin(own, groups)
    np.add.at(table, (labels[known], np.searchsorted(groups, own[known]), decisions[rows][known]), 1)
    return table


def state_bytes(learner: Any) -> float:
    """What a learner keeps from one row to the next, or NaN where it does not tell.

    A learner may say it itself, by an attribute or a method of this name.
    """
    own = getattr(type(learner), "state_bytes", None) or vars(learner).get("state_bytes")
    if own is not None:
        said = learner.state_bytes
        return float(said() if callable(said) else said)
    if isinstance(learner, ar.Aranyani):
        kept = [*learner.learner.variables, *learner.optimizer.variables, *learner.statistics.weights]
        return float(sum(variable.numpy().nbytes for variable in kept))
    if isinstance(learner, ar.GroupThresholds):
        return state_bytes(learner.learner) + sum(array.nbytes for array in learner.get_state().values())
    if hasattr(getattr(learner, "classifier", None), "_raw_memory_usage"):
        return float(learner.classifier._raw_memory_usage)  # River's own count of all that hangs on it
    return np.nan
