"""`aranyani run`: rows are read, encoded, answered, learned from and forgotten, piece by piece."""

import gc
import hashlib
import json
import os
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from tqdm import tqdm

from aranyani_tf.command.checked_rows import CheckedRows, Rows
from aranyani_tf.command.interrupts import Interrupts
from aranyani_tf.command.one_run import alone
from aranyani_tf.command.predictions import PredictionFile
from aranyani_tf.command.run_file import RunState, save_run
from aranyani_tf.command.source import Source
from aranyani_tf.command.tallies import accuracy_of
from aranyani_tf.control.decisions import MEASURED_BY, gap_name, gap_of
from aranyani_tf.errors import ArgumentError
from aranyani_tf.tabular.tabular_model import TabularModel

HEAD = 100  # rows by which a source is known again


class Run:
    """A model on its way through a source.

    Args:
        tabular: what learns.
        state: how far it has come; a new one, or that of a file.
        source: where the rows come from.
        path: of the file that the run is saved to.
        save_every: rows between two saves.
    """

    def __init__(self, tabular: TabularModel, state: RunState, source: Source, *, path: str, save_every: int) -> None:
        self.tabular, self.model, self.form = tabular, tabular.model, tabular.form
        self.state, self.source, self.path, self.save_every = state, source, path, save_every
        self.rows = CheckedRows(self.form, source, state.on_bad_rows)
        is_known = isinstance(self.model.notion, tuple(MEASURED_BY))
        self.gap_name = gap_name(self.model.notion) if is_known else "demographic_parity"
        self.seconds: dict[str, float] = defaultdict(float)  # where the time goes
        self.latest = self.numbers()
        self.begun_at = state.rows_read

    @property
    def rows_here(self) -> int:
        """Rows that were read since the run began or went on."""
        return self.state.rows_read - self.begun_at

    def go(self, show_bar: bool | None = None) -> int | None:
        """Learns from all rows that are left, and saves; gives the number of the signal that ended it, or None.

        Args:
            show_bar: None shows a bar on a terminal.
        """
        state = self.state
        pieces, saved_at = self.rows.read(state.rows_read), state.rows_read
        with alone(self.path), Interrupts() as interrupts, self.bar(show_bar) as bar, little_garbage():
            answers = PredictionFile(state.predictions, self.form, state.prediction_bytes if state.rows_read else None,
                                     state.prediction_crc)
            try:
                while (rows := interrupts.wait_for(lambda: self.timed("reading", next, pieces, None))) is not None:
                    self.learn(rows, answers)
                    self.show(bar, rows)
                    if state.rows_read - saved_at >= self.save_every:
                        self.timed("saving", self.save, answers)
                        saved_at = state.rows_read
                self.timed("saving", self.save, answers)
            finally:
                answers.close()
        return interrupts.number

    def learn(self, rows: Rows, answers: PredictionFile) -> None:
        """Answers the rows of a piece, then learns from them, one after the other."""
        state, piece = self.state, rows.piece
        if len(piece):
            features, labels, groups = self.timed("encoding", self.encoded, piece)
            said = self.timed("learning", self.model.predict_then_learn, features, labels, groups)
            self.timed("writing", answers.write, piece, labels, groups, said)
        state.rows_read, state.num_bad = rows.end, state.num_bad + rows.num_bad
        state.first_bad = state.first_bad or rows.first_bad
        self.latest = self.numbers()
        state.take_note([state.rows_read, *self.latest])

    def encoded(self, piece: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        assert self.form.labels is not None
        return (self.form.encoder.encode(piece, {}, by_rows=True), self.form.labels.encode(piece).astype("int32"),
                self.form.groups.encode(piece).astype("int32"))

    def numbers(self) -> list[float]:
        """Accuracy, recent accuracy, gap, recent gap, λ."""
        past = self.model.progress.prequential
        tables = past.counts.numpy(), past.recent.numpy()
        return [*map(accuracy_of, tables),
                *(gap_of(table, self.gap_name, self.model.positive_label) for table in tables),
                self.model.fairness_weight]

    def save(self, answers: PredictionFile) -> None:
        self.state.prediction_bytes, self.state.prediction_crc = answers.length(), answers.crc
        save_run(self.tabular, self.state, self.path)

    def timed(self, what: str, function: Any, *arguments: Any) -> Any:
        begun = time.perf_counter()
        try:
            return function(*arguments)
        finally:
            self.seconds[what] += time.perf_counter() - begun

    def bar(self, show: bool | None) -> Any:
        return tqdm(desc=os.path.basename(self.source.name), unit=" rows", unit_scale=True, dynamic_ncols=True,
                    initial=self.state.rows_read, disable=None if show is None else not show)

    def show(self, bar: Any, rows: Rows) -> None:
        accuracy, _, gap, recent_gap, weight = self.latest
        read = self.source.share_read()
        if read:
            bar.total = max(int(rows.end / read), rows.end)  # a guess, better and better
        bar.set_postfix_str(f"accuracy {100 * accuracy:.1f} %, gap {gap:.3f}, lately {recent_gap:.3f}, λ {weight:.3g}",
                            refresh=False)
        bar.update(rows.end - bar.n)


@contextmanager
def little_garbage() -> Iterator[None]:
    """What is there by now stays: to look through TensorFlow for garbage once more, again and again, takes long."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def fingerprint(source: Source, num_rows: int = HEAD) -> dict[str, Any]:
    """By what a source is known again: its name, its columns and its first rows."""
    first = source.first()
    columns = {name: list(map(str, list(cells)[:num_rows])) for name, cells in first.columns.items()}
    return {"name": os.path.basename(source.name), "columns": list(columns),
            "rows": min(num_rows, len(first.numbers)),
            "sha256": hashlib.sha256(json.dumps(columns).encode(errors="surrogatepass")).hexdigest()}


def require_same_source(state: RunState, source: Source) -> None:
    """Raises unless a source begins as that of the run."""
    known = state.source
    found = fingerprint(source, known["rows"])
    if found["name"] != known["name"]:
        raise ArgumentError(f"the run was in {known['name']}, and is to go on in {found['name']}; pass the same source")
    if found["columns"] != known["columns"]:
        raise ArgumentError(f"{source.name} has other columns than the run began with: {', '.join(found['columns'])}; "
                            f"these were {', '.join(known['columns'])}")
    if found["sha256"] != known["sha256"]:
        raise ArgumentError(f"the first {known['rows']} rows of {source.name} are not those that the run began with; "
                            "pass the same source, or begin anew")
