"""A learner whose records are told while it learns, for a log that somebody may be watching."""

import copy

import numpy as np

from aranyani_tf.evaluation.records import StreamRecord


class Watched:
    """Predicts and learns as its learner does, and calls `on_record` with the record of every checkpoint it passes."""

    def __init__(self, learner, stream, checkpoints, on_record):
        self.learner, self.on_record = learner, on_record
        self.record = StreamRecord(len(stream), num_labels=stream.num_labels, num_groups=stream.num_groups,
                                   positive_label=getattr(learner, "positive_label", 1), checkpoints=checkpoints)

    def __getattr__(self, name):
        return getattr(self.learner, name)

    def predict_then_learn(self, x, y, a):
        outputs, before = np.asarray(self.learner.predict_then_learn(x, y, a)), self.record.num_seen
        self.record.add(np.asarray(y), np.asarray(a), outputs[:, None])
        passed = copy.copy(self.record)
        passed.checkpoints = [step for step in self.record.checkpoints if before < step <= self.record.num_seen]
        if passed.checkpoints:
            for record in passed.frame().drop(columns="model").to_dict("records"):
                self.on_record(record)
        return outputs
