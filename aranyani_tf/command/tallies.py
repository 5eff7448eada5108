"""The numbers of a table of decisions, (label + 1, group + 1, decision), for people to read."""

import numpy as np
import pandas as pd

from aranyani_tf.control.decisions import GAPS, gap_of
from aranyani_tf.streams.table_form import TableForm


def accuracy_of(table: np.ndarray) -> float:
    """Share of labelled rows that were decided right; NaN without any."""
    known = table[:-1].sum(axis=1)  # (label, decision)
    return share(np.trace(known), known.sum())


def share(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else float("nan")


def by_group(table: np.ndarray, form: TableForm, positive_label: int) -> pd.DataFrame:
    """Rows, selection rate, accuracy and true positive rate of each group, of rows without one, and of all."""
    names = [*form.group_names, *[f"(group {code})" for code in range(len(form.group_names), form.num_groups)]]
    groups = {name: table[:, [code]] for code, name in enumerate(names)}
    groups |= {"(no group)": table[:, [-1]], "all": table}
    rows = {}
    for name, counts in groups.items():
        if counts.sum() or name in form.group_names:
            positive = counts[positive_label].sum(axis=0)  # (decision,), of rows whose label is the positive one
            rows[name] = (int(counts.sum()), share(counts[..., positive_label].sum(), counts.sum()),
                          accuracy_of(counts), share(positive[positive_label], positive.sum()))
    return pd.DataFrame(rows, index=["rows", "selection rate", "accuracy", "true positive rate"]).T.rename_axis(
        form.options.group)


def told_by_group(table: np.ndarray, form: TableForm, positive_label: int) -> str:
    """The same as a text."""
    frame = by_group(table, form, positive_label)
    cells = frame.astype(object)
    cells["rows"] = [f"{int(count):,}" for count in frame["rows"]]
    for name in frame.columns[1:]:
        cells[name] = [f"{value:.3f}" if value == value else "–" for value in frame[name]]
    selected = (form.label_names or ())[positive_label]
    return f"{cells.to_string()}\nselected: {form.options.label} = {selected}"


def told_gaps(table: np.ndarray, positive_label: int, names: tuple[str, ...] = GAPS) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {gap_of(table, name, positive_label):.3f}" for name in names)
