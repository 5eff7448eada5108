"""A fair model whose forest learns and predicts by the engine of `engine/`, where that can take it.

The state stays in Keras's variables: they are read before a chunk and written after it, so that callbacks, files and
whoever looks at the weights see no difference. What the engine cannot take is learned by TensorFlow's step.
"""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np
import tensorflow as tf

from aranyani_tf.control.steered_rows import learn_steered
from aranyani_tf.engine.coverage import reason_against_forest
from aranyani_tf.engine.exchange import Exchange, settings_of
from aranyani_tf.engine.row_engine import NO_WEIGHTS, ForestEngine, RowEngine
from aranyani_tf.engine.targets import TargetUnit, in_unit
from aranyani_tf.errors import InUseError
from aranyani_tf.evaluation.row_tallies import Scored
from aranyani_tf.labels import is_informative, is_labelled, missing_label
from aranyani_tf.model.engine_choice import ANSWERS
from aranyani_tf.model.exporting_model import ExportingModel
from aranyani_tf.model.live import Live
from aranyani_tf.model.online_model import OnlineModel
from aranyani_tf.model.session import Session
from aranyani_tf.streams.feed import Feed, Places
from aranyani_tf.variables import put, value_of

CHUNK = 16_384  # rows of one walk in `predict_then_learn`


class EngineModel(ExportingModel):
    """Base class of `Aranyani`: a `FairModel` that learns by the engine that was chosen."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.exchange: Exchange | None = None
        self.reader: Exchange | None = None
        self.owner: Live | None = None  # of the state, at the moment
        self.session: Session | None = None  # where the owner has it
        self.places: Places | None = None  # of the rows that `fit` learns, where they are in memory
        self.handover = threading.Lock()  # while variables that belong together are read or written

    @property
    def by_engine(self) -> Exchange | None:
        """The built model's engine; None if TensorFlow's step learns."""
        if self.reason_for_xla() is not None:
            return None
        if self.exchange is None:
            self.exchange = Exchange(RowEngine(self.step, self.samples_per_step))
        return self.exchange

    def program(self, method: Any) -> Any:
        if self.by_engine is not None and method.__name__ in ("train_step", "learn_and_score", "test_step"):
            return method  # which calls what is compiled
        return super().program(method)

    @contextmanager
    def dataset_of(self, feed: Feed) -> Iterator[tf.data.Dataset]:
        if self.by_engine is None or not feed.all_good:
            with super().dataset_of(feed) as dataset:
                yield dataset
            return
        before, self.places = self.places, Places(feed)
        try:
            yield self.places.dataset()
        finally:
            self.places = before  # of the `fit` in whose callback this one ran

    def rows_of(self, element: Any) -> tuple:
        return element if isinstance(element, tuple) or self.places is None else self.places.chunk(int(element))

    def train_step(self, data: tuple) -> dict:
        if self.by_engine is None:
            return super().train_step(data)
        inputs, labels, *row_weights = data
        features, groups, labels, *row_weights = map(
            np.asarray, (inputs["features"], inputs["group"], labels, *row_weights))
        skipped = min(int(self.progress.to_skip.numpy()), len(labels))
        if skipped:  # by a restored model, which knows these rows
            labels, groups = np.array(labels), np.array(groups)
            labels[:skipped], groups[:skipped] = missing_label(labels), -1
            self.progress.to_skip.assign_sub(skipped)
        self.progress.epoch_rows.assign_add(len(labels) - skipped)
        informative = np.flatnonzero(is_informative(labels, groups))
        self.learn_and_score(features, labels, groups, informative[-1] + 1 if len(informative) else 0, *row_weights)
        return self.get_metrics_result()

    def test_step(self, data: tuple) -> dict:
        if self.by_engine is None:
            return super().test_step(data)
        inputs, labels = data
        features, groups, labels = (np.asarray(array) for array in (inputs["features"], inputs["group"], labels))
        self.score_rows(labels, groups, self.say(features))
        self.fairness_penalty.update_state(self.penalty_now())
        return self.get_metrics_result()

    def learn_and_score(self, features: Any, labels: Any, groups: Any, num_rows: Any, *row_weights: Any) -> Any:
        """As `ChunkModel` has it; here the variables are not touched at all where the model diverges."""
        exchange = self.by_engine
        if exchange is None:
            return super().learn_and_score(features, labels, groups, num_rows, *row_weights)
        features, labels, groups, weights = (
            array[:num_rows] for array in (features, labels, groups, *(row_weights or (NO_WEIGHTS,))))
        state, unit = exchange.read(self.statistics, self.optimizer), self.target_unit()
        learned, units = unit.scaled(labels)
        steering = None if self.steering is None else self.steering.copy()
        outputs, norms, penalty = learn_steered(
            exchange, state, settings_of(self.optimizer), self.fairness_weight, steering, features, learned, groups,
            weights, records=self.record_gradients)
        outputs = in_unit(outputs, units)
        if not (np.isfinite(outputs).all() and np.isfinite(penalty) and state.is_finite):
            self.progress.diverged.assign(True)
            return np.zeros_like(outputs)
        with self.handover:
            exchange.write(state, self.statistics, self.optimizer)
            if self.target_scale is not None:
                put(self.target_scale.moments, unit.moments)
            self.take_steering(steering)
        self.took_note(labels, groups, outputs, norms, penalty)
        return outputs

    def took_note(self, labels: np.ndarray, groups: np.ndarray, outputs: np.ndarray, norms: np.ndarray,
                  penalty: float, ends: np.ndarray | None = None) -> None:
        """Adds rows that were learned to the metrics and the norms of gradients; `ends` is where their steps end."""
        put(self.fairness_penalty.last, penalty)
        if len(norms):
            self.gradient_record.add(norms, len(labels), ends)
        if len(labels):
            self.progress.add_scored(self.score_rows(labels, groups, outputs))

    def score_rows(self, labels: np.ndarray, groups: np.ndarray, outputs: np.ndarray) -> Scored:
        """`score`, of arrays."""
        scored = self.prequential.scored(labels, groups, outputs)
        self.prequential.absorb(scored.increments)
        self.task_loss.absorb((scored.loss, float(scored.num_labelled)))
        if self.has_further_metrics:
            known = is_labelled(labels)
            self.compute_metrics(None, np.where(known, labels, 0), outputs, known.astype(outputs.dtype))
        return scored

    def learn_arrays(self, *rows: np.ndarray) -> np.ndarray:
        if self.by_engine is None:
            return super().learn_arrays(*rows)
        outputs, size = [], max(CHUNK // self.samples_per_step, 1) * self.samples_per_step
        for start in range(0, len(rows[0]), size):
            features, labels, groups, *row_weights = (array[start : start + size] for array in rows)
            outputs.append(self.learn_and_score(features, labels, groups, len(labels), *row_weights))
            self.after_chunk(f"the rows from {start:,} to {start + len(labels) - 1:,}, of those that could be used")
        return np.concatenate(outputs)

    def largest_chunk(self) -> int:
        return OnlineModel.largest_chunk(self) if self.built and self.by_engine is not None else super().largest_chunk()

    def steer_by_counts(self) -> None:
        if self.by_engine is None:
            super().steer_by_counts()

    def before_chunks(self) -> None:
        if self.by_engine is None:
            super().before_chunks()

    def keep_norms(self) -> None:
        if self.by_engine is None:
            super().keep_norms()

    def say(self, features: np.ndarray) -> np.ndarray:
        """What the forest says about rows that were checked, by the engine."""
        if self.reader is None:
            self.reader = Exchange(ForestEngine(self.forest))
        state = self.reader.engine.blank()
        with self.handover:
            self.reader.read_weights(self.reader.engine.parts(state))
            units = self.target_unit().now()
        return in_unit(self.reader.engine.predict(state, features), units)

    def target_unit(self) -> TargetUnit:
        return TargetUnit(None if self.target_scale is None else value_of(self.target_scale.moments))

    def short_answers(self, features: np.ndarray) -> np.ndarray | None:
        other = self.wanted_engine == "xla" or self.own_method(*ANSWERS) or (
            reason_against_forest(self.forest, self.encoder))
        if not other:
            return self.say(features)
        return super().short_answers(features)

    def live(self) -> Live:
        """The model row by row, in microseconds: `with model.live() as live: live.predict_then_learn(x, y, a)`.

        Until it ends, the session owns the state. Whatever reads the model meanwhile (`save`, `predict`, `so_far`)
        gets what the session knows; what would change it (`fit`, `load_weights`) raises.

        >>> import aranyani_tf as ar
        >>> stream = ar.datasets.load("synthetic", num_rows=200)
        >>> model = ar.Aranyani(seed=0)
        >>> with model.live() as live:
        ...     for x, y, a in zip(stream.features, stream.labels, stream.groups):
        ...         said = live.predict_then_learn(x, y, a)       # (label,)
        >>> model.so_far()["rows"]
        200
        """
        return Live(self)

    def settle(self) -> None:
        session = self.session
        if session is not None:
            session.flush()

    def settled(self) -> AbstractContextManager[None]:
        session = self.session
        return nullcontext() if session is None else session.at_rest()

    def require_own_state(self) -> None:
        if self.owner is not None:
            raise InUseError("a live session owns this model's state: learn with live.learn, or end the session first")

