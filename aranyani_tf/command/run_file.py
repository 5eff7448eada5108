"""A run in one file: the model with the form of its table, as Keras saves it, and how far the run has come.

Both are of one moment, and the file is whole or not there. Keras, and whoever loads the model, pass over the second.
"""

import json
import os
import zipfile
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from aranyani_tf.arguments import require_choice, require_whole
from aranyani_tf.errors import AranyaniError, ArgumentError, DamagedFileError
from aranyani_tf.files import whole_path
from aranyani_tf.model.loading import load_model
from aranyani_tf.streams.row_rules import ON_BAD_ROWS
from aranyani_tf.tabular.tabular_model import TabularModel

MEMBER = "aranyani_run.json"
VERSION = 1
MEND = "Use a copy of it, or begin anew"
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
        predictions, prediction_bytes, prediction_crc: the file of predictions, how long it was, and the check sum
            (CRC-32) of what was in it; None in the file of an earlier version.
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
    prediction_crc: int | None = None

    def __post_init__(self) -> None:
        """Raises unless all of it can be: a file may have been edited."""
        require_choice("on_bad_rows", self.on_bad_rows, ON_BAD_ROWS)
        for name in ("rows_read", "num_bad", "num_pieces", "prediction_bytes"):
            require_whole(name, getattr(self, name), 0)
        require_whole("spacing", self.spacing, 1)
        require_whole("the rows of the source", self.source["rows"], 0)
        texts = [self.source["name"], self.source["sha256"], *self.source["columns"], self.first_bad or "",
                 self.predictions or "", *self.settled]
        if not all(isinstance(text, str) for text in texts) or not isinstance(self.settled, dict):
            raise ArgumentError("a name in it is no text")
        if not all(isinstance(entry, list) and len(entry) == 6 for entry in self.record):
            raise ArgumentError("its record is no list of six numbers each")

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
    try:
        tabular = load_model(path)
    except DamagedFileError as error:
        raise DamagedFileError(f"{error}. {MEND}") from error
    if not isinstance(tabular, TabularModel):
        raise ArgumentError(f"{path} holds a {type(tabular).__name__}, which knows no table; `aranyani run` makes one "
                            "that does, and so does ar.TabularModel(model, stream.form).save(path)")
    return tabular


def load_run(path: str | os.PathLike) -> tuple[TabularModel, RunState]:
    tabular = load_tabular(path)
    with zipfile.ZipFile(path) as archive:
        if MEMBER not in archive.namelist():
            raise ArgumentError(f"{path} does not say how far a run has come: it was not saved by `aranyani run`")
        try:
            contents = json.loads(archive.read(MEMBER))
        except (ValueError, RecursionError) as error:
            raise DamagedFileError(f"{path} is damaged: its {MEMBER} is no JSON ({error})") from error
    known = {each.name for each in fields(RunState)}
    if not isinstance(contents, dict):
        raise DamagedFileError(f"{path} is damaged: its {MEMBER} is no JSON object")
    contents.setdefault("prediction_crc", None)  # of an earlier version
    if contents.pop("version", None) != VERSION or set(contents) != known:
        raise ArgumentError(f"{path} is of another version of `aranyani run`; begin anew with this one, or go on with "
                            "that one")
    try:
        return tabular, RunState(**contents)
    except (AranyaniError, TypeError, KeyError, AttributeError) as error:
        raise DamagedFileError(f"{path} is damaged: what its {MEMBER} says of the run cannot be ({error}). Begin anew, "
                               "or use another copy") from error
