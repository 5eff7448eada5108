"""A model's state in the engine's own arrays, while a live session owns it.

Keras's variables take a millisecond to read and write; here they are read once, and written by `flush`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from aranyani_tf.control.steered_rows import pieces
from aranyani_tf.engine.exchange import Exchange, settings_of
from aranyani_tf.engine.row_engine import NO_KINDS, NO_WEIGHTS, RowEngine
from aranyani_tf.engine.targets import TargetUnit, in_unit
from aranyani_tf.engine.walk import NO_OFFSETS, OFFSETS, RATE, RECORDS, WEIGHT, plan_of, walk
from aranyani_tf.errors import InUseError
from aranyani_tf.learning.gradient_norms import step_ends
from aranyani_tf.model.asking import Asking
from aranyani_tf.model.turns import Turns
from aranyani_tf.variables import put

HELD = 1024  # rows whose answers are held back before they are added to the metrics


class Session:
    """The state of one model; rows have been checked. Threads may share it.

    Args:
        model: an `EngineModel`, built and compiled.
        exchange: its own.
        label_type: of its labels.
    """

    def __init__(self, model: Any, exchange: Exchange, label_type: np.dtype) -> None:
        engine = exchange.engine
        assert isinstance(engine, RowEngine)
        self.model, self.exchange, self.engine, self.label_type = model, exchange, engine, label_type
        self.state, self.unit = exchange.read(model.statistics, model.optimizer), model.target_unit()
        self.dtype, self.num_labels, self.records = engine.dtype, model.num_labels, model.record_gradients
        self.turns = Turns()
        self.work = engine.work(engine.settings.samples_per_step)
        self.plan = plan_of(engine.shape, engine.settings._replace(records=self.records),
                            settings_of(model.optimizer))
        self.no_norms = np.empty((0, 9), self.dtype)
        self.held: list[tuple[np.ndarray, ...]] = []
        self.num_held, self.penalty = 0, 0.0
        self.changed = self.being_read = self.closed = False
        asking = Asking(self)
        self.ask, self.ask_one = asking.some, asking.one

    def walk(self, rows: np.ndarray, labels: np.ndarray, groups: np.ndarray,
             weights: np.ndarray = NO_WEIGHTS) -> np.ndarray:
        """Answers to rows that were checked, and learns from them; labels and weights are float64, groups int32."""
        steering = self.model.steering
        if steering is not None and len(rows) > steering.room:
            return np.concatenate([self.walk(rows[here], labels[here], groups[here], weights[here]) for here in pieces(
                steering, len(rows), self.engine.settings.samples_per_step)])
        with self.turns.writing:
            self.require_open()
            self.changed = True
            if self.records != self.model.record_gradients:  # switched on or off since
                self.take_note()
                self.records = self.model.record_gradients
                self.plan[0][RECORDS] = self.records
            moments = self.unit.moments
            before = None if moments is None else moments.copy()
            learned, units = self.unit.scaled(labels)
            outputs, norms, done = self.walk_on(rows, learned, groups, weights)
            outputs = in_unit(outputs, units)
            if steering is not None:
                steering.take(labels[:done], groups[:done], outputs[:done],
                              lambda: self.exchange.output_shares(self.state))
                self.model.steered_to(steering.weight)
            if done == len(rows):
                self.hold(labels, groups, outputs, norms)
                return outputs
            self.unit = TargetUnit(before)  # the scale is that of the rows that were learned
            self.unit.scaled(labels[:done])
            self.hold(labels[:done], groups[:done], outputs[:done], norms)
            self.model.progress.diverged.assign(True)
            self.model.after_chunk("this row" if len(rows) == 1 else f"row {done:,} of these rows")
        raise AssertionError("after_chunk raises where the model has diverged")

    def walk_on(self, rows: np.ndarray, labels: np.ndarray, groups: np.ndarray,
                weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
        """Walks as far as the state stays finite: answers, norms, and how many rows were learned."""
        num_rows = len(rows)
        outputs, norms = np.empty((num_rows, self.num_labels), self.dtype), self.no_norms
        if self.records:
            norms = np.empty((-(-num_rows // self.engine.settings.samples_per_step), 9), self.dtype)
        table, kinds = self.engine.kinds_of(labels, groups)
        self.plan[1][WEIGHT] = self.model.fairness_weight
        if self.model.steering is not None or len(self.plan[1]) > OFFSETS:
            self.take_offsets()
        arrays = (rows, labels, groups, kinds, weights, outputs)
        done = self.go(True, table, *arrays, norms)
        return (outputs, norms, done) if done == num_rows else self.on_trial(done, table, arrays, norms)

    def take_offsets(self) -> None:
        """The gaps' offsets into the plan, as long as there is a target; it may come and go in a session."""
        steering, whole, rest = self.model.steering, *self.plan
        offsets = NO_OFFSETS if steering is None else self.exchange.offsets(steering.offsets)
        if offsets.size != rest.size - OFFSETS:
            self.plan = whole, rest = whole, np.concatenate([rest[:OFFSETS], offsets.ravel()])
        rest[OFFSETS:] = offsets.ravel()

    def go(self, guarded: bool, table: np.ndarray, rows: np.ndarray, labels: np.ndarray, groups: np.ndarray,
           kinds: np.ndarray, weights: np.ndarray, outputs: np.ndarray, norms: np.ndarray) -> int:
        state = self.state
        done, self.penalty = walk(
            *self.plan, state.numbers, state.counts, state.iterations, *self.work, self.engine.contrasts, table, rows,
            labels, groups, kinds, weights, guarded, outputs, norms)
        return done

    def on_trial(self, done: int, table: np.ndarray, arrays: tuple[np.ndarray, ...],
                 norms: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
        """Goes on where the walk stopped before a step whose numbers may be too large: that step is on trial."""
        state, each, outputs, num_rows = self.state, self.engine.settings.samples_per_step, arrays[-1], len(arrays[0])

        def part(start: int, end: int) -> tuple[np.ndarray, ...]:
            return *(array[start:end] for array in arrays), norms[start // each :]

        while done < num_rows:
            before, end = state.copy(), min(done + each, num_rows)
            self.go(False, table, *part(done, end))
            if not (state.is_finite and np.isfinite(self.penalty) and np.isfinite(outputs[done:end]).all()):
                state.take(before)
                return outputs, norms[: done // each], done
            state.counts[-1] = np.abs(self.engine.parts(state).gradients).max()
            done = end + (self.go(True, table, *part(end, num_rows)) if end < num_rows else 0)
        return outputs, norms, done

    def hold(self, *rows: np.ndarray) -> None:
        """Keeps rows that were learned for the metrics."""
        ends = NO_KINDS  # none
        if self.records:
            ends = self.num_held + step_ends(len(rows[0]), self.engine.settings.samples_per_step)
        self.held.append((*rows, ends))
        self.num_held += len(rows[0])
        if self.num_held >= HELD:
            self.take_note()

    def tell(self) -> None:
        """Brings the metrics up to date."""
        with self.turns.writing:
            self.take_note()

    def take_note(self) -> None:
        """Adds the rows that are held to the metrics."""
        if self.held:
            labels, groups, outputs, norms, ends = (
                np.concatenate(parts) for parts in zip(*self.held, strict=True))
            labels = labels.astype(self.label_type)
            self.held, self.num_held = [], 0
            with self.model.state:
                self.model.took_note(labels, groups, outputs, norms, self.penalty, ends)
            self.model.warn(at_once=False)

    def forget_past(self) -> None:
        """The means as they were in the beginning; see `FairModel.forget_past`."""
        with self.turns.writing:
            self.require_open()
            self.changed = True
            parts, counts = self.engine.parts(self.state), self.state.counts
            for means in (parts.values, parts.squares, parts.gradients, parts.leaf_gradients):
                means[:] = 0
            counts[: self.engine.shape.num_cells] = counts[-1] = 0  # the last is the largest mean gradient

    def close(self) -> None:
        """Writes everything; who comes later, or waits now, is told."""
        with self.turns.writing:
            self.closed = True
            self.flush()

    def require_open(self) -> None:
        if self.closed:
            raise InUseError("the live session is over")

    @contextmanager
    def at_rest(self) -> Iterator[None]:
        """Holds the variables as they are now; other threads learn when it is over."""
        with self.turns.writing:
            self.flush()
            before, self.being_read = self.being_read, True
            try:
                yield
            finally:
                self.being_read = before

    def flush(self) -> None:
        """Writes what was learned into the model's variables, unless somebody reads them all at this moment."""
        with self.turns.writing:
            if self.being_read:
                return
            model = self.model
            if self.changed:
                with model.state, model.handover:
                    self.exchange.write(self.state, model.statistics, model.optimizer)
                    if model.target_scale is not None:
                        put(model.target_scale.moments, self.unit.moments)
                self.changed = False
            model.put_fairness_weight(model.fairness_weight)
            model.put_offsets()
            self.plan[1][RATE] = settings_of(model.optimizer).learning_rate
            self.take_note()  # last: metrics of the user's may raise
