"""A learner whose records are told while it learns, for a log that somebody may be watching."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from aranyani_tf import Stream
from aranyani_tf.evaluation.records import StreamRecord


class Watched:
    """Predicts and learns as its learner does, and calls `on_record` with the record of every checkpoint it passes."""

    def __init__(self, learner: Any, stream: Stream, checkpoints: list[int], on_record: Callable[[dict], Any]):
        self.learner, self.on_record = learner, on_record
        self.record = StreamRecord(len(stream), num_labels=stream.num_labels, num_groups=stream.num_groups,
                                   positive_label=getattr(learner, "positive_label", 1), checkpoints=checkpoints)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.learner, name)

    def predict_then_learn(self, x: np.ndarray, y: np.ndarray, a: np.ndarray) -> np.ndarray:
        outputs, before = np.asarray(self.learner.predict_then_learn(x, y, a)), self.record.num_seen
        self.record.add(np.asarray(y), np.asarray(a), outputs[:, None])
        passed = copy.copy(self.record)
        passed.checkpoints = [step for step in self.record.checkpoints if before < step <= self.record.num_seen]
        if passed.checkpoints:
            for record in passed.frame().drop(columns="model").to_dict("records"):
                self.on_record(record)
        return outputs
