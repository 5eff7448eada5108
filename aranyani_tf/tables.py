"""Tables in pieces: a data frame or a CSV file, with every cell checked on the way."""

from pathlib import Path

import numpy as np
import pandas as pd

from aranyani_tf.arguments import require_choice

PIECE = 16_384  # rows


class Table:
    """A table to walk through as often as needed, one piece in memory at a time.

    Args:
        source: what messages call it.
        walk: function without arguments, gives an iterator over data frames.
        first: the first piece; it settles which columns hold numbers.
        categorical: columns that hold categories though they look like numbers.
        on_empty_cells: "raise", or "skip" to leave out rows with an empty cell.
    """

    def __init__(self, source, walk, first, *, categorical=(), on_empty_cells="raise"):
        require_choice("on_empty_cells", on_empty_cells, ("raise", "skip"))
        if not len(first):
            raise ValueError(f"{source} has no rows")
        self.source, self.walk, self.on_empty_cells = source, walk, on_empty_cells
        self.columns = list(first.columns)
        self.require(categorical)
        self.categories = {name for name in self.columns
                           if name in set(categorical) or not pd.api.types.is_numeric_dtype(first[name])}
        self.times = {name for name in self.columns if first[name].dtype.kind in "mM"}

    @classmethod
    def of_frame(cls, frame, source, **options):
        def walk():
            for start in range(0, len(frame), PIECE):
                yield frame.iloc[start : start + PIECE]

        return cls(source, walk, frame[:PIECE], **options)

    @classmethod
    def of_csv(cls, path, *, separator=",", **options):
        path = Path(path)
        if not path.is_file():
            raise FileNotFoundError(f"there is no file {path}")

        def read(types=None):
            # Only an empty cell is empty: "NA" is a word, and Namibia's country code.
            try:
                with pd.read_csv(path, sep=separator, dtype=types, chunksize=PIECE, skipinitialspace=True,
                                 keep_default_na=False, na_values=[""]) as pieces:
                    yield from pieces
            except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError, EOFError,
                    OSError) as error:
                raise ValueError(f"{path} cannot be read as a CSV file: {error}") from error

        first = next(read(), pd.DataFrame())
        table = cls(str(path), None, first, **options)
        # Types are settled: a category such as 01 must not turn into a number in a later piece.
        table.walk = lambda: read(dict.fromkeys(table.categories, str))
        return table

    def require(self, names):
        """Raises unless there is a column of each name."""
        for name in names:
            if name not in self.columns:
                raise ValueError(f"no column {name!r} in {self.source}; there are: "
                                 f"{', '.join(map(str, self.columns))}")

    def pieces(self, columns):
        """The pieces of these columns, with numbers as numbers and without empty cells."""
        start = 0
        for piece in self.walk():
            good = self.checked(piece[columns], start)
            start += len(piece)
            if len(good):
                yield good

    def checked(self, piece, start):
        empty = piece.isna().to_numpy()
        for column, name in enumerate(piece.columns):
            if name in self.times:
                raise ValueError(f"column {name!r} of {self.source} holds times; turn them into numbers, or "
                                 f"leave it out with exclude=[{name!r}]")
            if name not in self.categories:
                numbers = pd.to_numeric(piece[name], errors="coerce")
                wrong = ~np.isfinite(numbers.to_numpy("float64")) & ~empty[:, column]
                if wrong.any():
                    row = int(np.argmax(wrong))
                    raise ValueError(
                        f"row {start + row:,} of {self.source}: column {name!r} is {str(piece[name].iloc[row])!r}, "
                        f"not a finite number; mend it, or pass categorical=[{name!r}] if it holds categories")
                piece = piece.assign(**{name: numbers})
        bad = empty.any(axis=1)
        if bad.any() and self.on_empty_cells == "raise":
            row = int(np.argmax(bad))
            name = piece.columns[int(np.argmax(empty[row]))]
            raise ValueError(f"row {start + row:,} of {self.source}: column {name!r} is empty; fill it in, or pass "
                             "on_empty_cells='skip' to leave out such rows")
        return piece[~bad] if bad.any() else piece
