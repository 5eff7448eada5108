"""Raw cells become rows of a known table, and rows that cannot be used are set aside, each with its reason.

The rules are those of `streams`: what is refused there is a bad row here, so that one of them does not end a stream.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from aranyani_tf.command.raw_piece import RawPiece
from aranyani_tf.command.source import Source
from aranyani_tf.errors import TableError
from aranyani_tf.streams.cells import READERS
from aranyani_tf.streams.column_kinds import CATEGORIES, NUMBERS, as_kind
from aranyani_tf.streams.row_rules import LARGEST
from aranyani_tf.streams.table_form import TableForm
from aranyani_tf.streams.table_options import TableOptions

FEW = 0.05  # the share of other words in a column of numbers that are taken for accidents


class Rows(NamedTuple):
    """Rows that can be used, and what became of the others."""

    piece: pd.DataFrame  # float64 and texts, NaN if empty; indexed by the number of the row
    num_bad: int
    first_bad: str | None  # a sentence about the first of them
    end: int  # rows of the source up to here


class Texts:
    """Cells of a text file as what they mean, by the options of the table.

    Args:
        options: decimal and empty are those that count here.
    """

    def __init__(self, options: TableOptions) -> None:
        self.decimal, self.empty = options.decimal, {"", *options.empty}

    def cells(self, column: np.ndarray) -> np.ndarray:
        """Texts, NaN where empty."""
        if self.empty.isdisjoint(column):
            return column
        empty = self.empty
        return np.array([np.nan if cell in empty else cell for cell in column], object)

    def numbers(self, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """float64, NaN where empty or no number; and where that is for no number."""
        if self.decimal == ".":
            try:  # all at once, as it nearly always is
                numbers = np.array(list(map(float, column)))
                if (np.abs(numbers) < LARGEST).all() and "_" not in "".join(column):
                    return numbers, np.zeros(len(numbers), bool)
            except ValueError:
                pass
        found = [self.number(cell) for cell in column]
        return np.array([0.0 if each is None else each for each in found]), np.array([each is None for each in found])

    def number(self, cell: str) -> float | None:
        """A number, NaN for an empty cell, None for what is neither."""
        if cell in self.empty:
            return float("nan")
        if self.decimal != ".":  # a point would be a thousands mark
            cell = cell.replace(".", "_").replace(self.decimal, ".")
        try:
            number = float(cell)
        except ValueError:
            return None
        return number if abs(number) < LARGEST and "_" not in cell else None  # which Python would let pass

    def as_frame(self, columns: Mapping[str, np.ndarray], categorical: tuple[str, ...]) -> pd.DataFrame:
        """With columns of numbers as such, also where a few cells are none: a first look at a file.

        Args:
            categorical: columns that stay texts.
        """
        found = {}
        for name, column in columns.items():
            numbers, wrong = self.numbers(column)
            texts = pd.Series(self.cells(column), dtype=str)
            filled = texts.notna().sum()
            is_number = filled and name not in categorical and wrong.sum() <= FEW * filled
            found[name] = np.where(wrong, np.nan, numbers) if is_number else texts
        return pd.DataFrame(found)


class CheckedRows:
    """The pieces of a source as rows of a table that is known.

    Args:
        form: the table's.
        source: where they come from.
        on_bad_rows: "raise" or "skip".
    """

    def __init__(self, form: TableForm, source: Source, on_bad_rows: str) -> None:
        self.form, self.source, self.on_bad_rows = form, source, on_bad_rows
        self.texts = Texts(form.options)
        fills = form.options.on_empty_cells == "fill"
        self.never_empty = [] if fills else [name for name in form.encoder.columns if name != form.options.group]

    def read(self, offset: int = 0) -> Iterator[Rows]:
        """Everything after so many rows."""
        for raw in self.source.read(offset):
            yield self.checked(raw)

    def checked(self, raw: RawPiece, codes_are_known: bool = True) -> Rows:
        """The rows of one piece; raises about the first bad one unless they are skipped.

        Args:
            codes_are_known: False while the values of the label and the group are being collected.
        """
        require_columns(self.form.kinds, raw.columns, self.source.name)
        problems: dict[int, str] = {}  # by place
        cells = {name: self.cells(raw, name, kind, problems) for name, kind in self.form.kinds.items()}
        # As objects, or else pandas would make a type of its own of every column of texts, which takes longer.
        piece = pd.DataFrame({name: pd.Series(each, raw.numbers, each.dtype) for name, each in cells.items()})
        self.look_for_empty(piece, problems)
        if codes_are_known:
            self.look_for_unknown(piece, problems)
        told = dict(raw.unreadable) | {int(raw.numbers[place]): what for place, what in problems.items()}
        first = told[min(told)] if told else None
        if first is not None and self.on_bad_rows == "raise":
            raise TableError(f"{first}. Mend the row, or pass on_bad_rows='skip'")
        if problems:
            piece = piece[~np.isin(np.arange(len(piece)), list(problems))]
        return Rows(piece, len(told), first, raw.end)

    def cells(self, raw: RawPiece, name: str, kind: str, problems: dict[int, str]) -> np.ndarray:
        """The cells of a column, NaN where they are empty or wrong."""
        column = raw.columns[name]
        if self.source.is_text and kind == CATEGORIES:
            return self.texts.cells(column)
        if self.source.is_text and kind == NUMBERS:
            numbers, wrong = self.texts.numbers(column)
            for place in np.flatnonzero(wrong):
                problems.setdefault(int(place), self.sentence(raw, name, kind, int(place)))
            return np.where(wrong, np.nan, numbers)
        try:
            return np.asarray(as_kind(pd.Series(column, name=name), kind, self.source.name))
        except TableError:
            return self.one_by_one(raw, name, kind, problems)

    def one_by_one(self, raw: RawPiece, name: str, kind: str, problems: dict[int, str]) -> np.ndarray:
        """A column in which something is wrong."""
        found = np.full(len(raw.numbers), np.nan, object if kind == CATEGORIES else "float64")
        for place, cell in enumerate(raw.columns[name]):
            try:
                found[place] = READERS[kind](None if cell is pd.NA else cell, name)
            except TableError:
                problems.setdefault(place, self.sentence(raw, name, kind, place))
        return found

    def sentence(self, raw: RawPiece, name: str, kind: str, place: int) -> str:
        wanted = "a number of a moderate size" if kind == NUMBERS else "a date such as 2024-05-31"
        return (f"row {raw.numbers[place]:,}: column {name!r} of {self.source.name} is "
                f"{str(np.asarray(raw.columns[name])[place])!r}, not {wanted}")

    def look_for_empty(self, piece: pd.DataFrame, problems: dict[int, str]) -> None:
        for name in self.never_empty:
            cells = piece[name].to_numpy()
            empty = cells != cells if cells.dtype == object else np.isnan(cells)  # sooner than pandas looks
            for place in np.flatnonzero(empty):
                problems.setdefault(int(place), f"row {piece.index[place]:,}: column {name!r} of {self.source.name} is "
                                                "empty; fill it in, or pass on_empty_cells='fill'")

    def look_for_unknown(self, piece: pd.DataFrame, problems: dict[int, str]) -> None:
        """Labels and groups that there is no code for."""
        for codes in self.form.coded:
            if len(codes.values) == codes.count:
                column = piece[codes.column]
                for place in np.flatnonzero(~column.isin(codes.values) & column.notna()):
                    problems.setdefault(int(place), str(codes.no_room(column.iloc[place],
                                                                      f"row {piece.index[place]:,}: ")))


def require_columns(wanted: Iterable[str], columns: Mapping[str, object], source: str) -> None:
    for name in wanted:
        if name not in columns:
            raise TableError(f"no column {name!r} in {source}; there are: {', '.join(columns)}")
