"""Rows as they come to a model in use: a data frame, a dict or a list of dicts become features, labels and groups.

The label and the group may be missing, as columns or cell by cell. Nothing is remembered of rows that were refused:
the form goes on, if it does, in a copy that is taken over afterwards.
"""

import copy
import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from aranyani_tf.errors import ArgumentError
from aranyani_tf.streams.encoding import Unknown, warn_of_unknown
from aranyani_tf.streams.row_rules import Rows
from aranyani_tf.streams.stream import Stream
from aranyani_tf.streams.table_form import TableForm
from aranyani_tf.streams.table_reader import Table

Incoming: TypeAlias = pd.DataFrame | Mapping[str, Any] | Sequence[Mapping[str, Any]]
Source: TypeAlias = Stream | pd.DataFrame | str | os.PathLike  # further rows of the table, all at once
KINDS = "a pandas DataFrame, a dict or a list of dicts"


def branch(form: TableForm) -> TableForm:
    """A copy that may go on without the form; what never moves is shared."""
    after = copy.copy(form)
    after.labels, after.groups = copy.deepcopy(form.labels), copy.deepcopy(form.groups)
    if form.encoder.online:
        after.encoder = copy.deepcopy(form.encoder)
    return after


def take_over(form: TableForm, after: TableForm) -> None:
    """The form goes on where its branch stands."""
    form.encoder, form.labels, form.groups = after.encoder, after.labels, after.groups


def features_of(form: TableForm, rows: Incoming) -> np.ndarray:
    """Features (row, feature) to predict from; an `online` form takes each row as if it came next, and stays."""
    if isinstance(rows, pd.DataFrame) and not form.encoder.online:
        return form.encode(rows)
    if isinstance(rows, pd.DataFrame):
        encoder = form.for_rows()
        return np.stack([encoder.features(cells, learn=False)
                         for piece in pieces_of(form, rows, form.encoder.columns)
                         for cells in piece.itertuples(index=False, name=None)])
    return np.stack([form.encode_row(row) for row in as_list(rows)])


def rows_of(form: TableForm, rows: Incoming) -> tuple[Rows, TableForm]:
    """Features, labels and groups to learn from, in order, and the form as it is after them.

    An `online` form goes on row by row, so that it is the same to the last bit however rows are cut into calls.
    """
    after = branch(form)
    if isinstance(rows, pd.DataFrame):
        return rows_of_frame(after, rows), after
    found = [(after.encode_row(row, learn=True), after.label_of(cell_of(row, form.options.label)),
              after.group_of(cell_of(row, form.options.group))) for row in as_list(rows)]
    features, labels, groups = zip(*found, strict=True)
    label_type = "float32" if form.labels is None else "int32"
    return (np.stack(features), np.array(labels, label_type), np.array(groups, "int32")), after


def rows_of_frame(form: TableForm, frame: pd.DataFrame) -> Rows:
    label, group = form.options.label, form.options.group
    there = set(map(str, frame.columns))
    names = dict.fromkeys([*form.encoder.columns, *(name for name in (label, group) if name in there)])
    found: list[Rows] = []
    unknown: Unknown = {}
    for piece in pieces_of(form, frame, list(names)):
        features = form.encoder.encode(piece, unknown, by_rows=True)
        missing = np.full(len(piece), -1, "int32")
        if form.labels is None:
            labels = piece[label].to_numpy("float32") if label in there else np.full(len(piece), np.nan, "float32")
        else:
            labels = form.labels.encode(piece).astype("int32") if label in there else missing
        found.append((features, labels, form.groups.encode(piece).astype("int32") if group in there else missing))
    warn_of_unknown(unknown, "the data frame", stacklevel=5)
    features, labels, groups = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return features, labels, groups


def stream_of(form: TableForm, rows: Source) -> Stream:
    """Rows as a stream of this form, which goes on with them; a stream is one already."""
    if not isinstance(rows, Stream):
        return Stream.from_form(form, rows)
    if rows.feature_names not in (None, form.encoder.feature_names):
        raise ArgumentError(f"the stream {rows.name!r} has other features than the form of this model; make it with "
                            "stream.more(…), or pass the data frame or the file itself")
    return rows


def pieces_of(form: TableForm, frame: pd.DataFrame, names: Sequence[str]) -> Any:
    """Pieces of these columns, as `TableForm.encode` reads them."""
    table = Table.of_frame(frame, "the data frame")
    table.require(names)
    return table.pieces({name: form.kinds[name] for name in names},
                        on_empty_cells="fill" if form.fills(None) else "raise",
                        optional=[form.options.label, form.options.group], may_skip=False)


def cell_of(row: Mapping[str, Any], name: str) -> Any:
    """A cell of a row, None if there is no such column; names that are no texts count as written."""
    return row[name] if name in row else next((cell for key, cell in row.items() if str(key) == name), None)


def as_list(rows: Any) -> list[Mapping[str, Any]]:
    """A dict as a list of one; raises unless every row is a dict."""
    if isinstance(rows, Mapping):
        return [rows]
    if isinstance(rows, (str, bytes)) or not isinstance(rows, Sequence):
        raise ArgumentError(f"rows must be {KINDS}, got {type(rows).__name__}")
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise ArgumentError(f"rows must be {KINDS}; row {number:,} of this list is a {type(row).__name__}")
    if not rows:
        raise ArgumentError(f"rows must be {KINDS} with at least one row, got an empty list")
    return list(rows)
