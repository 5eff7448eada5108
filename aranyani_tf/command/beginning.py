"""How a run begins: what is in the table, and the model for it."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from aranyani_tf.command.checked_rows import FEW, CheckedRows, Texts
from aranyani_tf.command.source import Source
from aranyani_tf.errors import ArgumentError, TableError
from aranyani_tf.streams.cells import READERS
from aranyani_tf.streams.label_codes import Codes
from aranyani_tf.streams.table_form import TableForm
from aranyani_tf.streams.table_options import TableOptions
from aranyani_tf.streams.table_reader import Table


def form_of(source: Source, options: TableOptions, *, on_bad_rows: str, labels: Sequence[str] | None = None,
            groups: Sequence[str] | None = None) -> TableForm:
    """The form of a table.

    With `preprocessing="online"` its first piece says which columns, labels and groups there are, and everything else
    comes with the rows. The others look through all rows first.

    Args:
        labels, groups: their values, in the order of their codes; None to look for them.
    """
    online = options.preprocessing == "online"
    if source.only_once and not online:
        raise ArgumentError(f"preprocessing='{options.preprocessing}' looks through all rows before it encodes the "
                            f"first, and {source.name} can be read only once; write it to a file, or pass "
                            "preprocessing='online'")
    first = source.first()
    frame = (Texts(options).as_frame(first.columns, options.categorical) if source.is_text
             else pd.DataFrame({name: likely(cells) for name, cells in first.columns.items()}))
    form = TableForm.of_table(Table.of_frame(frame, source.name), options)
    rows = CheckedRows(form, source, on_bad_rows)
    given = {codes.column: names for codes, names in ((form.labels, labels), (form.groups, groups)) if codes and names}
    for codes in form.coded:
        if codes.column in given:
            codes.values = named(codes, form.kinds[codes.column], given[codes.column])
    found = [codes for codes in form.coded if codes.column not in given]
    num_rows = 0
    for piece in [rows.checked(first, codes_are_known=False).piece] if online else looked_through(rows):
        num_rows += len(piece)
        form.encoder.observe(piece)
        for codes in found:
            codes.observe(piece)
    if not num_rows:
        raise TableError(f"no row of {source.name} can be used")
    settle(found, num_rows if online else None)
    form.encoder.settle()
    return form


def looked_through(rows: CheckedRows) -> Any:
    return (rows.checked(raw, codes_are_known=False).piece for raw in rows.source.read())


def likely(cells: Any) -> Any:
    """A column of values of which a few are words, as if those were not there: their rows are bad ones."""
    column = pd.Series(cells)
    if column.dtype != object:
        return column
    words = column.map(lambda cell: isinstance(cell, str)).to_numpy(bool)
    return column.mask(words) if 0 < words.sum() <= FEW * column.notna().sum() else column


def named(codes: Codes, kind: str, names: Sequence[str]) -> list[Any]:
    """Values of a label or a group as they were named."""
    values = [READERS[kind](name.strip(), codes.column) for name in names]
    if len(set(values)) != len(values) or len(values) < 2:
        raise ArgumentError(f"--{codes.role}s must name at least two values of {codes.column!r}, each once; got "
                            f"{','.join(names)}")
    return values


def settle(found: Sequence[Codes], num_rows: int | None) -> None:
    """Sorts the values that were found; `num_rows` if these are of the first rows alone."""
    for codes in found:
        try:
            codes.settle()
        except TableError as error:
            if num_rows is None:
                raise
            raise TableError(f"{error} in the first {num_rows:,} rows. Name its values, those that come later too: "
                             f"--{codes.role}s A,B") from None
