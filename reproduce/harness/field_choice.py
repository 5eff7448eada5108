"""Which setting of a method is judged: one rule for all, that sees the first tenth of a stream and nothing else.

Every candidate learns that tenth, and its second half counts: the most accurate candidate whose gap is at most the
target there is chosen, or else the one with the smallest gap. A candidate is a λ and a value of the method's knob; what
is steered is told the target, so that its knob alone is chosen.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from harness.contenders import NOTIONS, TARGETS
from harness.field_measures import named
from harness.registry import Method

BETWEEN = "; "  # the cases of one candidate in the records


class Candidate(NamedTuple):
    """A setting to be tried: its names are columns of the records.

    Args:
        told: the notion, or "" for a method that cannot be told one.
        fairness_weight: λ, or the target of what is steered.
        knob_value: of the method's knob, "" if it has none.
    """

    told: str
    fairness_weight: float
    knob_value: Any


def case_name(notion: str, target: float) -> str:
    return f"{notion} {target:g}"


def cases(candidates: list[Candidate], how: Method) -> Iterator[tuple[str, float, list[int]]]:
    """Every notion and target, and who may be chosen for it, by number."""
    for notion in NOTIONS:
        for target in TARGETS:
            found = [number for number, each in enumerate(candidates) if each.told in ("", notion)
                     and (not how.steered or np.isclose(each.fairness_weight, target))]
            if found:
                yield notion, target, found


def is_open(candidates: list[Candidate], how: Method) -> bool:
    """Whether there is anything to choose."""
    return any(len(found) > 1 for _, _, found in cases(candidates, how))


def chosen(tried: pd.DataFrame, notion: str, target: float) -> Any:
    """The index of the one that is judged, of candidates in the order of their registration, by the rule above."""
    gap = named("first", notion)
    allowed = tried[tried[gap] <= target]
    if len(allowed):
        return allowed.sort_values(["first_accuracy", gap], ascending=[False, True], kind="stable").index[0]
    return tried.sort_values([gap, "fairness_weight"], kind="stable").index[0]


def choices(tried: pd.DataFrame, candidates: list[Candidate], how: Method) -> dict[int, str]:
    """The numbers of the chosen ones, and what each was chosen for."""
    found: dict[int, list[str]] = {}
    for notion, target, numbers in cases(candidates, how):
        own = chosen(tried.loc[numbers], notion, target) if len(numbers) > 1 else numbers[0]
        found.setdefault(int(own), []).append(case_name(notion, target))
    return {number: BETWEEN.join(found[number]) for number in sorted(found)}
