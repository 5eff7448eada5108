"""A model that lives in its stream: it answers and learns row by row, in microseconds."""

import threading
from typing import Any, Self

import numpy as np

from aranyani_tf.engine.row_engine import NO_WEIGHTS, only_read, plain
from aranyani_tf.errors import InUseError, RowError
from aranyani_tf.model.quick_rows import QuickRows
from aranyani_tf.model.session import Session
from aranyani_tf.streams.chunks import Chunks
from aranyani_tf.streams.row_rules import as_numbers, require_width, usable_features

NOT_OPEN = "the live session is not open: use it inside `with model.live() as live:`"


class Live:
    """The model row by row; see `Aranyani.live`.

    Threads may share it: predictions do not wait for each other, learning takes turns, and both wait while the model
    is saved. λ may be changed at any time; a learning rate that is changed counts from the next `flush` on. What the
    engine cannot take goes through the model's own methods, at their speed.
    """

    def __init__(self, model: Any) -> None:
        self.model, self.beginning = model, threading.Lock()
        self.open = False
        self.quick: QuickRows | None = None  # until the width of rows is known
        self.session: Session | None = None  # None for what the engine cannot take, too

    def __enter__(self) -> Self:
        with self.model.turn:  # whoever learns now ends first
            self.model.require_own_state()
            self.model.require_one_moment()
            self.model.make_sure_it_is_compiled()
            self.quick = self.session = None
            self.open, self.model.owner = True, self
            try:
                if self.model.built:
                    self.begin(self.model.num_features)
            except BaseException:
                self.leave()
                raise
        return self

    def __exit__(self, *problem: object) -> None:
        try:
            if self.session is not None:
                self.session.close()
        finally:
            self.leave()

    def leave(self) -> None:
        self.open, self.model.session = False, None
        if self.model.owner is self:
            self.model.owner = None

    def begin(self, num_features: int) -> QuickRows:
        """Takes the state over; a model that is not built yet is built for the first row."""
        with self.beginning:
            if self.quick is not None:
                return self.quick
            if not num_features:
                raise RowError("a row needs at least one feature")
            model = self.model
            model.build_for(num_features)
            num_features = model.num_features  # somebody may have built it for other rows
            quick = QuickRows(num_features, np.dtype(model.compute_dtype), model.num_labels, model.num_groups)
            if model.by_engine is None:
                model.owner = None  # which learns by its own methods
            else:
                self.session = model.session = Session(model, model.by_engine, quick.label_type)
            self.quick = quick
            return quick

    def flush(self) -> None:
        """Writes what was learned into the model, for whoever looks at its variables themselves."""
        if self.session is not None:
            self.session.flush()

    def forget_past(self) -> None:
        """Forgets the running means, as `model.forget_past` does; before the first row there are none."""
        if not self.open:
            raise InUseError(NOT_OPEN)
        if self.session is not None:
            self.session.forget_past()
        elif self.quick is not None:
            self.model.forget_past()

    def predict(self, x: Any) -> np.ndarray:
        """Probabilities of one row, (feature,) → (label,), or of some, (row, feature) → (row, label)."""
        session, quick = self.session, self.quick
        if session is not None and quick is not None and quick.is_plain(x) and self.open:
            answer = session.ask_one(x)
            if answer is not None:
                return answer
        rows = self.one_row(x)
        if rows is None or session is None:
            return self.predict_some(x)
        return session.ask(rows)[0]

    def learn(self, x: Any, y: Any, a: Any, sample_weight: Any = None) -> None:
        """Learns from one row or some; y and a are the label and the group, −1 where missing.

        Args:
            sample_weight: of the row, or of each; what it means is told by `model.predict_then_learn`.
        """
        self.predict_then_learn(x, y, a, sample_weight)

    def predict_then_learn(self, x: Any, y: Any, a: Any, sample_weight: Any = None) -> np.ndarray:
        """What the model says about a row, (label,), which it then learns from; or about some, in order."""
        rows = self.one_row(x)
        if rows is None or self.session is None or self.quick is None or not self.quick.are_codes(y, a) or (
                sample_weight is not None and not self.quick.is_weight(sample_weight)):
            return self.learn_some(x, y, a, sample_weight)
        weights = NO_WEIGHTS if sample_weight is None else np.array((sample_weight,), np.float64)
        return self.session.walk(rows, *self.quick.codes(y, a), weights)[0]

    def one_row(self, x: Any) -> np.ndarray | None:
        """A row that needs no closer look, as (1, feature); None for anything else."""
        if not self.open:
            raise InUseError(NOT_OPEN)
        if self.quick is None:
            return None
        try:
            return self.quick.features(x)
        except (ValueError, TypeError):  # no array can be made of it: `as_numbers` says why
            return None

    def predict_some(self, x: Any) -> np.ndarray:
        """Rows that need a closer look, and the first ones, whose width is to be known."""
        x = as_numbers("features", x)
        single, width = x.ndim == 1, None if self.quick is None else self.quick.width
        rows, bad = usable_features(x[None] if single else x, width, self.model.compute_dtype,
                                    self.model.on_bad_rows)
        quick = self.quick or self.begin(rows.shape[1])
        require_width(rows.shape, quick.width)
        if self.session is None:
            answers = self.model.predict(rows, verbose=0)
        else:
            answers = self.session.ask(only_read(rows, quick.dtype))
        answers[bad] = np.nan
        return answers[0] if single else answers

    def learn_some(self, x: Any, y: Any, a: Any, sample_weight: Any) -> np.ndarray:
        x = as_numbers("features", x)
        single, columns = x.ndim == 1, [y, a] if sample_weight is None else [y, a, sample_weight]
        if single:
            names = ("labels", "groups", "sample_weight")
            x, columns = x[None], [as_numbers(name, column)[None] for name, column in zip(names, columns, strict=False)]
        chunks = Chunks.of_arrays(x, *columns, size=4096)
        assert chunks.arrays is not None
        if self.session is not None:
            self.session.tell()  # so that the rules know which labels there were
        rules = self.model.rules(chunks, None)
        rows, bad, _ = rules.checked(*chunks.arrays)
        quick = self.quick or self.begin(rules.num_features)
        require_width(rows[0].shape, quick.width)
        if self.session is None:
            answers = self.model.predict_then_learn(*chunks.arrays)
        else:
            answers = np.full((len(bad), quick.num_labels), np.nan, quick.dtype)
            if not bad.all():
                features, labels, groups, *weights = rules.good_rows(bad, *rows)
                answers[~bad] = self.session.walk(only_read(features, quick.dtype), plain(labels, "float64"),
                                                  plain(groups, "int32"), *(plain(each, "float64") for each in weights))
        return answers[0] if single else answers
