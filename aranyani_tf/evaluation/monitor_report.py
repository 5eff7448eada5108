"""What a monitor found: numbers for people, for tables and for Prometheus."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from aranyani_tf.evaluation import metrics
from aranyani_tf.evaluation.monitor_settings import NOTIONS, MonitorSettings

GROUP_METRICS = {"selection_rate": "Share of positive decisions.", "accuracy": "Share of labelled rows decided right.",
                 "true_positive_rate": "Share of positive decisions where the label is positive.",
                 "false_positive_rate": "Share of positive decisions where the label is another."}


@dataclass(frozen=True)
class MonitorReport:
    """One moment of a `FairnessMonitor`. NaN is what cannot be known.

    `gap`, `low` and `high` are of the notion that is watched, over the rows since the beginning or since `rearm`;
    everything else is of all rows, and what is called recent of the recent past.
    """

    notion: str
    level: float
    limit: float | None
    alarmed: bool  # whether the alarm was sounded
    rows: int
    gap: float
    low: float  # the ends of its interval
    high: float
    metrics: dict[str, float]  # accuracy and the gap of each notion
    recent: dict[str, float]  # likewise; empty without forgetting
    groups: dict[str, dict[str, float]]  # name → rows, labelled, the rates; of the recent past as recent_…

    def __str__(self) -> str:
        text = (f"{self.notion} gap {self.gap:.3f}, between {self.low:.3f} and {self.high:.3f} at every moment with "
                f"{1 - self.level:.0%} confidence, {self.rows:,} rows")
        return text if self.limit is None else f"{text}, limit {self.limit:g}"

    def frame(self) -> pd.DataFrame:
        """One row a group: rows, labelled, selection_rate, accuracy, true_positive_rate, false_positive_rate, …"""
        frame = pd.DataFrame.from_dict(self.groups, orient="index").rename_axis("group")
        return frame.astype({"rows": "int64", "labelled": "int64"})

    def prometheus(self, **labels: str) -> str:
        """Text in Prometheus's exposition format; see `FairnessMonitor.prometheus`."""
        lines: list[str] = []
        for name, kind, meaning, samples in self.samples():
            lines += [f"# HELP aranyani_{name} {meaning}", f"# TYPE aranyani_{name} {kind}"]
            for own, value in samples:
                inside = ",".join(f'{key}="{escaped(text)}"' for key, text in (labels | own).items())
                lines.append(f"aranyani_{name}{{{inside}}} {'NaN' if np.isnan(value) else float(value)}")
        return "\n".join(lines) + "\n"

    def samples(self) -> Iterator[tuple[str, str, str, list[tuple[dict[str, str], float]]]]:
        """Name, kind and meaning of each metric, and its values with their labels."""
        def of_groups(key: str, **own: str) -> list[tuple[dict[str, str], float]]:
            return [({"group": name} | own, found[key]) for name, found in self.groups.items()]

        yield "rows_total", "counter", "Decisions that were watched, by group.", of_groups("rows")
        yield "labelled_rows", "gauge", "Those of them whose label is known.", of_groups("labelled")
        for name, meaning in GROUP_METRICS.items():
            recent = of_groups(f"recent_{name}", rows="recent") if self.recent else []
            yield name, "gauge", meaning, [*of_groups(name, rows="all"), *recent]
        gaps = [({"notion": notion, "rows": rows}, found[notion]) for notion in NOTIONS
                for rows, found in (("all", self.metrics), ("recent", self.recent)) if found]
        yield "gap", "gauge", "Largest difference between groups.", gaps
        watched = {"notion": self.notion}
        yield "watched_gap", "gauge", "The gap that the alarm is about.", [(watched, self.gap)]
        yield "watched_gap_low", "gauge", "Lower end of its interval, valid at every moment.", [(watched, self.low)]
        yield "watched_gap_high", "gauge", "Upper end of its interval.", [(watched, self.high)]
        if self.limit is not None:
            yield "gap_limit", "gauge", "What the lower end must not exceed.", [(watched, self.limit)]
        yield "alarm", "gauge", "1 since the alarm was sounded.", [(watched, self.alarmed)]


def escaped(text: Any) -> str:
    """A label's value as Prometheus wants it between quotes."""
    return str(text).replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def report_of(settings: MonitorSettings, counts: np.ndarray, recent: np.ndarray, watched: np.ndarray,
              bounds: tuple[float, float], alarmed: bool) -> MonitorReport:
    """The report on tables of all rows, of the recent past, and of the rows whose gap is watched."""
    positive, forgets = settings.positive_label, settings.decay is not None
    found = overall(np.stack([watched, counts, recent]), positive)
    of_watched, of_all, of_recent = ({name: float(value[index]) for name, value in found.items()}
                                     for index in range(3))
    groups = by_group(counts, positive)
    if forgets:
        groups |= {f"recent_{name}": by_group(recent, positive)[name] for name in GROUP_METRICS}
    return MonitorReport(
        notion=settings.notion, level=settings.level, limit=settings.limit, alarmed=alarmed, rows=int(counts.sum()),
        gap=of_watched[settings.notion], low=bounds[0], high=bounds[1], metrics=of_all,
        recent=of_recent if forgets else {},
        groups={name: {key: float(value[index]) for key, value in groups.items()}
                for index, name in enumerate(settings.names)})


def overall(counts: np.ndarray, positive_label: int) -> dict[str, np.ndarray]:
    """Accuracy and every gap, of tables with any leading axes."""
    found = {"accuracy": metrics.accuracy(counts), "demographic_parity": metrics.demographic_parity(counts),
             "equal_opportunity": metrics.equal_opportunity(counts, positive_label),
             "equalized_odds": metrics.equalized_odds(counts)}
    return {name: np.asarray(value) for name, value in found.items()}


def by_group(counts: np.ndarray, positive_label: int) -> dict[str, np.ndarray]:
    """Rows and rates of each group: (label + 1, group + 1, prediction) → (group,) each."""
    table = counts[:, :-1]  # the last group is nobody's
    known = table[:-1]
    others = np.delete(known, positive_label, axis=0).sum(axis=0)
    positive, rows, labelled = known[positive_label], table.sum(axis=(0, 2)), known.sum(axis=(0, 2))
    return {"rows": rows, "labelled": labelled,
            "selection_rate": share(table[..., positive_label].sum(axis=0), rows),
            "accuracy": share(np.einsum("lgl->g", known), labelled),
            "true_positive_rate": share(positive[:, positive_label], positive.sum(axis=1)),
            "false_positive_rate": share(others[:, positive_label], others.sum(axis=1))}


def share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """part / whole, NaN of nothing."""
    return np.divide(part, whole, out=np.full(np.shape(part), np.nan), where=whole > 0)
