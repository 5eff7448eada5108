"""Tables in pieces: a data frame or a CSV file, with every cell checked on the way."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from aranyani_tf.arguments import require_choice
from aranyani_tf.rows import LARGEST

PIECE = 16_384  # rows


class Table:
    """A table to walk through as often as needed, one piece in memory at a time.

    A piece has numbers as float64 and categories as texts, and no empty cell.

    Args:
        source: what messages call it.
        walk: function without arguments, gives an iterator over data frames.
        first: the first piece; it settles which columns hold numbers.
        categorical: columns that hold categories though they look like numbers.
        on_empty_cells: "raise", or "skip" to leave out rows with an empty cell.
    """

    def __init__(self, source, walk, first, *, categorical=(), on_empty_cells="raise"):
        require_choice("on_empty_cells", on_empty_cells, ("raise", "skip"))
        self.source, self.walk, self.on_empty_cells = source, walk, on_empty_cells
        self.columns = list(map(str, first.columns))
        twice = {name for name in self.columns if self.columns.count(name) > 1}
        if twice:
            raise ValueError(f"{source} has more than one column {', '.join(map(repr, sorted(twice)))}")
        if not len(first):
            raise ValueError(f"{source} has no rows")
        categorical = names(categorical)
        self.require(categorical)
        first = first.set_axis(self.columns, axis=1)
        self.times = {name for name in self.columns if first[name].dtype.kind in "mM"}
        self.categories = {name for name in self.columns
                           if name in categorical or not pd.api.types.is_numeric_dtype(first[name])}
        for name in self.categories - set(categorical) - self.times:
            self.refuse_if_nearly_numbers(first[name])

    @classmethod
    def of_frame(cls, frame, source, **options):
        if not isinstance(frame, pd.DataFrame):
            raise TypeError(f"a pandas DataFrame is needed, got {type(frame).__name__}")
        frame = frame.infer_objects()

        def walk():
            for start in range(0, len(frame), PIECE):
                yield frame.iloc[start : start + PIECE]

        return cls(source, walk, frame[:PIECE], **options)

    @classmethod
    def of_csv(cls, path, *, separator=",", empty=(), **options):
        path = Path(path)
        if not path.is_file():
            raise FileNotFoundError(f"there is no file {path}")

        def read(types=None):
            try:
                # Only an empty cell is empty: "NA" is a word, and Namibia's country code. Rows with more
                # fields than the header has names are refused: index_col=False, and its warning an error.
                with warnings.catch_warnings(), pd.read_csv(
                        path, sep=separator, dtype=types, chunksize=PIECE, skipinitialspace=True, index_col=False,
                        keep_default_na=False, na_values=["", *names(empty)]) as pieces:
                    warnings.simplefilter("error", pd.errors.ParserWarning)
                    yield from pieces
            except Exception as error:  # pandas, decoders and unpackers: many kinds
                raise ValueError(f"{path} cannot be read as a CSV file in UTF-8: {error}") from error

        first = next(read(), pd.DataFrame())
        table = cls(str(path), None, first, **options)
        # Types are settled: a category such as 01 must not turn into a number in a later piece.
        table.walk = lambda: read(dict.fromkeys(table.categories, str))
        return table

    def require(self, wanted):
        """Raises unless there is a column of each name."""
        for name in wanted:
            if name not in self.columns:
                raise ValueError(f"no column {name!r} in {self.source}; there are: {', '.join(self.columns)}")

    def refuse_if_nearly_numbers(self, column):
        """A column of numbers with a word in it is an accident, not a column of categories."""
        texts = column[column.notna() & (column.astype(str) != "")]
        wrong = pd.to_numeric(texts, errors="coerce").isna().to_numpy()
        if 0 < wrong.mean() < 0.5:
            raise ValueError(
                f"column {column.name!r} of {self.source} holds numbers, but also {str(texts[wrong].iloc[0])!r}; mend "
                f"it, or pass categorical=[{column.name!r}]. A word that stands for an empty cell of a CSV file can "
                "be named with empty=['NA']")

    def pieces(self, columns):
        """The pieces of these columns; afterwards `num_skipped` rows were left out."""
        start, self.num_skipped = 0, 0
        for piece in self.walk():
            good = self.checked(piece.set_axis(self.columns, axis=1)[columns], start)
            start += len(piece)
            self.num_skipped += len(piece) - len(good)
            if len(good):
                yield good

    def checked(self, piece, start):
        cells, empty = {}, {}
        for name, column in piece.items():
            where = f"column {name!r} of {self.source}"
            if name in self.times:
                raise ValueError(f"{where} holds times; turn them into numbers, or leave it out with "
                                 f"exclude=[{name!r}]")
            if name in self.categories:
                cells[name] = as_texts(column)
                empty[name] = (column.isna() | (cells[name] == "")).to_numpy()
                continue
            numbers = pd.to_numeric(column, errors="coerce").to_numpy("float64", na_value=np.nan)
            cells[name], empty[name] = numbers, column.isna().to_numpy()
            wrong = ~(np.abs(numbers) < LARGEST) & ~empty[name]
            if wrong.any():
                row = int(np.argmax(wrong))
                raise ValueError(f"row {start + row:,}: {where} is {str(column.iloc[row])!r}, not a number of less "
                                 f"than {LARGEST:.0e}; mend it, or pass categorical=[{name!r}] if it holds categories")
        bad = np.any(list(empty.values()), axis=0)
        if bad.any() and self.on_empty_cells == "raise":
            row = int(np.argmax(bad))
            name = next(name for name in empty if empty[name][row])
            raise ValueError(f"row {start + row:,}: column {name!r} of {self.source} is empty; fill it in, or pass "
                             "on_empty_cells='skip' to leave out such rows")
        piece = pd.DataFrame(cells, index=piece.index)
        return piece[~bad] if bad.any() else piece


def names(given):
    """One name or several, as texts."""
    return [given] if isinstance(given, str) else list(map(str, given))


def as_texts(column):
    if isinstance(column.dtype, pd.CategoricalDtype):  # each category once, not each row
        categories = column.cat.categories.astype(str)
        return pd.Series(categories.to_numpy(object)[column.cat.codes.to_numpy()], index=column.index)
    return column.astype(str)
