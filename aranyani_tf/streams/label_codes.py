"""Labels and groups of a table: the values of a column, and the whole number that each becomes."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import pandas as pd

from aranyani_tf.errors import TableError
from aranyani_tf.streams.column_kinds import written

MANY = 1000  # a column of numbers would go on like this


class Codes:
    """The values of the label or group column as codes 0, 1, …; an empty cell is −1.

    Args:
        role: "label" or "group".
        column: its name.
        room: how many values there may be, those that come later among them; None takes what comes at first.
    """

    def __init__(self, role: str, column: str, room: int | None) -> None:
        self.role, self.column, self.room = role, column, room
        self.values: list[Any] = []

    @classmethod
    def of_values(cls, role: str, column: str, room: int | None, values: Iterable[Any]) -> Self:
        """Codes that a file kept."""
        codes = cls(role, column, room)
        codes.values = list(values)
        return codes

    @property
    def count(self) -> int:
        """How many codes there are, or will be."""
        return self.room or len(self.values)

    def observe(self, piece: pd.DataFrame) -> None:
        self.values = list({*self.values, *piece[self.column].dropna().unique().tolist()})
        if len(self.values) > MANY:
            raise TableError(f"{self.role} column {self.column!r} has more than {MANY:,} values; is it the {self.role}?"
                             + (" For regression pass num_labels=1." if self.role == "label" else ""))

    def settle(self) -> None:
        """Sorts the values; raises unless there are at least two, and no more than expected."""
        self.values.sort()
        shown = ", ".join(self.names[:8]) + (", …" if len(self.values) > 8 else "")
        if len(self.values) < 2:
            found = f"only one value, {shown}" if self.values else "no value"
            raise TableError(f"{self.role} column {self.column!r} has {found}: there is nothing to tell apart")
        if len(self.values) > self.count:
            raise TableError(
                f"{self.role} column {self.column!r} has {len(self.values)} values ({shown}) where {self.room} "
                f"are expected; pass num_{self.role}s={len(self.values)} to keep them all, or merge some first")

    def encode(self, piece: pd.DataFrame) -> np.ndarray:
        """int (row,). Values that are new get the next codes while there is room."""
        column = piece[self.column]
        known = set(self.values)
        for value in column.dropna().unique().tolist():
            if value in known:
                continue
            if len(self.values) == self.count:
                row = column.index[int(np.argmax(column == value))]
                raise self.no_room(value, f"row {row:,}: ")
            self.values.append(value)
        return pd.Index(self.values).get_indexer(column)

    def code_of(self, value: Any) -> int:
        """The code of one value, which is −1 if it is empty (NaN); a new one would get the next, while there is room.

        Nothing is remembered: `take` does that.
        """
        if value in self.values:
            return self.values.index(value)
        if value != value:
            return -1
        if len(self.values) == self.count:
            raise self.no_room(value)
        return len(self.values)

    def take(self, value: Any) -> int:
        """The code of one value, as `encode` has it: a new one is remembered."""
        code = self.code_of(value)
        if code == len(self.values):
            self.values.append(value)
        return code

    def no_room(self, value: Any, where: str = "") -> TableError:
        return TableError(
            f"{where}{self.role} column {self.column!r} has the new value {written(value)!r}; known are "
            f"{', '.join(self.names[:8])}, and there is room for {self.count}. Mend it, or make the stream with "
            f"num_{self.role}s={self.count + 1}")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(map(written, self.values))

    def __str__(self) -> str:
        free = self.count - len(self.values)
        return " / ".join(self.names) + (f", room for {free}" if free else "")
