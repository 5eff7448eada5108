"""What the service has learned, and nothing else: the same entries in the same order give the same bits.

Time, requests and files are elsewhere. So whoever lost this state in a crash gets it back from an older save and the
entries since then.
"""

import hashlib
import math
from itertools import islice

import numpy as np

from aranyani_tf.errors import AranyaniError

REMEMBERED = 1_000_000  # ids of feedback that was learned, so that none is learned twice
POINTS = 400  # of the curves on the page


class Learner:
    """A model in a live session, the monitor of its decisions, and what was learned.

    Args:
        tabular: a `TabularModel`; it belongs to this learner until `close`.
        monitor: a `FairnessMonitor`.
        state: what `state` gave, to go on from there.
        learned: ids that were learned before.
        remembered: how many of these are kept, the last ones.
    """

    def __init__(self, tabular, monitor, state=None, learned=(), remembered=REMEMBERED):
        self.tabular, self.monitor, self.form = tabular, monitor, tabular.form
        self.offset, self.num_learned, self.alarms, self.history, self.spacing = 0, 0, [], [], 50
        for name, value in (state or {}).items():
            setattr(self, name, value)
        self.learned, self.fresh = dict.fromkeys(learned), []  # fresh: those that no file has yet
        self.remembered = remembered
        monitor.on_alarm = lambda report: self.alarms.append({"row": report.rows, "text": str(report)})
        self.live = tabular.live().__enter__()

    def state(self):
        """What there is beside model and monitor, as JSON knows it."""
        return {name: getattr(self, name) for name in ("offset", "num_learned", "alarms", "history", "spacing")}

    def predict(self, row):
        """The label that is most probable, and the probability of each."""
        said = self.live.say(row)
        return {"label": self.live.answers.label(said), "probabilities": self.live.answers.probability(said)}

    def take(self, entry):
        """The next entry of the journal: learned once, however often it comes. Gives what became of it.

        `decision` is what was answered when the row came. It is scored, not what the model would say now; without
        one the row is learned and not scored.
        """
        self.offset += 1
        key, label, group = entry["id"], entry["label"], entry["group"]
        if key in self.learned:
            return {"status": "already learned"}
        try:
            codes = self.form.peek(label, group)
            self.live.learn(entry["row"], label=label, group=group)
        except AranyaniError as error:  # as it would be next time
            return {"status": "refused", "error": str(error)}
        self.remember(key)
        scored = entry["decision"] is not None
        if scored:
            decision = self.form.peek(entry["decision"], None)[0]
            self.monitor.add(decision, codes[1], codes[0])
        if self.num_learned % self.spacing == 0:
            self.history.append(self.point())
            if len(self.history) > POINTS:
                self.history, self.spacing = self.history[1::2], 2 * self.spacing
        return {"status": "learned", "scored": scored}

    def remember(self, key):
        self.num_learned += 1
        self.learned[key] = None
        self.fresh.append(key)
        if len(self.learned) > self.remembered:
            for oldest in list(islice(self.learned, 1 + self.remembered // 10)):
                del self.learned[oldest]

    def point(self):
        """Where things stand: a point of the curves. NaN becomes None, which JSON knows."""
        report = self.monitor.seen()  # `report` might sound an alarm, which is for `take` alone to do
        found = {"learned": self.num_learned, "scored": report.rows, "accuracy": report.metrics["accuracy"],
                 "gap": report.gap, "low": report.low, "high": report.high, "recent_gap": report.recent[report.notion],
                 "fairness_weight": self.tabular.model.fairness_weight}
        return {name: value if math.isfinite(value) else None for name, value in found.items()}

    def digest(self):
        """A hash of every bit that was learned, to compare two learners."""
        model = self.tabular.model
        arrays = [*model.get_weights(), *(variable.numpy() for variable in model.optimizer.variables),
                  *(value for _, value in sorted(model.further_state().items()))]
        parts = [np.asarray(array).tobytes() for array in arrays]
        parts += [repr(each).encode() for each in (self.state(), self.monitor.to_json(), self.form.to_json())]
        return hashlib.sha256(b"".join(parts)).hexdigest()

    def close(self):
        self.live.__exit__(None, None, None)
