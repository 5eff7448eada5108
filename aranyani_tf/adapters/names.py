"""Labels and groups by name: whatever can be a key of a dict, where a model has codes 0, 1, …"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd

from aranyani_tf.errors import ArgumentError, RowError

FREE = None  # a code that nobody has yet; a name cannot be None


class Names:
    """The names of the labels or of the groups, and the code of each.

    A name gets the first free code when it appears. A whole number, or a bool, gets its own while that is free: False
    and 0 are 0, True and 1 are 1, whichever comes first. None and NaN are −1, missing.

    Args:
        kind: "label" or "group", for errors.
        count: how many there may be.
        known: their names in the order of their codes, where they are known before.

    >>> names = Names("label", 2)
    >>> names.code("no"), names.code("yes"), names.code("no"), names.code(None)
    (0, 1, 0, -1)
    >>> names.code("maybe")
    Traceback (most recent call last):
    ...
    aranyani_tf.errors.RowError: the label 'maybe' is new, and there is room for 2: 'no', 'yes'. Mend it, or pass
        num_labels=3
    """

    def __init__(self, kind: str, count: int, known: Sequence[Hashable] | None = None) -> None:
        self.kind = kind
        self.places: list[Any] = [FREE] * count
        self.codes: dict[Any, int] = {None: -1}
        self.known: list[Any] = []  # so far, in the order of their codes
        self.closed = known is not None
        for place, name in enumerate(known or ()):
            if name in self.codes:  # None is from the beginning
                raise ArgumentError(f"{kind}s must be names that differ, and not None; got {known!r}")
            self.take(name, place)

    def code(self, name: Any) -> int:
        """The code of a name, which gets one if it is new."""
        try:
            found = self.codes.get(name)
        except TypeError:
            raise RowError(f"a {self.kind} must be a name (text, a number, a bool, …), got {name!r}") from None
        if found is not None:
            return found
        if is_missing(name):
            return -1
        place = self.place_for(name)
        self.take(name, place)
        if isinstance(name, (bool, np.bool_)) and len(self.places) == 2 and self.places[1 - place] is FREE:
            self.take(not name, 1 - place)  # where there is True, there is False
        return place

    def take(self, name: Any, place: int) -> None:
        name = bool(name) if isinstance(name, np.bool_) else name
        self.places[place], self.codes[name] = name, place
        self.known = [each for each in self.places if each is not FREE]

    def place_for(self, name: Any) -> int:
        if FREE not in self.places or self.closed:
            known = ", ".join(map(repr, self.known))
            remedy = f"num_{self.kind}s={len(self.places) + 1}" if not self.closed else f"it among the {self.kind}s"
            raise RowError(f"the {self.kind} {name!r} is new, and there is room for {len(self.places)}: {known}. "
                           f"Mend it, or pass {remedy}")
        own = int(name) if isinstance(name, (int, np.integer, np.bool_)) else -1
        if 0 <= own < len(self.places) and self.places[own] is FREE:
            return own
        return self.places.index(FREE)

    def codes_of(self, names: Iterable[Any]) -> np.ndarray:
        """int32 (row,), of a column."""
        if not isinstance(names, pd.Series):
            names = pd.Series(list(names), dtype=object)
        places, uniques = pd.factorize(names)
        found = [self.code(name) for name in uniques.tolist()]
        return np.array([*found, -1], np.int32)[places]  # pandas, too, says −1 where a name is missing


@contextmanager
def all_or_none(*every: Names) -> Iterator[None]:
    """Takes new names back if what they came with cannot be used."""
    before = [(names.places.copy(), names.codes.copy(), names.known) for names in every]
    try:
        yield
    except BaseException:
        for names, state in zip(every, before, strict=True):
            names.places, names.codes, names.known = state
        raise


def is_missing(name: Any) -> bool:
    return name is None or name is pd.NA or name is pd.NaT or (isinstance(name, (float, np.floating)) and name != name)
