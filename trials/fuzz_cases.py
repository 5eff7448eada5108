"""What a case of the fuzzer is, and what became of it: success, one of our own errors, or a bug."""

import re
import signal
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from aranyani_tf.errors import AranyaniError

SUCCEEDED, REFUSED, ESCAPED = "succeeded", "refused", "escaped"
LONGEST = 120  # seconds of a case: what takes longer hangs
# Python's own answer to an argument that a function does not have, and to one that it needs.
SIGNATURE = ("unexpected keyword argument", "missing 1 required", "positional argument")


@dataclass
class Case:
    """One thing to try.

    Args:
        mutation: what was done to a valid input, in a few words; a row of the table.
        action: tries it; what it gives is looked through for answers that are no probabilities.
        state: bytes of all that a refusal must leave as it was; None if the action has nothing to change.
        told: how to try it by hand.
    """

    mutation: str
    action: Callable[[], Any]
    state: Callable[[], bytes] | None = None
    told: str = ""


@dataclass
class Outcome:
    """What became of a case."""

    surface: str
    mutation: str
    kind: str
    changed: bool
    message: str
    told: str


@dataclass(frozen=True)
class Surface:
    """A way into the package.

    Args:
        name: of its rows in the table.
        share: of all cases.
        prepare: given a folder to work in, makes what `draw` needs: (random numbers) → Case.
    """

    name: str
    share: float
    prepare: Callable[[Path], Callable[[Random], Case]]


class Senseless(Exception):
    """An answer that was given, and is none."""


def judged(surface: str, case: Case, folder: Path) -> Outcome:
    """Tries a case."""
    before = case.state() if case.state else b""
    kind, message = SUCCEEDED, ""
    try:
        with in_time(LONGEST), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            require_sense(case.action())
    except AranyaniError as error:
        kind, message = REFUSED, f"{type(error).__name__}: {error}"
    except FileNotFoundError as error:  # documented as such, with a sentence of ours
        kind = REFUSED if error.errno is None else ESCAPED
        message = f"FileNotFoundError: {error}"
    except TypeError as error:
        kind = REFUSED if any(each in str(error) for each in SIGNATURE) else ESCAPED
        message = f"TypeError: {error}"
    except Exception as error:
        kind, message = ESCAPED, f"{type(error).__name__}: {error}"
    changed = bool(case.state) and kind != SUCCEEDED and case.state() != before
    message = re.sub("0x[0-9a-f]{6,}", "0x…", message.replace(str(folder), "…").replace("\n", " "))
    return Outcome(surface, case.mutation, kind, changed, printable(message)[:300], case.told)


@contextmanager
def in_time(seconds: int) -> Iterator[None]:
    """Raises in whatever takes longer."""
    def stop(*_: Any) -> None:
        raise TimeoutError(f"it took longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def require_sense(answer: Any) -> None:
    """Raises unless arrays of two axes are probabilities, or NaN where a row was passed over."""
    if isinstance(answer, np.ndarray) and answer.ndim == 2 and answer.shape[1] > 1:
        known = answer[~np.isnan(answer).all(axis=1)]
        if not (np.isfinite(known).all() and (known >= 0).all() and (abs(known.sum(axis=1) - 1) < 1e-3).all()):
            raise Senseless(f"no probabilities: {known[:2].tolist()}")


def printable(text: str) -> str:
    """Without what a terminal or a CSV file could stumble over."""
    return "".join(each if each.isprintable() else "�" for each in text.encode("utf-8", "replace").decode())


def state_of(model: Any) -> bytes:
    """Everything that learning moves: weights, statistics, the optimizer, counts and metrics."""
    optimizer = [] if model.optimizer is None else model.optimizer.variables
    arrays = [*model.get_weights(), *(np.asarray(each) for each in optimizer), *map(np.asarray, (
        model.further_state().values()))]
    return b"".join(each.tobytes() for each in arrays)


@contextmanager
def workshop() -> Iterator[Path]:
    """A folder for files of cases."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        yield Path(folder)


def numbers_for(seed: int, surface: str, number: int) -> Random:
    """The random numbers of one case, whatever came before it."""
    return Random(f"{seed}/{surface}/{number}")
