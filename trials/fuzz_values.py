"""Values that do not belong where they are put, by hand and by hypothesis."""

import datetime
import decimal
import fractions
from random import Random
from typing import Any

import hypothesis.extra.numpy as arrays_of
import hypothesis.strategies as st
import numpy as np
import pandas as pd

HUGE = 10**400  # past every float, and past what pandas converts
NUMBERS = (np.nan, np.inf, -np.inf, 1e30, -1e30, 1e18, 9e17, 1e-320, 2**31, 2**63, -2**63, HUGE, -HUGE, -1, -2, 0, 1, 2,
           0.5, -0.0, 3, 7, 10**6)
TEXTS = ("", " ", "1", "-1", "nan", "inf", "1e400", "1,5", "yes", "\ud800", "a\0b", "\ufeffage", "λ", "node", "../x",
         "x" * 5000, "1_000", "2024-02-30", "2024-05-31", "NA", "True", "'", '"', "\n", "‮", "١٢", "sigmoid", "f", "no")
OTHERS = (None, True, False, b"1", 1 + 2j, np.datetime64("2024-01-01"), np.timedelta64(1, "D"), [], [1, 2], (), {},
          {"a": 1}, set(), object, int, len, decimal.Decimal("NaN"), decimal.Decimal("1e500"), decimal.Decimal("1.5"),
          fractions.Fraction(1, 3), np.float16(1), np.float64("nan"), np.bool_(True), np.int8(-1), np.uint64(2**63),
          np.ma.masked, pd.NA, pd.NaT, np.array(3), np.array([[1]]), np.array(["a"]), range(3),
          datetime.date(2024, 5, 31), datetime.datetime(2024, 5, 31, 12), pd.Timestamp("2024-05-31", tz="UTC"),
          np.str_("a"), memoryview(b"ab"), np.zeros(0), [[]],
          [[1], [1, 2]], np.longdouble("1e4000"), np.void(b"ab"), float, Ellipsis, slice(1))


def odd(random: Random) -> Any:
    """A value of any kind."""
    return random.choice((random.choice(NUMBERS), random.choice(TEXTS), random.choice(OTHERS)))


def told(value: Any) -> str:
    """A value as it is written, but not at length."""
    try:
        text = repr(value)
    except Exception as error:  # the text of a whole number of more than 4,300 digits, say
        text = f"a {type(value).__name__} ({error})"
    return text if len(text) < 400 else f"{text[:390]}… ({len(text)} characters)"


def kind_of(value: Any) -> str:
    """In a word, for the table."""
    if value is None or isinstance(value, (bool, np.bool_)):
        return "None or truth value"
    if isinstance(value, (int, float, np.number)) and not isinstance(value, np.complexfloating):
        return "number"
    if isinstance(value, (str, bytes)):
        return "text"
    if isinstance(value, (list, tuple, dict, set, range, np.ndarray)):
        return "container"
    return "other object"


# What hypothesis makes: it begins small, and goes where mistakes are likely.
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.integers(-3, 3), st.floats(), st.floats(0, 1),
                    st.complex_numbers(), st.text(max_size=8), st.binary(max_size=8), st.decimals(), st.fractions(),
                    st.dates(), st.datetimes(), st.timedeltas(), st.sampled_from(TEXTS), st.sampled_from(NUMBERS))
CONTAINERS = st.one_of(st.lists(SCALARS, max_size=4), st.tuples(SCALARS, SCALARS),
                       st.dictionaries(st.text(max_size=4), SCALARS, max_size=3))
ANYTHING = st.one_of(SCALARS, CONTAINERS)
ARRAYS = st.one_of(
    arrays_of.arrays(arrays_of.scalar_dtypes(), arrays_of.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6)),
    arrays_of.arrays(st.sampled_from(["float32", "float64", "int64", "int32", "bool"]), st.tuples(
        st.integers(0, 8), st.sampled_from([1, 3, 3, 3]))),
    arrays_of.arrays(st.sampled_from(["int64", "int8", "float32"]), st.integers(0, 8)),
    st.lists(st.lists(st.floats(width=32), min_size=3, max_size=3), max_size=6),
    st.lists(st.integers(-1, 2), max_size=8), ANYTHING)
