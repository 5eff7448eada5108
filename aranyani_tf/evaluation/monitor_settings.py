"""What a monitor is told to watch, checked once; monitors with the same settings can be added."""

from dataclasses import dataclass

from aranyani_tf import arguments as check
from aranyani_tf.errors import ArgumentError

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
        check.require_choice("notion", self.notion, NOTIONS)
        check.require_number("level", self.level, 0, 1, above=True, below=True)
        check.require_whole("positive_label", self.positive_label, 0, self.num_labels - 1)
        if self.limit is not None:
            check.require_number("limit", self.limit, 0, 1, below=True)
        if self.decay is not None:
            check.require_number("decay", self.decay, 0, 1, above=True, below=True)
        if not len(self.names) == len(set(self.names)) == self.num_groups:
            raise ArgumentError(f"group_names must be {self.num_groups} different names, one a group; got "
                                f"{self.group_names}")

    @property
    def names(self) -> list[str]:
        """Of the groups; their numbers, if nobody gave them names."""
        return [str(group) for group in range(self.num_groups)] if self.group_names is None else self.group_names
