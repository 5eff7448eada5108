"""Watches the decisions of any model: rates and gaps in O(1) memory, and an alarm that chance seldom sounds."""

import dataclasses
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd

from aranyani_tf.arguments import as_names
from aranyani_tf.checked_json import Kind
from aranyani_tf.errors import ArgumentError, DamagedFileError
from aranyani_tf.evaluation.alarm import sound
from aranyani_tf.evaluation.decision_counts import DecisionCounts
from aranyani_tf.evaluation.gap_interval import GapInterval
from aranyani_tf.evaluation.monitor_report import MonitorReport, report_of
from aranyani_tf.evaluation.monitor_settings import MonitorSettings, require_counts
from aranyani_tf.evaluation.prequential import RECENT

MONITOR = Kind("FairnessMonitor", 1, DamagedFileError, "write one with monitor.save(path)")
Function = Callable[[MonitorReport], Any]


class FairnessMonitor:
    """Selection rates, accuracy and gaps between groups of decisions as they are made, by whomever.

    The gap of the `notion` has an interval that is valid at every moment: the probability that it is ever wrong, at any
    row of an endless stream, is at most `level`, so one may look whenever one likes. It covers the gap between the
    groups' mean probabilities so far: each row of a group counts with the probability of its decision, given all rows
    before, its group, and its label if the notion asks for it. Nothing is assumed about these: the world may drift, and
    the model may learn from what it decided. Where they do not change, the gap that is covered is simply the true one.
    `gap_interval` has the proof. There is no such interval of the recent past: where the number of rows that count
    does not grow, chance exceeds any width some day.

    A label that comes late: `add` the decision when it is made, `add_labels` when its label comes. If labels come for
    some decisions only, accuracy and the notions with labels are of those. Threads may share a monitor.

    Args:
        level: probability with which the interval is ever wrong.
        limit: of the gap. The alarm is sounded once, when the interval's lower end exceeds it; None is never. It is
            looked at whenever there is 1 % more to see, and in `report`.
        decay: what a row loses of its weight in the recent past with each row behind it; None has no recent past.
        on_alarm: called with the report. Before that a warning is logged, and sent to W&B if there is a run.
        positive_label: the decision whose rate is the selection rate.
        group_names: for tables and Prometheus.
        run: W&B's run for the alert; None is the one that is active, if W&B is in use.

    >>> import aranyani_tf as ar
    >>> stream = ar.datasets.load("adult")[:10000]
    >>> monitor = ar.FairnessMonitor(limit=0.02)
    >>> with ar.Aranyani(fairness_weight=0.0, seed=0).live() as live:
    ...     for x, y, a in zip(stream.features, stream.labels, stream.groups):
    ...         decision = live.predict_then_learn(x, y, a).argmax()
    ...         monitor.add(decision, a, y)
    >>> report = monitor.report()
    >>> report.rows, 0.02 < report.low < report.gap < report.high, report.alarmed
    (10000, True, True)
    >>> list(monitor.frame().columns[:4])
    ['rows', 'labelled', 'selection_rate', 'accuracy']
    """

    def __init__(self, num_groups: int = 2, num_labels: int = 2, notion: str = "demographic_parity", *,
                 level: float = 0.05, limit: float | None = None, decay: float | None = 1 / RECENT,
                 on_alarm: Function | None = None, positive_label: int = 1,
                 group_names: Sequence[str] | None = None, run: Any = None) -> None:
        names = as_names("group_names", group_names)
        self.settings = MonitorSettings(num_groups, num_labels, notion, level, limit, decay, positive_label,
                                        None if names is None else list(names))
        if on_alarm is not None and not callable(on_alarm):
            raise ArgumentError(f"on_alarm must be a function of the report, got {on_alarm!r}")
        self.on_alarm, self.run, self.lock = on_alarm, run, threading.Lock()
        self.interval = GapInterval(notion, num_labels, num_groups, positive_label, self.settings.level)
        self.counts = DecisionCounts(num_labels, num_groups, self.settings.decay or 0.0)
        self.before = np.zeros_like(self.counts.all)  # what `rearm` left behind
        self.alarmed, self.news, self.next_look = False, 0, 1  # news: rows and late labels since then

    def add(self, decisions: Any, groups: Any, labels: Any = None) -> None:
        """The next row or rows: the decision, the group, and the label if it is known; −1 is missing.

        A row without a decision, or with neither group nor label, is not counted.
        """
        if labels is None:
            labels = -1 if np.ndim(decisions) == 0 else np.full(np.shape(decisions), -1)
        self.count(self.counts.add, decisions, groups, labels)

    def add_labels(self, decisions: Any, groups: Any, labels: Any) -> None:
        """Labels that came late, each with the decision and the group that `add` was given.

        In the recent past such a row has the mean weight of the rows that wait for a label with its group and decision.
        """
        self.count(self.counts.add_labels, decisions, groups, labels)

    def count(self, how: Callable[..., int], *rows: Any) -> None:
        """Counts rows, and looks whether the limit is exceeded beyond doubt, if it is time to."""
        with self.lock:
            self.news += how(*rows)
            if self.settings.limit is None or self.alarmed or self.news < self.next_look:
                return
            self.next_look = self.news + 1 + self.news // 100
            due = self.is_due()
            report = self.seen() if due else None
        if report is not None:  # told while nobody waits: it may take long, or ask this monitor
            sound(report, self.run, self.on_alarm)

    def is_due(self) -> bool:
        """Whether the alarm has to be sounded now; says so once."""
        limit = self.settings.limit
        due = limit is not None and not self.alarmed and self.interval.exceeds(self.counts.all - self.before, limit)
        self.alarmed |= due
        return due

    def rearm(self) -> None:
        """Ready for another alarm. The gap that is watched, and its interval, begin anew with the next row.

        Each beginning has an error probability of `level` of its own. Rates and other gaps stay those of all rows.
        """
        with self.lock:
            self.before, self.alarmed, self.news, self.next_look = self.counts.all.copy(), False, 0, 1

    def report(self) -> MonitorReport:
        """What was seen so far; takes milliseconds. Sounds the alarm if that is due."""
        with self.lock:
            due, report = self.is_due(), self.seen()
        if due:
            sound(report, self.run, self.on_alarm)
        return report

    def frame(self) -> pd.DataFrame:
        """The report as a table, one row a group."""
        return self.report().frame()

    def prometheus(self, **labels: str) -> str:
        """The report in Prometheus's text format, for a page /metrics; `labels` are added to every sample.

        >>> monitor = FairnessMonitor(group_names=["f", "m"])
        >>> monitor.add([1, 0, 1], [0, 0, 1])
        >>> [line for line in monitor.prometheus(model="loans").splitlines() if "selection_rate{" in line][0]
        'aranyani_selection_rate{model="loans",group="f",rows="all"} 0.5'
        """
        return self.report().prometheus(**labels)

    def seen(self) -> MonitorReport:
        """The report of this moment."""
        watched = self.counts.all - self.before
        return report_of(self.settings, self.counts.all, self.counts.recent, watched, self.interval.bounds(watched),
                         self.alarmed)

    def __add__(self, other: Self) -> Self:
        """A monitor of the rows of both, which must be different rows, with the first one's function and run.

        Counts add up, so all but the recent past is as if one monitor had seen all rows, and so is what the interval
        promises, provided that the two are added at moments that were not picked, one for each, by what they showed.
        The recent pasts add up too, each faded by its own rows alone, as if both streams ran side by side. The alarm
        was sounded if one of them has sounded it.
        """
        if not isinstance(other, FairnessMonitor):
            return NotImplemented
        if self.settings != other.settings:
            mine, theirs = dataclasses.asdict(self.settings), dataclasses.asdict(other.settings)
            names = ", ".join(name for name in mine if mine[name] != theirs[name])
            raise ArgumentError(f"monitors that are added must have the same settings; these differ in {names}")
        both = type(self)(**dataclasses.asdict(self.settings), on_alarm=self.on_alarm, run=self.run)
        for state in (self.state(), other.state()):
            both.absorb(state)
        both.next_look = 0
        return both

    def state(self) -> dict[str, Any]:
        """Everything but the function and the run, as numbers, texts and lists."""
        with self.lock:
            return {"settings": dataclasses.asdict(self.settings), "alarmed": self.alarmed, "news": self.news,
                    "next_look": self.next_look, "all": self.counts.all.tolist(),
                    "recent": self.counts.recent.tolist(), "before": self.before.tolist()}

    def absorb(self, state: dict[str, Any]) -> None:
        """Adds what another monitor has seen."""
        self.counts.all += state["all"]
        self.counts.recent += state["recent"]
        self.before += state["before"]
        self.alarmed, self.news = self.alarmed or state["alarmed"], self.news + state["news"]

    def to_json(self) -> str:
        """All that was counted and all settings, but for `on_alarm` and `run`, with a version and a check sum."""
        return MONITOR.text(self.state())

    @classmethod
    def from_json(cls, text: str, *, on_alarm: Function | None = None, run: Any = None,
                  place: str = "the text") -> Self:
        """The monitor that `to_json` was asked for; it goes on exactly, and an alarm that was sounded stays so."""
        return cls.of_state(MONITOR.opened(text, place), on_alarm, run, place)

    @classmethod
    def of_state(cls, state: dict[str, Any], on_alarm: Function | None, run: Any, place: str) -> Self:
        try:
            monitor = cls(**state["settings"], on_alarm=on_alarm, run=run)
            require_counts(monitor.counts.all.shape, state)
            monitor.absorb(state)
            monitor.next_look = state["next_look"]
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise MONITOR.damaged(place, f"{type(error).__name__}: {error}") from error
        return monitor

    def save(self, path: str | os.PathLike) -> None:
        """`to_json` into a file that is whole or not there."""
        MONITOR.write(self.state(), path)

    @classmethod
    def load(cls, path: str | os.PathLike, *, on_alarm: Function | None = None, run: Any = None) -> Self:
        """The monitor that was saved there."""
        return cls.of_state(MONITOR.read(path), on_alarm, run, str(path))
