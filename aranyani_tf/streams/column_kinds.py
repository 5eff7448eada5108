"""What a column of a table holds, and its cells as such.

| kind         | columns                                                | a cell becomes                     |
|--------------|--------------------------------------------------------|------------------------------------|
| `numbers`    | numbers, truth values, durations                       | float64; durations in days         |
| `times`      | dates and times; texts that are all ISO dates or times | float64, days since 1970-01-01 UTC |
| `categories` | all others, and numbers that are named as categories   | a text                             |

An empty cell becomes NaN in all three.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd

from aranyani_tf.errors import TableError
from aranyani_tf.streams.row_rules import LARGEST

NUMBERS, TIMES, CATEGORIES = "numbers", "times", "categories"
ISO_TIME = r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?"
NUMBER_FOR_PEOPLE = r"[+-]?\d{1,3}([.,]?\d{3})*([.,]\d+)?"  # 1,5 and 1.234,56 and 1,234.56
THOUSANDS = {".": r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?",  # by decimal mark
             ",": r"[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d+)?"}
EXACT = 2**53  # from here on, neighbouring whole numbers share a float64
DAY = np.timedelta64(1, "D")


def kind_of(column: pd.Series, source: str, decimal: str = ".") -> str:
    """The kind of a column that nothing is known about; raises if it looks like an accident."""
    with cells_told(column, source):
        return likely_kind(plain(column), source, decimal)


@contextmanager
def cells_told(column: pd.Series, source: str) -> Iterator[None]:
    """What pandas and Python say about cells that nobody would write, of many kinds, as one that names the column.

    Such are whole numbers past every float, texts with half of a character, and lists.
    """
    try:
        yield
    except TableError:
        raise
    except Exception as error:
        raise TableError(f"column {column.name!r} of {source} has a cell that cannot be read ({type(error).__name__}: "
                         f"{error}); mend it, or leave the column out with exclude=[{column.name!r}]") from error


def likely_kind(column: pd.Series, source: str, decimal: str) -> str:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return CATEGORIES
    if column.dtype.kind == "M":
        return TIMES
    if is_numbers(column):
        return NUMBERS
    texts = as_texts(column).dropna()
    if len(texts) and texts.str.fullmatch(ISO_TIME).all() and not np.isnan(as_days(texts)).any():
        return TIMES
    refuse_if_nearly_numbers(texts, f"column {column.name!r} of {source}", decimal)
    return CATEGORIES


def refuse_if_nearly_numbers(texts: pd.Series, where: str, decimal: str) -> None:
    """A column of numbers with a word in it, or with another decimal mark, is an accident, not categories."""
    way_on = f"pass categorical=[{texts.name!r}] if it holds categories"
    for_people = texts.str.fullmatch(NUMBER_FOR_PEOPLE).to_numpy(bool)
    odd = for_people & ~texts.str.fullmatch(rf"[+-]?\d+(\{decimal}\d+)?").to_numpy(bool)
    if odd.any() and for_people.mean() > 0.5:
        found, other = f"{where} holds numbers such as {texts[odd].iloc[0]!r}", {".": ",", ",": "."}[decimal]
        if texts[odd].str.fullmatch(THOUSANDS[decimal]).all():  # another decimal mark would make 1.234 of 1,234
            raise TableError(f"{found}; these may be thousands marks: take them out first, or {way_on}")
        raise TableError(f"{found}, but the decimal mark is {decimal!r}; turn them into numbers, for a CSV file with "
                         f"decimal={other!r}, or {way_on}")
    wrong = pd.to_numeric(texts, errors="coerce").isna().to_numpy()
    if len(texts) and 0 < wrong.mean() < 0.5:
        raise TableError(f"{where} holds numbers, but also {texts[wrong].iloc[0]!r}; mend it, or {way_on}. A word that "
                         "stands for an empty cell of a CSV file can be named with empty=['NA']")


def as_kind(column: pd.Series, kind: str, source: str, start: int = 0) -> Any:
    """The cells of a column, as an array; raises about the first that is not of this kind, row `start` + i."""
    with cells_told(column, source):
        return cells_of(column, kind, source, start)


def cells_of(column: pd.Series, kind: str, source: str, start: int) -> Any:
    if kind == CATEGORIES:
        return as_texts(column).array
    column = plain(column)
    numbers = as_days(column) if kind == TIMES else as_floats(column)
    filled = column.notna().to_numpy()
    if column.dtype.kind == "O":
        filled = filled & (column != "").to_numpy(bool, na_value=False)

    def refuse(wrong: np.ndarray, sentence: str) -> None:
        if wrong.any():
            row = int(np.argmax(wrong))
            raise TableError(f"row {start + row:,}: column {column.name!r} of {source} is {str(column.iloc[row])!r}, "
                             f"{sentence}")

    name = column.name
    wanted = "a date such as 2024-05-31" if kind == TIMES else f"a number of less than {LARGEST:.0e}"
    refuse(filled & ~(np.abs(numbers) < LARGEST),
           f"not {wanted}; mend it, or make the stream with categorical=[{name!r}] if it holds categories")
    if kind == NUMBERS and pd.api.types.is_integer_dtype(column.dtype):
        refuse(((column >= EXACT) | (column <= -EXACT)).to_numpy(bool, na_value=False),
               "too long: from 2**53 on, neighbouring whole numbers would become one. Leave the column out with "
               f"exclude=[{name!r}], or pass categorical=[{name!r}]")
    return numbers


def plain(column: pd.Series) -> pd.Series:
    """The column with a type of its own, if it is one of Python objects that are all alike, with or without gaps."""
    return column.convert_dtypes() if column.dtype == object else column


def is_numbers(column: pd.Series) -> bool:
    if column.dtype == object:  # decimals, and whole numbers too long for any type
        return pd.api.types.infer_dtype(column, skipna=True) in ("decimal", "integer")
    return pd.api.types.is_numeric_dtype(column.dtype) or column.dtype.kind == "m"


def as_floats(column: pd.Series) -> np.ndarray:
    """float64, NaN where it is not a number; a time and a complex number are none."""
    if column.dtype.kind in "Mc":
        return np.full(len(column), np.nan)
    if column.dtype.kind == "m":
        return column.to_numpy() / DAY
    return pd.to_numeric(column, errors="coerce").to_numpy("float64", na_value=np.nan)


def as_days(column: pd.Series) -> np.ndarray:
    """Days since 1970-01-01 UTC, as float64; NaN where it is not a time. Times without a zone count as UTC."""
    if column.dtype.kind != "M":
        column = as_texts(column)
        column = column.where(column.str.fullmatch(ISO_TIME).astype(bool))
    times = pd.to_datetime(column, utc=True, format="ISO8601", errors="coerce")
    return (times.dt.tz_localize(None).to_numpy() - np.datetime64(0, "D")) / DAY


def as_texts(column: pd.Series) -> pd.Series:
    """Texts, NaN where the cell is empty. A category that is written as 3.0, since a gap made it so, is 3."""
    if isinstance(column.dtype, pd.CategoricalDtype):  # each category once, not each row
        known = [*map(written, column.cat.categories), None]  # the last for an empty cell, whose code is −1
        texts = np.array(known, object)[column.cat.codes.to_numpy()]
        texts = pd.Series(texts, index=column.index, name=column.name, dtype=str)
    elif column.dtype.kind == "f":
        texts = column.map({value: written(value) for value in column.dropna().unique()}).astype(str)
    elif column.dtype == object:
        texts = column.map(written, na_action="ignore").astype(str)
    else:
        texts = column.astype(str)
    empty = column.isna().to_numpy(bool) | (texts == "").to_numpy(bool, na_value=False)
    return texts.mask(empty) if empty.any() else texts


def written(value: Any) -> str:
    """A value for people to read."""
    return str(int(value) if isinstance(value, (float, np.floating)) and value.is_integer() else value)
