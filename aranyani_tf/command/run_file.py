"""A run in one file: the model with the form of its table, as Keras saves it, and how far the run has come.

Both are of one moment, and the file is whole or not there. Keras, and whoever loads the model, pass over the second.
"""

import json
import os
import zipfile
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import keras

from aranyani_tf.errors import AranyaniError, ArgumentError, DamagedFileError
from aranyani_tf.files import whole_path
from aranyani_tf.tabular.tabular_model import TabularModel

MEMBER = "aranyani_run.json"
VERSION = 1
KEPT = 512  # entries of the record; when it is full every other one goes, and the next are taken half as often


@dataclass
class RunState:
    """How far a run has come.

    Args:
        source: where the rows come from; see `run.fingerprint`.
        on_bad_rows: "raise" or "skip".
        settled: options that were given at the beginning, and stay.
        rows_read: of the source, the bad ones among them.
        num_bad, first_bad: rows that were skipped, and a sentence about the first.
        num_pieces, spacing, record: [row, accuracy, recent accuracy, gap, recent gap, λ] along the stream.
        predictions, prediction_bytes: the file of predictions, and how long it was.
    """

    source: dict[str, Any]
    on_bad_rows: str = "skip"
    settled: dict[str, Any] = field(default_factory=dict)
    rows_read: int = 0
    num_bad: int = 0
    first_bad: str | None = None
    num_pieces: int = 0
    spacing: int = 1
    record: list[list[float]] = field(default_factory=list)
    predictions: str | None = None
    prediction_bytes: int = 0

    def take_note(self, entry: list[float]) -> None:
        if self.num_pieces % self.spacing == 0:
            self.record.append(entry)
        self.num_pieces += 1
        if len(self.record) > KEPT:
            self.record, self.spacing = self.record[::2], 2 * self.spacing


def save_run(tabular: TabularModel, state: RunState, path: str | os.PathLike) -> None:
    with whole_path(path) as part:
        tabular.save(part)
        with zipfile.ZipFile(part, "a") as archive:
            archive.writestr(MEMBER, json.dumps({"version": VERSION, **asdict(state)}))


def load_tabular(path: str | os.PathLike) -> TabularModel:
    """A model that knows its table."""
    if not os.path.isfile(path):
        raise FileNotFoundError(f"there is no file {path}")
    try:
        tabular = keras.saving.load_model(path)
    except AranyaniError:
        raise
    except Exception as error:  # Keras, zipfile and h5py have many
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DamagedFileError(f"{path} cannot be read as a .keras file: {reason}") from error
    if not isinstance(tabular, TabularModel):
        raise ArgumentError(f"{path} holds a {type(tabular).__name__}, which knows no table; `aranyani run` makes one "
                            "that does, and so does ar.TabularModel(model, stream.form).save(path)")
    tabular.require_one_moment()
    tabular.model.require_one_moment()
    return tabular


def load_run(path: str | os.PathLike) -> tuple[TabularModel, RunState]:
    tabular = load_tabular(path)
    with zipfile.ZipFile(path) as archive:
        if MEMBER not in archive.namelist():
            raise ArgumentError(f"{path} does not say how far a run has come: it was not saved by `aranyani run`")
        contents = json.loads(archive.read(MEMBER))
    known = {each.name for each in fields(RunState)}
    if contents.pop("version", None) != VERSION or set(contents) != known:
        raise ArgumentError(f"{path} is of another version of `aranyani run`; begin anew with this one, or go on with "
                            "that one")
    return tabular, RunState(**contents)
