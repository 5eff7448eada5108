"""Checks of arguments, with errors that name them."""

import numbers
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

from aranyani_tf.errors import ArgumentError


def require_whole(name: str, value: Any, low: int, high: int | None = None) -> None:
    """Raises unless `value` is a whole number between `low` and `high`."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.timedelta64))
    if not whole or value < low or (high is not None and value > high):
        wanted = f"at least {low}" if high is None else f"from {low} to {high}"
        raise ArgumentError(f"{name} must be a whole number {wanted}, got {value!r}")


def require_number(name: str, value: Any, low: float, high: float | None = None, *, above: bool = False,
                   below: bool = False, dtype: str = "float32") -> None:
    """Raises unless `value` is a finite number from `low` to `high`, of which the ends may be left out."""
    real = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_, np.timedelta64))
    try:
        with np.errstate(over="ignore"):  # a number that is finite here may not be so in the model
            finite = real and np.isfinite(np.dtype(dtype).type(value))
    except OverflowError:  # a whole number past every float
        finite = False
    if not (finite and (value > low if above else value >= low)
            and (high is None or (value < high if below else value <= high))):
        wanted = f"{'above' if above else 'of at least'} {low}"
        if high is not None:
            wanted += f" and {'below' if below else 'at most'} {high}"
        raise ArgumentError(f"{name} must be a finite number {wanted}, got {value!r}")


def require_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """Raises unless `value` is one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise ArgumentError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}")


def require_flags(**flags: Any) -> None:
    """Raises unless every value is True or False: the text "False" would count as true."""
    for name, value in flags.items():
        if not isinstance(value, (bool, np.bool_)):
            raise ArgumentError(f"{name} must be True or False, got {value!r}")


def require_room(what: str, numbers: int, most: int = 2**31) -> None:
    """Raises if so many numbers would have to be held that no machine has room for them."""
    if numbers > most:
        told = f"{numbers:.3g}" if numbers < 1e300 else "more than 1e+300"  # which is no float any more
        raise ArgumentError(f"{what} would take {told} numbers, and {most:.3g} is the most; choose fewer")


def require_seed(value: Any) -> None:
    """Raises unless `value` is a whole number of at least 0, or None for a new one each time."""
    if value is not None:
        require_whole("seed", value, 0)


def require_object(name: str, value: Any, methods: Iterable[str], examples: str) -> None:
    """Raises unless `value` is an object, not a class, that has these methods."""
    if isinstance(value, type):
        raise ArgumentError(f"{name} must be an object, got the class {value.__name__}; write {value.__name__}()")
    if not all(callable(getattr(value, method, None)) for method in methods):
        raise ArgumentError(f"{name} must be {examples} or an object with {' and '.join(f'{m}()' for m in methods)}; "
                            f"got {value!r}")


def require_fairness_weight(value: Any, dtype: str = "float32") -> None:
    """Raises unless λ is a finite number of at least 0."""
    require_number("fairness_weight", value, 0, dtype=dtype)


def require_new(kind: str, name: str, known: Mapping[str, Any], thing: Any) -> None:
    """Raises unless `thing` can be registered: it is callable, and its name a word that nothing else has.

    A name can be given to the same function or class again, for a notebook's cell that is run twice.
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise ArgumentError(f"a {kind}'s name must be a word of letters, digits and _, got {name!r}")
    if not callable(thing):
        raise ArgumentError(f"the {kind} {name!r} must be a function or a class, got {thing!r}")
    if name in known and not is_same(known[name], thing):
        raise ArgumentError(f"there is a {kind} {name!r} already, of {known[name].__module__}; choose another name")


def is_same(one: Any, other: Any) -> bool:
    """Whether two functions or classes are one, or the same line of a module that was run twice."""
    place, other_place = ((getattr(each, "__module__", None), getattr(each, "__qualname__", "<lambda>"))
                          for each in (one, other))
    return one is other or (place == other_place and not place[1].endswith("<lambda>"))


def as_names(role: str, names: Any) -> tuple[str, ...] | None:
    """Names for people; raises unless they are texts, of which there is one each."""
    if names is None:
        return None
    try:
        if isinstance(names, (str, bytes)):
            raise TypeError
        return tuple(map(str, names))
    except TypeError:
        raise ArgumentError(f"{role} must be a list of names, got {names!r}") from None
