"""Whether the parts of a form that a file kept fit together: one that was put together by hand may have any."""

from typing import Any

import numpy as np

from aranyani_tf.errors import TableError
from aranyani_tf.streams.column_kinds import CATEGORIES, NUMBERS, TIMES
from aranyani_tf.streams.encoding import TableEncoder
from aranyani_tf.streams.label_codes import Codes


def require_consistent(kinds: Any, encoder: TableEncoder, labels: Codes | None, groups: Codes,
                       num_labels: int | None) -> None:
    """Raises about the first part that does not fit to the others."""
    def require(is_so: bool, what: str) -> None:
        if not is_so:
            raise TableError(what)

    require(isinstance(kinds, dict) and all(kind in (NUMBERS, TIMES, CATEGORIES) for kind in kinds.values()),
            f"kinds must be one of {NUMBERS}, {TIMES} and {CATEGORIES} for each column")
    columns = encoder.columns
    require(bool(columns) and all(isinstance(name, str) for name in columns) and len(set(columns)) == len(columns),
            "columns must be names, each once")
    coded = [codes for codes in (labels, groups) if codes is not None]
    for name in (*columns, *(codes.column for codes in coded)):
        require(name in kinds, f"kinds has no column {name!r}")
    require((labels is None) == (num_labels == 1), "labels are there if and only if it is no regression")
    require(set(encoder.codes) == {name for name in columns if kinds[name] == CATEGORIES},
            "codes must be those of the columns of categories")
    for name, codes_of in encoder.codes.items():
        require(all(isinstance(value, str) for value in codes_of), f"the categories of {name!r} must be texts")
        require(sorted(codes_of.values()) == list(range(len(codes_of))), f"a category of {name!r} is there twice")
    require(encoder.with_other <= set(encoder.codes), "with_other names a column that has no categories")
    require_scales(encoder, require)
    for codes in coded:
        kind = (str,) if kinds[codes.column] == CATEGORIES else (int, float)
        require(len(codes.values) >= 2 and all(isinstance(value, kind) for value in codes.values)
                and len(set(codes.values)) == len(codes.values) <= codes.count,
                f"the {codes.role}s must be at least two values of their column, each once, and no more than there is "
                "room for")


def require_scales(encoder: TableEncoder, require: Any) -> None:
    """Raises unless every column has its mean and spread."""
    width = len(encoder.columns)
    moments, wanted = encoder.moments, width if encoder.online else len(encoder.numbers)
    for name, array in (("mean", moments.mean), ("squares", moments.squares), ("count", moments.count)):
        require(np.shape(array) == (wanted,) and bool(np.isfinite(array).all()),
                f"the {name} of the moments must be {wanted} numbers")
    for name, array in (() if encoder.online else (("center", encoder.center), ("spread", encoder.spread))):
        require(array.shape == (width,) and bool(np.isfinite(array).all()), f"{name} must be {width} numbers")
