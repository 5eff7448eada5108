"""What was done with each column of a table, as a frame to print."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from aranyani_tf.streams.column_kinds import TIMES


def report(columns: Sequence[str], form: Any, empty: Mapping[str, int],
           unknown: Mapping[str, int]) -> pd.DataFrame:
    """One row for each column. How many cells were empty or of unknown categories is told if there were any.

    Args:
        columns: names of all columns of the table.
        form: the `TableForm` that was applied.
        empty, unknown: dicts from columns to numbers of cells.
    """
    found = pd.DataFrame([(role(name, form), values(name, form), encoding(name, form)) for name in columns],
                         columns=["role", "values", "encoding"], index=pd.Index(columns, name="column"))
    for title, counts in (("empty", empty), ("unknown", unknown)):
        if any(counts.values()):
            found[title] = [counts.get(name, 0) for name in columns]
    return found


def role(name: str, form: Any) -> str:
    roles = [*(["feature"] if name in form.encoder.columns else []),
             *(["label"] if name == form.options.label else ["group"] if name == form.options.group else [])]
    return " and ".join(roles) or "left out"


def values(name: str, form: Any) -> str:
    for codes in form.coded:
        if codes.column == name:
            return str(codes)
    if name in form.encoder.codes:
        other = " and other" if name in form.encoder.with_other else ""
        return f"{len(form.encoder.codes[name]):,} categories{other}"
    return form.kinds.get(name, "")


def encoding(name: str, form: Any) -> str:
    encoder = form.encoder
    if name not in form.kinds:
        return ""
    if name not in encoder.columns and any(codes.column == name for codes in form.coded):
        return "codes"
    if name in encoder.codes and encoder.preprocessing == "one_hot":
        return "one 0/1 feature each"
    steps = ["codes"] if name in encoder.codes else ["days since 1970"] if form.kinds[name] == TIMES else []
    if name in encoder.columns and encoder.scale:
        steps.append("z-score of the rows so far" if encoder.online else "z-score of all rows")
    return ", ".join(steps) or "as they are"
