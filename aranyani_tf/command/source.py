"""Where rows come from: a file, a pipe or a dataset, in pieces of raw cells, one in memory at a time.

A source is always read from its beginning and cut in the same places, so that a run which goes on later meets the same
pieces.
"""

import gzip
import io
import itertools
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from aranyani_tf.command.line_pieces import csv_pieces, json_pieces
from aranyani_tf.command.pipe_lines import ENCODING, PipeLines
from aranyani_tf.command.raw_piece import PIECE, Makers, RawPiece
from aranyani_tf.errors import ArgumentError, TableError
from aranyani_tf.streams.table_reader import WITH_GAPS, readable, refuse_twice, require_file

FORMATS = ("csv", "jsonl", "parquet")
ENDINGS = {".csv": "csv", ".tsv": "csv", ".txt": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl",
           ".parquet": "parquet", ".pq": "parquet"}


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
            yield given[0], partial(of_columns, here, start)

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
                yield end, partial(of_batch, batch, start)

    return Source(path, cut, share_read=lambda: read_so_far[0] / read_so_far[1])


def of_batch(batch: pa.RecordBatch, start: int) -> RawPiece:
    return of_columns(batch.to_pandas(types_mapper=WITH_GAPS.get, date_as_object=False), start)


def of_lines(path: str, kind: str, separator: str, from_pipe: bool = False) -> Source:
    """CSV or JSON lines, of a file, packed by gzip or not, or of standard input."""
    opened: list[IO[bytes]] = []  # the file as it lies on the disk

    def cut() -> Makers:
        pieces = csv_pieces if kind == "csv" else json_pieces
        if from_pipe:
            yield from pieces(PipeLines(sys.stdin.buffer), path, separator)
            return
        with open(path, "rb") as raw:
            opened[:] = [raw]
            plain: Any = gzip.GzipFile(fileobj=raw) if path.endswith(".gz") else raw
            try:
                yield from pieces(io.TextIOWrapper(plain, newline="", **ENCODING), path, separator)
            except (OSError, EOFError) as error:
                raise TableError(f"{path} cannot be read: {error}") from error

    def share_read() -> float | None:
        return opened[0].tell() / max(os.stat(path).st_size, 1) if opened and not opened[0].closed else None

    return Source(path, cut, only_once=from_pipe, is_text=kind == "csv", share_read=share_read)
