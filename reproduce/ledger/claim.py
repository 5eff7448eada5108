"""What a claim is, how verdicts follow from intervals, and the list of all claims."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from harness.intervals import Interval

HOLDS, PART, NOT, OPEN, CANNOT = "holds", "in part", "does not hold", "undecided", "cannot be tested here"
WORDS = {HOLDS: "hold", PART: "hold in part", NOT: "do not hold", OPEN: "are undecided",
         CANNOT: "cannot be tested here"}
VERDICTS = tuple(WORDS)


def plain_number(value: float) -> Interval:
    """A number that no seed changes."""
    return Interval(value, float("nan"), float("nan"))


class Judgement(NamedTuple):
    """What was found: in words, the number that the verdict hangs on with its interval, and the verdict."""

    ours: str
    number: Interval | None
    verdict: str


@dataclass(frozen=True)
class Claim:
    """One claim of the paper.

    Args:
        id: of letters, digits and hyphens; it stays.
        place: section, figure or table of the paper.
        text: the claim in our words.
        computed_from: which files, and what of them.
        paper: the paper's number or word.
        deviation: what differs from the paper and matters here; empty if nothing.
        judge: function of `results_data.Results`.
    """

    id: str
    place: str
    text: str
    computed_from: str
    paper: str
    deviation: str
    judge: Callable[..., Judgement]


CLAIMS: list[Claim] = []


def claim(id: str, place: str, text: str, computed_from: str, paper: str, deviation: str = "") -> Callable:
    """Registers the function below it as a claim's judge."""
    def register(judge: Callable[..., Judgement]) -> Callable[..., Judgement]:
        if any(each.id == id for each in CLAIMS):
            raise ValueError(f"there are two claims {id!r}")
        CLAIMS.append(Claim(id, place, text, computed_from, paper, deviation, judge))
        return judge

    return register


def positive(found: Interval) -> str:
    """Whether a number that is claimed to be above 0 is: decided by its interval."""
    if found.low > 0:
        return HOLDS
    return NOT if found.high < 0 else OPEN


def negative(found: Interval) -> str:
    return positive(found.times(-1))


def within(found: Interval, margin: float) -> str:
    """Whether something is about 0: the interval lies within the margin, or it lies outside."""
    if -margin <= found.low and found.high <= margin:
        return HOLDS
    return NOT if found.low > margin or found.high < -margin else OPEN


def together(verdicts: Iterable[str]) -> str:
    """The verdict on a claim about several places.

    >>> together([HOLDS, HOLDS]), together([HOLDS, NOT]), together([NOT, OPEN]), together([OPEN, OPEN])
    ('holds', 'in part', 'does not hold', 'undecided')
    """
    found = list(verdicts)
    for verdict in VERDICTS:
        if all(each == verdict for each in found):
            return verdict
    if HOLDS in found or PART in found:
        return PART
    return NOT if NOT in found else OPEN


def all_of(verdicts: Iterable[str]) -> str:
    """The verdict on a claim that one exception refutes, such as "best of all".

    >>> all_of([HOLDS, HOLDS]), all_of([HOLDS, NOT]), all_of([HOLDS, OPEN])
    ('holds', 'does not hold', 'undecided')
    """
    found = list(verdicts)
    return NOT if NOT in found else HOLDS if all(each == HOLDS for each in found) else OPEN


def by_share(share: float, most: float = 0.95, some: float = 0.5) -> str:
    """Whether something that is claimed to be always so is."""
    return HOLDS if share >= most else PART if share >= some else NOT


def points(found: Interval) -> str:
    """A difference of accuracies in percentage points."""
    return f"{100 * found.mean:+.2f} points ({100 * found.low:+.2f} to {100 * found.high:+.2f})"


def number(found: Interval, digits: int = 3) -> str:
    return f"{found.mean:.{digits}g} ({found.low:.{digits}g} to {found.high:.{digits}g})"


def score(table: pd.DataFrame) -> str:
    """How many claims have which verdict, in one sentence."""
    counts = table["verdict"].value_counts()
    told = ", ".join(f"{counts.get(verdict, 0)} {words}" for verdict, words in WORDS.items())
    return f"Of {len(table)} claims and bounds of the paper {told}."
