"""Rows as they lie in a file or come through a pipe: pieces of raw cells, one in memory at a time.

A source is always read from its beginning and cut in the same places, so that a run which goes on later meets the same
pieces. Rows that cannot even be read (a wrong number of fields, a line that is no JSON) are counted and told, not lost.
"""

import csv
import gzip
import io
import itertools
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from aranyani_tf.errors import ArgumentError, TableError
from aranyani_tf.streams.table_reader import WITH_GAPS, readable, refuse_twice, require_file

PIECE = 4096  # rows
FORMATS = ("csv", "jsonl", "parquet")
ENDINGS = {".csv": "csv", ".tsv": "csv", ".txt": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl",
           ".parquet": "parquet", ".pq": "parquet"}


class RawPiece(NamedTuple):
    """Some rows, before anything is known of their columns."""

    columns: dict[str, Any]  # name → cells (row,): texts of a CSV file, or a series of whatever the source has
    numbers: np.ndarray  # (row,), which rows of the source these are, from 0
    unreadable: list[tuple[int, str]]  # rows that are not among these: their numbers, and what is wrong
    end: int  # rows of the source up to here


Makers = Iterator[tuple[int, Callable[[], RawPiece]]]  # rows up to the end of a piece, and how to make it


class Source:
    """Something to read rows from.

    Args:
        name: what messages call it.
        cut: function without arguments, gives all pieces from the beginning.
        only_once: whether it can be read only once, as a pipe.
        is_text: whether cells are texts, as those of a CSV file are.
        share_read: function without arguments, gives the share that was read, from 0 to 1, or None if nobody knows.
    """

    def __init__(self, name: str, cut: Callable[[], Makers], *, only_once: bool = False, is_text: bool = False,
                 share_read: Callable[[], float | None] = lambda: None) -> None:
        self.name, self.cut, self.only_once = name, cut, only_once
        self.is_text, self.share_read = is_text, share_read
        self.begun: tuple[list, Makers] | None = None  # a pipe of which the first piece was looked at

    def first(self) -> RawPiece:
        """The first piece, which `read` will give again."""
        found, makers = self.begun or ([], self.cut())
        found = found or list(itertools.islice(makers, 1))
        if not found:
            raise TableError(f"{self.name} has no rows")
        if self.only_once:
            self.begun = found, makers
        return found[0][1]()

    def read(self, offset: int = 0) -> Iterator[RawPiece]:
        """The pieces after so many rows; those before are counted, and nothing is made of them."""
        found, makers = self.begun or ([], self.cut())
        self.begun, end = None, 0
        for end, make in itertools.chain(found, makers):
            if end > offset:
                yield without(make(), offset)
        if end < offset:
            raise TableError(f"{self.name} has {end:,} rows, and {offset:,} of it were read before: it is another one, "
                             "or was cut short")


def without(piece: RawPiece, offset: int) -> RawPiece:
    """A piece without the rows before the offset, of a file that was shorter then."""
    new = piece.numbers >= offset
    if new.all():
        return piece
    return RawPiece({name: cells[new] for name, cells in piece.columns.items()}, piece.numbers[new],
                    [each for each in piece.unreadable if each[0] >= offset], piece.end)


def open_source(path: str, kind: str | None = None, separator: str = ",") -> Source:
    """A file by its name, or standard input for "-"."""
    if path == "-":
        if kind == "parquet":
            raise ArgumentError("Parquet cannot be read from standard input: its directory is at the end of the file")
        return of_lines("standard input", kind or "csv", separator, from_pipe=True)
    require_file(path)
    kind = kind or kind_of_name(path)
    return of_parquet(path) if kind == "parquet" else of_lines(path, kind, separator)


def kind_of_name(path: str) -> str:
    ending = Path(path.removesuffix(".gz")).suffix.lower()
    if ending not in ENDINGS:
        raise ArgumentError(f"what kind of file {path} is cannot be told by its name; pass --format, one of "
                            f"{', '.join(FORMATS)}")
    return ENDINGS[ending]


def of_frame(frame: pd.DataFrame, name: str) -> Source:
    """Rows that are in memory, as those of a dataset."""
    given = [0]

    def cut() -> Makers:
        for start in range(0, len(frame), PIECE):
            here = frame.iloc[start : start + PIECE]
            given[0] = start + len(here)
            yield given[0], lambda here=here, start=start: of_columns(here, start)

    return Source(name, cut, share_read=lambda: given[0] / max(len(frame), 1))


def of_columns(frame: pd.DataFrame, start: int) -> RawPiece:
    refuse_twice(list(map(str, frame.columns)), "the table")
    columns = {str(name): column.reset_index(drop=True) for name, column in frame.items()}
    return RawPiece(columns, np.arange(start, start + len(frame)), [], start + len(frame))


def of_parquet(path: str) -> Source:
    read_so_far = [0, 1]  # rows, of how many

    def cut() -> Makers:
        end = 0
        with readable(path, "Parquet file"), pq.ParquetFile(path) as file:
            read_so_far[1] = max(file.metadata.num_rows, 1)
            for batch in file.iter_batches(PIECE):
                start, end = end, end + batch.num_rows
                read_so_far[0] = end
                yield end, lambda batch=batch, start=start: of_columns(
                    batch.to_pandas(types_mapper=WITH_GAPS.get, date_as_object=False), start)

    return Source(path, cut, share_read=lambda: read_so_far[0] / read_so_far[1])


def of_lines(path: str, kind: str, separator: str, from_pipe: bool = False) -> Source:
    """CSV or JSON lines, of a file, packed by gzip or not, or of standard input."""
    opened: list[IO[bytes]] = []  # the file as it lies on the disk

    def cut() -> Makers:
        raw = sys.stdin.buffer if from_pipe else open(path, "rb")
        opened[:] = [] if from_pipe else [raw]
        plain: Any = gzip.GzipFile(fileobj=raw) if path.endswith(".gz") else raw
        # What is no UTF-8 is kept as it is, and its rows told later; a mark at the beginning is not a name's.
        lines = io.TextIOWrapper(plain, "utf-8-sig", errors="surrogateescape", newline="")
        try:
            yield from csv_pieces(lines, separator, path) if kind == "csv" else json_pieces(lines)
        except (OSError, EOFError) as error:
            raise TableError(f"{path} cannot be read: {error}") from error
        finally:
            lines.detach()  # standard input is not ours to close
            if not from_pipe:
                raw.close()

    def share_read() -> float | None:
        return opened[0].tell() / max(os.stat(path).st_size, 1) if opened and not opened[0].closed else None

    return Source(path, cut, only_once=from_pipe, is_text=kind == "csv", share_read=share_read)


def csv_pieces(lines: IO[str], separator: str, path: str) -> Makers:
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    header = next((row for row in reader if row), [])
    header = [name.strip() for name in header]
    refuse_twice([name for name in header if name], path)
    start = 0
    while found := taken(reader):
        rows = [row for row in found if row != []]  # an empty line is no row
        begin, start = start, start + len(rows)
        if rows:
            yield start, lambda rows=rows, begin=begin: csv_piece(header, rows, begin)


def taken(reader: Any) -> list[Any]:
    """The next rows; what the reader cannot take, such as a field without an end, is among them as an error."""
    rows: list[Any] = []
    while len(rows) < PIECE:
        try:
            rows.extend(itertools.islice(reader, PIECE - len(rows)))
            break
        except csv.Error as error:
            rows.append(error)
    return rows


def csv_piece(header: list[str], rows: list[Any], start: int) -> RawPiece:
    width, unreadable = len(header), {}
    for place, row in enumerate(rows):
        if isinstance(row, csv.Error):
            unreadable[place] = f"it cannot be read: {row}; is a quotation mark not closed?"
        elif len(row) != width:
            unreadable[place] = f"it has {len(row)} fields, the header {width}"
    for place in places_of_bad_bytes(rows, unreadable):
        unreadable[place] = "it is no text in UTF-8"
    numbers = np.arange(start, start + len(rows))
    if unreadable:
        rows = [row for place, row in enumerate(rows) if place not in unreadable]
        numbers = np.delete(numbers, list(unreadable))
    columns = zip(*rows, strict=True) if rows else [()] * width
    cells = {name: as_objects(column) for name, column in zip(header, columns, strict=True)}
    told = [(start + place, f"row {start + place:,}: {what}") for place, what in sorted(unreadable.items())]
    return RawPiece(cells, numbers, told, start + len(numbers) + len(unreadable))


def places_of_bad_bytes(rows: list[Any], known: dict[int, str]) -> list[int]:
    """Rows with bytes that are no UTF-8; all at once where there are none."""
    texts = ["".join(row) if place not in known else "" for place, row in enumerate(rows)]
    if is_utf8("".join(texts)):
        return []
    return [place for place, text in enumerate(texts) if not is_utf8(text)]


def is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def json_pieces(lines: IO[str]) -> Makers:
    columns: dict[str, None] = {}  # those of the first piece, in their order
    start = 0
    while found := list(itertools.islice(lines, PIECE)):
        texts = [line for line in found if line.strip()]
        begin, start = start, start + len(texts)
        if begin == 0:  # also of a run that goes on: the columns are those that it had
            for row in map(parsed, texts):
                columns.update(dict.fromkeys(row) if isinstance(row, dict) else {})
        if texts:
            yield start, lambda texts=texts, begin=begin: json_piece(list(columns), texts, begin)


def parsed(line: str) -> dict[str, Any] | str:
    """The row of a line, or what is wrong with it."""
    try:
        row = json.loads(line)
    except ValueError as error:
        return f"it is no JSON: {error}"
    if not isinstance(row, dict):
        return f"it is a {type(row).__name__} where an object is needed, such as {{\"age\": 41}}"
    for name, cell in row.items():
        if isinstance(cell, (dict, list)):
            return f"column {name!r} holds a {type(cell).__name__}, which is no cell"
    return row if is_utf8(line) else "it is no text in UTF-8"


def json_piece(columns: list[str], texts: list[str], start: int) -> RawPiece:
    found = list(map(parsed, texts))
    rows = [row for row in found if isinstance(row, dict)]
    numbers = np.array([start + place for place, row in enumerate(found) if isinstance(row, dict)], int)
    told = [(start + place, f"row {start + place:,}: {what}") for place, what in enumerate(found)
            if isinstance(what, str)]
    cells = {name: as_objects([row.get(name) for row in rows]) for name in columns}
    return RawPiece(cells, numbers, told, start + len(texts))


def as_objects(cells: Any) -> np.ndarray:
    """A column of Python's own values."""
    array = np.empty(len(cells), object)
    array[:] = cells
    return array
