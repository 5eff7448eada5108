"""From a table to the rows of a stream: labels and groups as codes, columns as features, and a report.

Two passes over the pieces of the table: the first learns which labels, groups, categories and scales
there are, the second writes the rows. Memory holds one piece at a time, and the result while it is
small; a large result lies in a temporary file.
"""

import copy
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from aranyani_tf.errors import TableError
from aranyani_tf.streams.encoding import TableEncoder, Unknown, warn_of_unknown
from aranyani_tf.streams.label_codes import Codes
from aranyani_tf.streams.table_form import TableForm
from aranyani_tf.streams.table_options import TableOptions
from aranyani_tf.streams.table_reader import Table
from aranyani_tf.streams.table_report import report

IN_MEMORY = 2**30  # bytes of features


def pieces_of(form: TableForm, table: Table, options: TableOptions) -> Iterator[pd.DataFrame]:
    """Pieces of all columns that are used; a label or a group may be missing."""
    return table.pieces(form.kinds, on_empty_cells=options.on_empty_cells,
                        optional=(options.label, options.group))


def learn(form: TableForm, table: Table) -> int:
    """The first pass: which labels, groups, categories and scales there are. Gives the number of rows."""
    num_rows = 0
    parts: list[TableEncoder | Codes] = [form.encoder, *form.coded]
    for piece in with_progress(pieces_of(form, table, form.options), f"looking through {table.source}"):
        num_rows += len(piece)
        for part in parts:
            part.observe(piece)
    if num_rows:
        for part in parts:
            part.settle()
    return num_rows


def rows_of(form: TableForm, table: Table, options: TableOptions, num_rows: int) -> dict[str, Any]:
    """The second pass: keyword arguments of a `Stream`. Nothing changes here if a row is refused."""
    after = copy.deepcopy(form)
    rows = {"features": empty_rows(num_rows, len(form.encoder.feature_names)),
            "labels": np.empty(num_rows, "float32" if form.labels is None else "int32"),
            "groups": np.empty(num_rows, "int32")}
    start = 0
    empty: Counter[str] = Counter()
    unknown: Unknown = {}
    for piece in with_progress(pieces_of(form, table, options), f"reading {table.source}", num_rows):
        here = slice(start, start := start + len(piece))
        require_unchanged(table, start <= num_rows)
        rows["features"][here] = after.encoder.encode(piece, unknown)
        rows["labels"][here] = piece[options.label] if after.labels is None else after.labels.encode(piece)
        rows["groups"][here] = after.groups.encode(piece)
        empty.update(piece.isna().sum().to_dict())
    require_unchanged(table, start == num_rows)
    warn_of_unknown(unknown, table.source, stacklevel=5)
    form.encoder, form.labels, form.groups = after.encoder, after.labels, after.groups
    return rows | {"feature_names": form.encoder.feature_names, "group_names": form.group_names,
                   "label_names": form.label_names, "form": form,
                   "report": report(table.columns, form, empty,
                                    {name: count for name, (count, _) in unknown.items()}),
                   "reorderable": not form.encoder.online}


def rows_of_table(table: Table, options: TableOptions) -> dict[str, Any]:
    """Keyword arguments of a `Stream`, from a table that has not been seen before."""
    form = TableForm.of_table(table, options)
    return rows_of(form, table, options, require_rows(table, learn(form, table)))


def rows_like(table: Table, form: TableForm, options: TableOptions) -> dict[str, Any]:
    """Keyword arguments of a `Stream`, from more rows of a table that is known."""
    table.require(form.kinds)
    return rows_of(form, table, options, require_rows(table, sum(map(len, pieces_of(form, table, options)))))


def require_rows(table: Table, num_rows: int) -> int:
    """Tells of rows that were left out, and raises if that was all of them."""
    if num_rows == 0:
        raise TableError(f"every row of {table.source} has an empty cell")
    if table.num_skipped:
        warnings.warn(f"left out {table.num_skipped:,} rows of {table.source} with an empty cell; {num_rows:,} remain",
                      stacklevel=4)
    return num_rows


def require_unchanged(table: Table, is_so: bool) -> None:
    """Raises unless the second pass finds the rows of the first: the others would be whatever was in memory."""
    if not is_so:
        raise TableError(f"{table.source} changed while it was read; try again")


def with_progress(pieces: Iterable[pd.DataFrame], what: str,
                  num_rows: int | None = None) -> Iterator[pd.DataFrame]:
    """The pieces, with a bar if they take longer than three seconds."""
    with tqdm(desc=what, total=num_rows, unit="row", unit_scale=True, delay=3) as bar:
        for piece in pieces:
            yield piece
            bar.update(len(piece))


def empty_rows(num_rows: int, num_features: int) -> np.ndarray:
    """Room for the features: in memory, or in a file that vanishes with the array."""
    shape = (num_rows, num_features)
    if 4 * num_rows * num_features <= IN_MEMORY:
        return np.empty(shape, "float32")
    return np.memmap(tempfile.TemporaryFile(), "float32", "w+", shape=shape)
