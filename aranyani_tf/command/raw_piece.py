"""Some rows before anything is known of their columns, and how a source is cut into such pieces."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

PIECE = 4096  # rows


class RawPiece(NamedTuple):
    """Raw cells of rows that follow each other."""

    columns: dict[str, Any]  # name → cells (row,): texts of a CSV file, or a series of whatever the source has
    numbers: np.ndarray  # (row,), which rows of the source these are, from 0
    unreadable: list[tuple[int, str]]  # rows that are not among these: their numbers, and what is wrong
    end: int  # rows of the source up to here


Makers = Iterator[tuple[int, Callable[[], RawPiece]]]  # rows up to the end of a piece, and how to make it
