"""A model that lives in its stream: it answers and learns row by row, in microseconds.

A session holds the state in the engine's own arrays, and not in Keras's variables, which take half a millisecond to
read and to write. `flush` writes it back, and so does the end of the session.
"""

import threading
from typing import Any, Self

import numpy as np

from aranyani_tf.engine.exchange import Exchange, settings_of
from aranyani_tf.engine.row_engine import NO_GROUPS, NO_KINDS, NO_LABELS, NO_OPTIMIZER, RowEngine, only_read, plain
from aranyani_tf.engine.targets import TargetUnit, in_unit
from aranyani_tf.engine.walk import plan_of, walk
from aranyani_tf.errors import InUseError
from aranyani_tf.model.quick_rows import QuickRows
from aranyani_tf.model.turns import Turns
from aranyani_tf.streams.chunks import Chunks
from aranyani_tf.streams.row_rules import usable_features

HELD = 1024  # rows whose answers are held back before they are added to the metrics


class Live:
    """A session; see `Aranyani.live`.

    Threads may share it: predictions do not wait for each other, learning takes turns. λ may be changed at any
    time; a learning rate that is changed counts from the next `flush` on. What the engine cannot take goes through
    the model's own methods, at their speed.
    """

    def __init__(self, model: Any) -> None:
        self.model, self.turns, self.own = model, Turns(), threading.local()
        self.open = self.begun = self.dirty = False
        self.exchange: Exchange | None = None
        self.held: list[tuple[np.ndarray, ...]] = []
        self.num_held, self.penalty = 0, 0.0

    def __enter__(self) -> Self:
        with self.model.turn:  # whoever learns now ends first
            self.model.require_own_state()
            self.model.require_one_moment()
            self.open = True
            if self.model.built:
                self.begin(self.model.num_features)
        return self

    def __exit__(self, *problem: object) -> None:
        self.flush()
        self.open = False
        self.model.session = None

    def begin(self, num_features: int) -> None:
        """Takes the state over; a model that is not built yet is built for the first row."""
        with self.turns.writing:
            if self.begun:
                return
            model = self.model
            model.make_sure_it_is_compiled()
            model.build_for(num_features)
            self.quick = QuickRows(num_features, np.dtype(model.compute_dtype), model.num_labels, model.num_groups)
            self.dtype, self.num_labels = self.quick.dtype, model.num_labels
            self.exchange = model.by_engine
            if self.exchange is not None:
                self.take_over(self.exchange)
                model.session = self
            self.begun = True

    def take_over(self, exchange: Exchange) -> None:
        model, engine = self.model, exchange.engine
        assert isinstance(engine, RowEngine)
        self.engine, self.state = engine, exchange.read(model.statistics, model.optimizer)
        self.unit = model.target_unit()
        self.work = engine.work(engine.settings.samples_per_step)
        self.records = model.record_gradients
        self.plan = plan_of(engine.shape, engine.settings._replace(records=self.records),
                            settings_of(model.optimizer))
        self.asking = plan_of(engine.shape, engine.settings._replace(samples_per_step=1), NO_OPTIMIZER)

    def predict(self, x: Any) -> np.ndarray:
        """Probabilities of one row, (feature,) → (label,), or of some, (row, feature) → (row, label)."""
        rows = self.one_row(x)
        if rows is None or self.exchange is None:
            return self.predict_some(x)
        return self.ask(rows)[0]

    def learn(self, x: Any, y: Any, a: Any) -> None:
        """Learns from one row or some; y and a are the label and the group, −1 where missing."""
        self.predict_then_learn(x, y, a)

    def predict_then_learn(self, x: Any, y: Any, a: Any) -> np.ndarray:
        """What the model says about a row, (label,), which it then learns from; or about some, in order."""
        rows = self.one_row(x)
        if rows is None or self.exchange is None or not self.quick.are_codes(y, a):
            return self.learn_some(x, y, a)
        return self.walk(rows, *self.quick.codes(y, a))[0]

    def one_row(self, x: Any) -> np.ndarray | None:
        """A row that needs no closer look, as (1, feature); None for anything else."""
        if not self.open:
            raise InUseError("the live session is not open: use it inside `with model.live() as live:`")
        if not self.begun:
            if np.ndim(x) != 1:
                return None
            self.begin(len(x))
        return self.quick.features(x)

    def predict_some(self, x: Any) -> np.ndarray:
        single = np.ndim(x) == 1
        x = np.asarray(x)[None] if single else x
        if not self.begun:
            self.begin(np.shape(x)[-1])
        if self.exchange is None:
            answers = self.model.predict(x, verbose=0)
        else:
            rows, bad = usable_features(x, self.quick.width, self.model.compute_dtype, self.model.on_bad_rows)
            answers = self.ask(only_read(rows, self.dtype))
            answers[bad] = np.nan
        return answers[0] if single else answers

    def learn_some(self, x: Any, y: Any, a: Any) -> np.ndarray:
        single = np.ndim(x) == 1
        if single:
            x, y, a = np.asarray(x)[None], np.asarray(y)[None], np.asarray(a)[None]
        chunks = Chunks.of_arrays(x, y, a, size=4096)
        if not self.begun:
            self.begin(chunks.num_features)
        if self.exchange is None:
            answers = self.model.predict_then_learn(x, y, a)
        else:
            rules = self.model.rules(chunks, None)
            assert chunks.arrays is not None
            rows, bad, _ = rules.checked(*chunks.arrays)
            answers = np.full((len(bad), self.num_labels), np.nan, self.dtype)
            if not bad.all():
                features, labels, groups = rules.good_rows(bad, *rows)
                answers[~bad] = self.walk(only_read(features, self.dtype), plain(labels, "float64"), plain(groups, "int32"))
        return answers[0] if single else answers

    def ask(self, rows: np.ndarray) -> np.ndarray:
        """Answers to rows that were checked; every thread has arrays of its own to work with."""
        work = getattr(self.own, "work", None)
        if work is None:
            work = self.own.work = self.engine.work()
        engine, state = self.engine, self.state
        outputs = np.empty((len(rows), self.num_labels), self.dtype)
        with self.turns.reading:
            walk(*self.asking, state.numbers, state.counts, state.iterations, *work, engine.contrasts, engine.table,
                 rows, NO_LABELS, NO_GROUPS, NO_KINDS, False, False, outputs, outputs[:0])
            return in_unit(outputs, self.unit.now())

    def walk(self, rows: np.ndarray, labels: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """Answers to rows that were checked, and learns from them; labels are float64, groups int32."""
        with self.turns.writing:
            moments = self.unit.moments
            before = None if moments is None else moments.copy()
            learned, units = self.unit.scaled(labels)
            outputs, norms, done = self.walk_on(rows, learned, groups)
            outputs = in_unit(outputs, units)
            if done == len(rows):
                self.hold(labels, groups, outputs, norms)
                return outputs
            self.unit = TargetUnit(before)  # the scale is that of the rows that were learned
            self.unit.scaled(labels[:done])
            self.hold(labels[:done], groups[:done], outputs[:done], norms)
            self.model.progress.diverged.assign(True)
            self.model.after_chunk("this row" if len(rows) == 1 else f"row {done:,} of these rows")
        raise AssertionError("after_chunk raises where the model has diverged")

    def walk_on(self, rows: np.ndarray, labels: np.ndarray,
                groups: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
        """Walks as far as the state stays finite: answers, norms, and how many rows were learned."""
        engine, state, each, num_rows = self.engine, self.state, self.engine.settings.samples_per_step, len(rows)
        outputs = np.empty((num_rows, self.num_labels), self.dtype)
        norms = np.empty((-(-num_rows // each) if self.records else 0, 9), self.dtype)
        table, kinds = engine.kinds_of(labels, groups)
        self.plan[1][0] = self.model.fairness_weight

        def go(guarded: bool, rows: np.ndarray, labels: np.ndarray, groups: np.ndarray, kinds: np.ndarray,
               outputs: np.ndarray, norms: np.ndarray) -> int:
            done, self.penalty = walk(
                *self.plan, state.numbers, state.counts, state.iterations, *self.work, engine.contrasts, table, rows,
                labels, groups, kinds, True, guarded, outputs, norms)
            return done

        def rest(start: int, end: int) -> tuple[np.ndarray, ...]:
            arrays = (rows, labels, groups, kinds, outputs)
            return *(array[start:end] for array in arrays), norms[start // each :]

        done = go(True, rows, labels, groups, kinds, outputs, norms)
        while done < num_rows:  # stopped before a step whose numbers may be too large: on trial
            before, end = state.copy(), min(done + each, num_rows)
            go(False, *rest(done, end))
            if not (state.is_finite and np.isfinite(self.penalty) and np.isfinite(outputs[done:end]).all()):
                state.take(before)
                return outputs, norms[: done // each], done
            done = end + (go(True, *rest(end, num_rows)) if end < num_rows else 0)
        return outputs, norms, done

    def hold(self, *rows: np.ndarray) -> None:
        """Keeps rows that were learned for the metrics."""
        self.held.append(rows)
        self.num_held += len(rows[0])
        self.dirty = True
        if self.num_held >= HELD:
            self.take_note()

    def take_note(self) -> None:
        """Adds the rows that are held to the metrics."""
        if self.held:
            labels, groups, outputs, norms = (np.concatenate(parts) for parts in zip(*self.held, strict=True))
            labels = labels.astype(self.quick.label_type)
            self.held, self.num_held = [], 0
            with self.model.state:
                self.model.took_note(labels, groups, outputs, norms, self.penalty)
            self.model.warn(at_once=False)

    def flush(self) -> None:
        """Writes what was learned into the model, for `save` and whoever looks at its weights."""
        if self.exchange is None:
            return
        with self.turns.writing:
            self.take_note()
            model = self.model
            if self.dirty:
                with model.state, model.handover:
                    self.exchange.write(self.state, model.statistics, model.optimizer)
                    if model.target_scale is not None:
                        model.target_scale.moments.assign(self.unit.moments)
                self.dirty = False
            self.plan[1][5] = settings_of(model.optimizer).learning_rate
