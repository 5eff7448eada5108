"""Tables in pieces: a data frame, a CSV file or a Parquet file, with every cell checked on the way."""

import os
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from aranyani_tf.errors import ArgumentError, TableError
from aranyani_tf.streams.column_kinds import CATEGORIES, NUMBERS, as_kind, kind_of
from aranyani_tf.streams.table_options import TableOptions

Read = Callable[[Mapping[str, str]], Iterator[pd.DataFrame]]
PIECE = 16_384  # rows
# Types of pandas in which a number beside an empty cell stays what it is, and is not rounded to a float.
WITH_GAPS = {getattr(pa, f"{kind}{bits}")(): getattr(pd, f"{name}{bits}Dtype")()
             for kind, name in (("int", "Int"), ("uint", "UInt")) for bits in (8, 16, 32, 64)}
WITH_GAPS[pa.bool_()] = pd.BooleanDtype()


class Table:
    """A table to walk through as often as needed, one piece in memory at a time.

    Args:
        source: what messages call it.
        read: function of the kinds of the columns, as far as they are known; gives an iterator over data frames.
        decimal: how a text would be written if it were a number.
    """

    def __init__(self, source: str, read: Read, decimal: str = ".") -> None:
        self.source, self.read, self.decimal = source, read, decimal
        self.first = next(read({}), pd.DataFrame())  # settles which columns hold numbers
        self.columns = list(map(str, self.first.columns))
        refuse_half_characters(self.columns, source)
        self.first = self.first.set_axis(self.columns, axis=1)
        self.num_skipped = 0
        refuse_twice(self.columns, source)
        if not len(self.first):
            raise TableError(f"{source} has no rows")

    @classmethod
    def of_frame(cls, frame: pd.DataFrame, source: str) -> Self:
        if not isinstance(frame, pd.DataFrame):
            raise ArgumentError(f"a pandas DataFrame is needed, got {type(frame).__name__}")

        def read(kinds: Mapping[str, str]) -> Iterator[pd.DataFrame]:
            for start in range(0, len(frame), PIECE):
                yield frame.iloc[start : start + PIECE]

        return cls(source, read)

    @classmethod
    def of_csv(cls, path: str | os.PathLike, options: TableOptions) -> Self:
        # Only an empty cell is empty: "NA" is a word, and Namibia's country code.
        settings = {"sep": options.separator, "skipinitialspace": True, "keep_default_na": False,
                    "na_values": ["", *options.empty], "index_col": False}

        def read(kinds: Mapping[str, str]) -> Iterator[pd.DataFrame]:
            # Types are settled: a category such as 01 must not turn into a number in a later piece. Rows with
            # more fields than the header has names are refused: index_col=False, and its warning an error.
            types = {name: str for name, kind in kinds.items() if kind != NUMBERS}
            with readable(path, "CSV file in UTF-8"), warnings.catch_warnings(), pd.read_csv(
                    path, dtype=types, chunksize=PIECE, decimal=options.decimal, dtype_backend="numpy_nullable",
                    **settings) as pieces:
                warnings.simplefilter("error", pd.errors.ParserWarning)
                yield from pieces

        require_file(path)
        with readable(path, "CSV file in UTF-8"):  # pandas would call a second `y` y.1, and make a feature of it
            header = pd.read_csv(path, header=None, nrows=1, dtype=str,
                                 **(settings | {"na_values": [""]})).iloc[0]
        refuse_twice(list(header.dropna()), str(path))
        return cls(str(path), read, options.decimal)

    @classmethod
    def of_parquet(cls, path: str | os.PathLike) -> Self:
        def read(kinds: Mapping[str, str]) -> Iterator[pd.DataFrame]:
            with readable(path, "Parquet file"), pq.ParquetFile(path) as file:
                for batch in file.iter_batches(PIECE):
                    yield batch.to_pandas(types_mapper=WITH_GAPS.get, date_as_object=False)

        require_file(path)
        return cls(str(path), read)

    @classmethod
    def of(cls, source: pd.DataFrame | str | os.PathLike, options: TableOptions) -> Self:
        """Of a data frame, or of a file that the end of its name tells the kind of."""
        if isinstance(source, pd.DataFrame):
            return cls.of_frame(source, "the data frame")
        require_file(source)
        if Path(source).suffix in (".parquet", ".pq"):
            return cls.of_parquet(source)
        return cls.of_csv(source, options)

    def require(self, wanted: Iterable[str]) -> None:
        """Raises unless there is a column of each name."""
        for name in wanted:
            if name not in self.columns:
                raise TableError(f"no column {name!r} in {self.source}; there are: {', '.join(self.columns)}")

    def kinds(self, names: Iterable[str], categorical: Collection[str] = ()) -> dict[str, str]:
        """The kind of each of these columns, by the first piece."""
        return {name: CATEGORIES if name in categorical else kind_of(self.first[name], self.source, self.decimal)
                for name in names}

    def pieces(self, kinds: Mapping[str, str], *, on_empty_cells: str, optional: Collection[str] = (),
               may_skip: bool = True) -> Iterator[pd.DataFrame]:
        """The pieces of these columns, indexed by the number of the row; `num_skipped` rows were left out afterwards.

        Numbers and times are float64, categories texts; empty cells are NaN.

        Args:
            kinds: dict from columns to kinds.
            on_empty_cells: "raise", "skip" to leave out rows with an empty cell, or "fill" to let them be.
            optional: columns of which "raise" lets empty cells be.
            may_skip: whether messages may advise to skip.
        """
        start, self.num_skipped = 0, 0
        looked_at: dict[str, list[str]] = {
            "raise": [name for name in kinds if name not in optional], "skip": list(kinds), "fill": []}
        for piece in self.read(kinds):
            piece = piece.set_axis(self.columns, axis=1)
            cells = {name: as_kind(piece[name], kind, self.source, start) for name, kind in kinds.items()}
            piece = pd.DataFrame(cells, index=pd.RangeIndex(start, start + len(piece)))
            empty = piece[looked_at[on_empty_cells]].isna()
            bad = empty.any(axis=1).to_numpy(bool)
            if bad.any() and on_empty_cells == "raise":
                row = int(bad.argmax())
                name = empty.columns[empty.iloc[row]][0]
                advice = "on_empty_cells='skip' to leave out such rows, or " if may_skip else ""
                raise TableError(f"row {start + row:,}: column {name!r} of {self.source} is empty; fill it in, or pass "
                                 f"{advice}on_empty_cells='fill' for the mean of its column (no category, if one-hot)")
            start += len(piece)
            self.num_skipped += int(bad.sum())
            if not bad.all():
                yield piece[~bad] if bad.any() else piece


def refuse_twice(names: Iterable[str], source: str) -> None:
    names = [name.strip() for name in names]  # "y " beside "y" would be the label as a feature
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TableError(f"{source} has more than one column {', '.join(map(repr, twice))}")


def refuse_half_characters(names: Iterable[str], source: str) -> None:
    """A surrogate code point alone is no text: no file could keep it."""
    for name in names:
        if any("\ud800" <= mark <= "\udfff" for mark in name):
            raise TableError(f"{source} has a column {name!r}, whose name is no text; rename it")


def require_file(path: Any) -> None:
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentError(f"the path of a CSV or Parquet file is needed, got {type(path).__name__}")
    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no file {path}")


@contextmanager
def readable(path: str | os.PathLike, what: str) -> Iterator[None]:
    """Errors of pandas, pyarrow, decoders and unpackers, of many kinds, as one."""
    try:
        yield
    except Exception as error:
        raise TableError(f"{path} cannot be read as a {what}: {error}") from error
