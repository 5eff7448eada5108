"""What the model said, row by row, in a CSV file that grows with the stream."""

import csv
import io
import os
import zlib
from contextlib import suppress
from typing import IO

import numpy as np
import pandas as pd

from aranyani_tf.errors import DamagedFileError, TableError
from aranyani_tf.streams.label_codes import Codes
from aranyani_tf.streams.table_form import TableForm

DIGITS = 6
PIECE = 2**20  # bytes that are read at once


class PredictionFile:
    """A CSV file with a line for each row that was answered.

    Its columns: the number of the row in the source, the label that the model said, each label's probability, the
    true label and the group, both empty where they are.

    Args:
        path: of the file, or None for none.
        form: whose labels and groups are meant.
        length: bytes that are already there, of a run that goes on; what lies behind them was never saved, and is
            written again. None begins anew.
        crc: the check sum of these bytes; None if nobody knows it.
    """

    def __init__(self, path: str | None, form: TableForm, length: int | None = None, crc: int | None = None) -> None:
        self.form, self.path, self.crc = form, path, 0
        self.file: IO[bytes] | None = None
        if path is None:
            return
        if length is None:
            self.file = open(path, "wb")  # noqa: SIM115  closed by `close`
            names = [f"probability of {name}" for name in form.label_names or ()]
            self.write_rows([["row", "said", *names, "label", "group"]])
        else:
            if not os.path.isfile(path) or os.path.getsize(path) < length:
                raise TableError(f"{path} is not what the run has written: it should have at least {length:,} bytes; "
                                 "restore it, or begin anew")
            self.file = open(path, "r+b")  # noqa: SIM115
            for start in range(0, length, PIECE):
                self.crc = zlib.crc32(self.file.read(min(PIECE, length - start)), self.crc)
            if crc not in (None, self.crc):
                raise DamagedFileError(f"{path} is not what the run has written: a byte of it was changed; restore it, "
                                       "or begin anew")
            self.file.seek(length)
            self.file.truncate()

    def write(self, piece: pd.DataFrame, labels: np.ndarray, groups: np.ndarray, said: np.ndarray) -> None:
        """Adds rows: a piece that is indexed by their numbers, codes (row,), and probabilities (row, label)."""
        if self.file is None or not len(piece):
            return
        assert self.form.labels is not None
        label_names, group_names = names_of(self.form.labels), names_of(self.form.groups)
        probabilities = np.round(said.astype("float64"), DIGITS).T.tolist()
        self.write_rows(zip(piece.index.tolist(), label_names[said.argmax(axis=1)], *probabilities,
                            label_names[labels], group_names[groups], strict=True))

    def write_rows(self, rows: object) -> None:
        assert self.file is not None
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)  # type: ignore[arg-type]
        content = text.getvalue().encode()
        try:
            self.file.write(content)
            self.file.flush()  # for whoever reads along
        except OSError as error:  # a full disk names no file
            raise OSError(error.errno, error.strerror, self.path) from error
        self.crc = zlib.crc32(content, self.crc)

    def length(self) -> int:
        """Bytes that have reached the disk."""
        if self.file is None:
            return 0
        os.fsync(self.file.fileno())
        return self.file.tell()

    def close(self) -> None:
        if self.file is not None:
            with suppress(OSError):  # of bytes that could not be written: that was told
                self.file.close()


def names_of(codes: Codes) -> np.ndarray:
    """Names by code; the last is that of −1."""
    return np.array([*codes.names, *[""] * (codes.count - len(codes.names)), ""], object)
