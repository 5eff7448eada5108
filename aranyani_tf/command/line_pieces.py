"""CSV and JSON lines, cut into pieces. Rows that cannot even be read are told, not lost."""

import csv
import itertools
import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from aranyani_tf.command.pipe_lines import PipeLines
from aranyani_tf.command.raw_piece import PIECE, Makers, RawPiece
from aranyani_tf.streams.table_reader import refuse_half_characters, refuse_twice


def csv_pieces(lines: Any, path: str, separator: str) -> Makers:
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    header = next((row for row in reader if row), [])
    header = [name.strip() for name in header]
    refuse_twice([name for name in header if name], path)
    refuse_half_characters(header, path)
    start = 0
    while found := taken(reader, lines, at_once=start > 0):
        rows = [row for row in found if row != []]  # an empty line is no row
        begin, start = start, start + len(rows)
        if rows:
            yield start, partial(csv_piece, header, rows, begin)


def taken(rows: Iterator[Any], lines: Any, at_once: bool) -> list[Any]:
    """The next rows; what a reader of CSV cannot take, such as a field without an end, is among them as an error.

    Args:
        lines: where they come from. Of a pipe that pauses, the rows that are there are taken.
        at_once: whether that is so; the first piece waits for all its rows, since it tells what the columns hold.
    """
    found: list[Any] = []
    while len(found) < PIECE:
        try:
            if not at_once or not isinstance(lines, PipeLines):
                found.extend(itertools.islice(rows, PIECE - len(found)))
                break
            found.append(next(rows))
            if lines.is_idle():
                break
        except StopIteration:
            break
        except csv.Error as error:
            found.append(error)
    return found


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


def json_pieces(lines: Any, path: str, separator: str) -> Makers:
    columns: dict[str, None] = {}  # those of the first piece, in their order
    start = 0
    while found := taken(lines, lines, at_once=start > 0):
        texts = [line for line in found if line.strip()]
        begin, start = start, start + len(texts)
        if begin == 0:  # also of a run that goes on: the columns are those that it had
            for row in map(parsed, texts):
                columns.update(dict.fromkeys(row) if isinstance(row, dict) else {})
            refuse_half_characters(columns, path)
        if texts:
            yield start, partial(json_piece, list(columns), texts, begin)


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
