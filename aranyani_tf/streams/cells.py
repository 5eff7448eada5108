"""One cell at a time, in a fraction of a microsecond: what `column_kinds.as_kind` makes of a column that has it alone.

Cells of the types that JSON and CSV files bring are read here; all others, and all that are refused, by `as_kind`.
"""

import math
import re
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import pandas as pd

from aranyani_tf.streams.column_kinds import CATEGORIES, EXACT, NUMBERS, TIMES, as_kind
from aranyani_tf.streams.row_rules import LARGEST

EMPTY = math.nan
# Numbers of so few digits that every way of reading them gives the same float64.
SHORT_NUMBER = re.compile(r"[+-]?\d{1,7}(\.\d{1,7})?", re.ASCII)
# Years whose times are the same float64 in seconds as in any smaller unit.
DAY = re.compile(r"(1[789]|2[01])\d\d-\d\d-\d\d", re.ASCII)
SECOND = re.compile(DAY.pattern + r"[T ]([01]\d|2[0-3]):\d\d(:\d\d)?", re.ASCII)
EPOCH, EPOCH_DAY = datetime(1970, 1, 1), date(1970, 1, 1).toordinal()


def as_number(value: Any, name: str) -> float:
    """float64; NaN for an empty cell.

    >>> as_number(39, "age"), as_number("2.5", "age"), as_number(True, "age"), as_number("", "age")
    (39.0, 2.5, 1.0, nan)
    """
    kind = type(value)
    if kind is int:
        if -EXACT < value < EXACT:
            return float(value)
    elif kind is float:
        if -LARGEST < value < LARGEST or value != value:
            return value
    elif kind is str:
        if SHORT_NUMBER.fullmatch(value):
            return float(value)
        if not value:
            return EMPTY
    elif kind is bool:
        return float(value)
    elif value is None:
        return EMPTY
    return slowly(value, name, NUMBERS)


def as_day(value: Any, name: str) -> float:
    """Days since 1970-01-01 UTC; NaN for an empty cell.

    >>> as_day("1970-01-03", "born"), as_day("1970-01-01 12:00", "born")
    (2.0, 0.5)
    """
    if type(value) is str:
        if not value:
            return EMPTY
        try:
            if DAY.fullmatch(value):
                return float(date.fromisoformat(value).toordinal() - EPOCH_DAY)
            if SECOND.fullmatch(value):
                return (datetime.fromisoformat(value) - EPOCH).total_seconds() / 86_400
        except ValueError:  # the 30th of February
            pass
    elif value is None:
        return EMPTY
    return slowly(value, name, TIMES)


def as_text(value: Any, name: str) -> Any:
    """A text; NaN for an empty cell.

    >>> as_text("Pune", "city"), as_text(3.0, "city"), as_text(3, "city"), as_text(None, "city")
    ('Pune', '3', '3', nan)
    """
    kind = type(value)
    if kind is str:
        return value or EMPTY
    if kind is int or kind is bool:
        return str(value)
    if kind is float:
        return EMPTY if value != value else str(int(value) if value.is_integer() else value)
    if value is None:
        return EMPTY
    return slowly(value, name, CATEGORIES)


def slowly(value: Any, name: str, kind: str) -> Any:
    """By the rule for columns, of one cell; raises about a cell that is not of this kind."""
    column = pd.DataFrame([{name: value}])[name]
    cell = as_kind(column, kind, "this row")[0]
    if pd.isna(cell):
        return EMPTY
    return str(cell) if kind == CATEGORIES else float(cell)


READERS: dict[str, Callable[[Any, str], Any]] = {NUMBERS: as_number, TIMES: as_day, CATEGORIES: as_text}
