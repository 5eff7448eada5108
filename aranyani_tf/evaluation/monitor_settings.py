"""What a monitor is told to watch, checked once; monitors with the same settings can be added."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from aranyani_tf import arguments as check
from aranyani_tf.errors import ArgumentError
from aranyani_tf.streams.row_rules import as_numbers

NOTIONS = ("demographic_parity", "equal_opportunity", "equalized_odds")


@dataclass(frozen=True)
class MonitorSettings:
    """See `FairnessMonitor`."""

    num_groups: int
    num_labels: int
    notion: str
    level: float
    limit: float | None
    decay: float | None
    positive_label: int
    group_names: list[str] | None

    def __post_init__(self) -> None:
        check.require_whole("num_groups", self.num_groups, 2)
        check.require_whole("num_labels", self.num_labels, 2)
        check.require_room("the counts by label, group and decision",
                           self.num_labels * (self.num_labels + 1) * (self.num_groups + 1), 2**28)
        check.require_choice("notion", self.notion, NOTIONS)
        check.require_number("level", self.level, 0, 1, above=True, below=True)
        check.require_whole("positive_label", self.positive_label, 0, self.num_labels - 1)
        if self.limit is not None:
            check.require_number("limit", self.limit, 0, 1, below=True)
        if self.decay is not None:
            check.require_number("decay", self.decay, 0, 1, above=True, below=True)
        for name in ("level", "limit", "decay"):  # fractions are numbers, too, but none of NumPy's or JSON's
            if getattr(self, name) is not None:
                object.__setattr__(self, name, float(getattr(self, name)))
        if not len(self.names) == len(set(self.names)) == self.num_groups:
            raise ArgumentError(f"group_names must be {self.num_groups} different names, one a group; got "
                                f"{self.group_names}")

    @property
    def names(self) -> list[str]:
        """Of the groups; their numbers, if nobody gave them names."""
        return [str(group) for group in range(self.num_groups)] if self.group_names is None else self.group_names


def require_counts(shape: tuple[int, ...], state: dict[str, Any]) -> None:
    """Raises unless what a file says was counted are tables of this shape, of numbers from 0 on, and whole counts."""
    for name in ("all", "recent", "before"):
        table = as_numbers(name, state[name])
        if table.shape != shape or not (np.isfinite(table) & (table >= 0)).all():
            raise ArgumentError(f"{name} must be {shape} numbers of at least 0, got shape {table.shape}")
    check.require_flags(alarmed=state["alarmed"])
    for name in ("news", "next_look"):
        check.require_whole(name, state[name], 0)
