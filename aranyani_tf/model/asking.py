"""What a live session's state says about rows: many threads may ask at once, each with arrays of its own."""

import threading
from typing import Any

import numpy as np

from aranyani_tf.engine.row_engine import NO_OPTIMIZER, only_read
from aranyani_tf.engine.targets import in_unit
from aranyani_tf.engine.walk import look, plan_of
from aranyani_tf.model.quick_rows import ORDINARY


class Asking:
    """The asking side of a `Session`."""

    def __init__(self, session: Any) -> None:
        engine = session.engine
        self.session, self.engine, self.turns, self.own = session, engine, session.turns, threading.local()
        self.num_labels, self.dtype = session.num_labels, session.dtype
        self.plan = plan_of(engine.shape, engine.settings._replace(samples_per_step=1), NO_OPTIMIZER)

    def one(self, x: np.ndarray) -> np.ndarray | None:
        """The answer to one row, (feature,), of this width and type; None if its numbers need a closer look."""
        own = self.own
        if not hasattr(own, "row"):
            self.begin()
        own.row[:] = x
        answers, squares = self.asked(own.rows)
        return answers[0] if squares < ORDINARY else None

    def some(self, rows: np.ndarray) -> np.ndarray:
        """Answers to rows that were checked."""
        if not hasattr(self.own, "row"):
            self.begin()
        return self.asked(rows)[0]

    def begin(self) -> None:
        """This thread's arrays to work with, one for its row, and its lock."""
        own, num_features = self.own, self.engine.shape.num_inputs - 1  # one input is the bias's
        own.lock, own.work, own.row = self.turns.new_reader(), self.engine.work(), np.zeros(num_features, self.dtype)
        own.rows = only_read(own.row[None], self.dtype)

    def asked(self, rows: np.ndarray) -> tuple[np.ndarray, float]:
        """Answers to rows, and the sum of their squares."""
        own, session, outputs = self.own, self.session, np.empty((len(rows), self.num_labels), self.dtype)
        self.turns.give_way()
        with own.lock:
            if session.closed:
                session.require_open()
            squares = look(*self.plan, session.state.numbers, *own.work, rows, outputs)
            return (outputs if session.unit.moments is None else in_unit(outputs, session.unit.now())), squares
