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

from aranyani_tf.arguments import require_choice
from aranyani_tf.errors import TableError
from aranyani_tf.streams.column_kinds import CATEGORIES, TIMES
from aranyani_tf.streams.encoding import TableEncoder, Unknown
from aranyani_tf.streams.label_codes import Codes
from aranyani_tf.streams.table_options import TableOptions
from aranyani_tf.streams.table_reader import Table
from aranyani_tf.streams.table_report import report

IN_MEMORY = 2**30  # bytes of features


class TableForm:
    """How the columns of a table become labels, groups and features, and so do further rows.

    It holds no rows, and can be pickled beside a saved model.
    """

    def __init__(self, table: Table, options: TableOptions) -> None:
        label, group = options.label, options.group
        table.require([label, group, *options.exclude, *options.categorical])
        left_out = {label, *options.exclude, *([group] if options.drop_group else [])}
        columns = [name for name in table.columns if name not in left_out]
        if not columns:
            raise TableError(f"{table.source} has no column left for the features")
        self.options = options
        self.kinds = table.kinds(dict.fromkeys([*columns, group, label]), options.categorical)
        self.groups = Codes("group", group, options.num_groups)
        self.labels = None if options.num_labels == 1 else Codes("label", label, options.num_labels)
        for codes in self.coded:
            if self.kinds[codes.column] == TIMES:  # its values are names
                self.kinds[codes.column] = CATEGORIES
        if self.labels is None and self.kinds[label] == CATEGORIES:
            raise TableError(f"label column {label!r} must hold numbers for regression (num_labels=1)")
        categories = [name for name in columns if self.kinds[name] == CATEGORIES]
        self.encoder = TableEncoder(options, columns=columns, categories=categories)

    @property
    def coded(self) -> list[Codes]:
        """The columns that become codes; a label that is a number is none of them."""
        return [codes for codes in (self.labels, self.groups) if codes is not None]

    @property
    def num_labels(self) -> int:
        return 1 if self.labels is None else self.labels.count

    @property
    def num_groups(self) -> int:
        return self.groups.count

    def pieces(self, table: Table, options: TableOptions) -> Iterator[pd.DataFrame]:
        """Pieces of all columns that are used; a label or a group may be missing."""
        return table.pieces(self.kinds, on_empty_cells=options.on_empty_cells,
                            optional=(options.label, options.group))

    def learn(self, table: Table) -> int:
        """The first pass: which labels, groups, categories and scales there are. Gives the number of rows."""
        num_rows = 0
        parts: list[TableEncoder | Codes] = [self.encoder, *self.coded]
        for piece in with_progress(self.pieces(table, self.options), f"looking through {table.source}"):
            num_rows += len(piece)
            for part in parts:
                part.observe(piece)
        if num_rows:
            for part in parts:
                part.settle()
        return num_rows

    def encode(self, frame: pd.DataFrame, on_empty_cells: str | None = None) -> np.ndarray:
        """Features (row, feature) that further rows would have; only the columns of features are needed.

        Args:
            on_empty_cells: "raise", or "fill" for the mean of the column (no category, if one-hot); None does
                what the stream did, and raises where that left out rows.
        """
        if on_empty_cells is None:
            on_empty_cells = "fill" if self.options.on_empty_cells == "fill" else "raise"
        require_choice("on_empty_cells", on_empty_cells, ("raise", "fill"))
        table = Table.of_frame(frame, "the data frame")
        table.require(self.encoder.columns)
        kinds = {name: self.kinds[name] for name in self.encoder.columns}
        # An online encoder moves with the rows; these have not arrived yet.
        encoder = copy.deepcopy(self.encoder) if self.encoder.online else self.encoder
        unknown: Unknown = {}
        features = [encoder.encode(piece, unknown) for piece in table.pieces(
            kinds, on_empty_cells=on_empty_cells, optional=[self.options.group], may_skip=False)]
        warn_of_unknown(unknown, table, stacklevel=3)
        return np.concatenate(features)

    def rows(self, table: Table, options: TableOptions, num_rows: int) -> dict[str, Any]:
        """The second pass: keyword arguments of a `Stream`. Nothing changes here if a row is refused."""
        after = copy.deepcopy(self)
        rows = {"features": empty_rows(num_rows, len(self.encoder.feature_names)),
                "labels": np.empty(num_rows, "float32" if self.labels is None else "int32"),
                "groups": np.empty(num_rows, "int32")}
        start = 0
        empty: Counter[str] = Counter()
        unknown: Unknown = {}
        for piece in with_progress(self.pieces(table, options), f"reading {table.source}", num_rows):
            here = slice(start, start := start + len(piece))
            require_unchanged(table, start <= num_rows)
            rows["features"][here] = after.encoder.encode(piece, unknown)
            rows["labels"][here] = piece[options.label] if after.labels is None else after.labels.encode(piece)
            rows["groups"][here] = after.groups.encode(piece)
            empty.update(piece.isna().sum().to_dict())
        require_unchanged(table, start == num_rows)
        warn_of_unknown(unknown, table, stacklevel=5)
        self.encoder, self.labels, self.groups = after.encoder, after.labels, after.groups
        return rows | {"feature_names": self.encoder.feature_names, "group_names": self.groups.names,
                       "label_names": self.labels and self.labels.names, "form": self,
                       "report": report(table.columns, self, empty,
                                        {name: count for name, (count, _) in unknown.items()}),
                       "reorderable": not self.encoder.online}


def rows_of_table(table: Table, options: TableOptions) -> dict[str, Any]:
    """Keyword arguments of a `Stream`, from a table that has not been seen before."""
    form = TableForm(table, options)
    return form.rows(table, options, require_rows(table, form.learn(table)))


def rows_like(table: Table, form: TableForm, options: TableOptions) -> dict[str, Any]:
    """Keyword arguments of a `Stream`, from more rows of a table that is known."""
    table.require(form.kinds)
    return form.rows(table, options, require_rows(table, sum(map(len, form.pieces(table, options)))))


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


def warn_of_unknown(unknown: Unknown, table: Table, stacklevel: int) -> None:
    if unknown:
        found = "; ".join(f"{name!r}: {count:,} cells, the first {value!r}"
                          for name, (count, value) in unknown.items())
        warnings.warn(f"{table.source} has categories that were not there before, and no feature stands for them: "
                      f"{found}", stacklevel=stacklevel)


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
