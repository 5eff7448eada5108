"""A model that forgets its running means when River's ADWIN says that its stream has changed."""

from typing import Any

import numpy as np

from aranyani_tf.arguments import require_choice
from aranyani_tf.errors import ArgumentError

WATCHED = ("error", "gap")


class AdwinReset:
    """Takes a model through its stream row by row, and makes it `forget_past` on every alarm.

    ADWIN (Bifet and Gavaldà, 2007) keeps a window of numbers that it cuts where the means of its two parts differ
    beyond chance. It is told

    - "error": for every row with a label, 1 if the model's decision was wrong and 0 if it was right;
    - "gap": for every pair of rows, one of each group, half of 1 + the difference of the two decisions, whose mean
      tells the difference of the groups' rates. A pair is complete when both groups had a row since the last one, and
      has the latest of each; so a small group is what it waits for.

    An alarm may as well be raised where things got better; the model forgets then too.

    Args:
        model: an `Aranyani` of two labels, and of two groups where the gap is watched.
        watch: "error" or "gap".
        delta: ADWIN's own: about how likely an alarm is where nothing has changed.

    Attributes:
        alarms: the numbers of the rows at which it was raised, from 0 on.

    >>> import aranyani_tf as ar
    >>> stream = ar.datasets.load("synthetic", num_rows=3000, drift_at=0.5, bias=4.0, seed=0)
    >>> learner = AdwinReset(ar.Aranyani(constraint="output", seed=0), watch="gap")
    >>> records = ar.learn_stream(learner, stream)
    >>> any(1500 <= row < 2500 for row in learner.alarms)
    True
    """

    def __init__(self, model: Any, watch: str = "error", delta: float = 0.002) -> None:
        from river.drift import ADWIN

        require_choice("watch", watch, WATCHED)
        if model.num_labels != 2 or (watch == "gap" and model.num_groups != 2):
            raise ArgumentError("ADWIN watches decisions between two labels, and the gap of two groups; the model has "
                                f"num_labels={model.num_labels} and num_groups={model.num_groups}")
        self.model, self.watch, self.detector = model, watch, ADWIN(delta=delta)
        self.num_labels, self.num_groups = model.num_labels, model.num_groups
        self.latest: list[int | None] = [None, None]  # decision of each group since the last pair
        self.num_rows, self.alarms = 0, list[int]()

    def predict_then_learn(self, x: np.ndarray, y: np.ndarray, a: np.ndarray) -> np.ndarray:
        outputs = np.empty((len(y), self.num_labels), self.model.compute_dtype)
        with self.model.live() as live:
            for row, (features, label, group) in enumerate(zip(x, y, a, strict=True)):
                outputs[row] = live.predict_then_learn(features, label, group)
                if self.is_alarmed(int(outputs[row].argmax()), int(label), int(group)):
                    self.alarms.append(self.num_rows)
                    live.forget_past()
                self.num_rows += 1
        return outputs

    def is_alarmed(self, decision: int, label: int, group: int) -> bool:
        """Tells ADWIN of a row, and whether it raises an alarm."""
        value = self.error(decision, label) if self.watch == "error" else self.difference(decision, group)
        if value is None:
            return False
        self.detector.update(value)
        return bool(self.detector.drift_detected)

    def error(self, decision: int, label: int) -> float | None:
        return None if label < 0 else float(decision != label)

    def difference(self, decision: int, group: int) -> float | None:
        if group < 0:
            return None
        self.latest[group] = decision
        first, second = self.latest
        if first is None or second is None:
            return None
        self.latest = [None, None]
        return (1 + second - first) / 2
