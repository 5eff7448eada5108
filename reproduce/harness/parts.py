"""Finished experiments on disk, each with the hash of its records: a damaged one is not used.

A part is a CSV file after a line with the sha256 of what follows. Parts of all figures share a folder, so
an experiment that two of them have in common is run once.
"""

import hashlib
import io
import warnings
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from aranyani_tf.errors import DamagedFileError
from aranyani_tf.files import whole_file
from harness.experiments import Experiment

TEST_BYTES = 4 * 2**20  # many parts, of which the largest have 135 KB: a disk with room for it has room for the next


def part_of(experiment: Experiment, results: Path) -> Path:
    return Path(results) / ".parts" / f"{experiment.key}.csv"


def write_part(path: Path, records: pd.DataFrame) -> None:
    content = records.to_csv(index=False, float_format="%.6g").encode()
    with whole_file(path) as file:
        file.write(heading(content) + content)


def read_part(path: Path) -> pd.DataFrame:
    """The records as texts, just as they were written."""
    whole = path.read_bytes()
    content = whole[len(heading(b"")) :]
    if not content or whole != heading(content) + content:
        raise DamagedFileError(f"{path} is damaged: its content is not what was written; remove it, and its experiment "
                               "is run again")
    return pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False)


def is_whole(path: Path) -> bool:
    """Whether the part is there and as it was written; one that is damaged is told."""
    if not path.is_file():
        return False
    try:
        read_part(path)
    except DamagedFileError as error:
        warnings.warn(f"{str(error).split(';')[0]}; its experiment is run again", stacklevel=2)
        return False
    return True


def heading(content: bytes) -> bytes:
    return f"# sha256 {hashlib.sha256(content).hexdigest()}\n".encode()


def joined(files: Iterable[Path], ends: bool = False) -> pd.DataFrame:
    """The records of several parts with the same columns or some of them, as texts, in the given order.

    With `ends` the last record of every run alone: all runs of a part end with their stream.
    """
    frames = [read_part(file) for file in files]
    if ends:
        frames = [frame[frame["step"].astype(int) == frame["step"].astype(int).max()] for frame in frames]
    return pd.concat(frames).fillna("")


def join(files: Iterable[Path], csv: Path, ends: bool = False) -> None:
    """The same as one CSV."""
    with whole_file(csv, "w") as file:
        joined(files, ends).to_csv(file, index=False)


def as_numbers(texts: pd.DataFrame) -> pd.DataFrame:
    """Records as reading their CSV would give them."""
    return pd.read_csv(io.StringIO(texts.to_csv(index=False)), low_memory=False)


def require_room(folder: Path) -> None:
    """Raises if nothing can be written to a folder: better now than after an experiment of an hour."""
    try:
        probe = Path(folder) / ".parts" / ".room"
        with whole_file(probe) as file:
            file.write(bytes(TEST_BYTES))
        probe.unlink(missing_ok=True)  # another run in this folder may have done it
    except OSError as error:
        raise OSError(f"the results cannot be written to {folder}: {error.strerror}. Make room there, or name another "
                      "folder: --results FOLDER") from error
