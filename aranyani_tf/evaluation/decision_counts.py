"""Tables of counts that decisions are added to, one at a time or many, with labels at once or later."""

from typing import Any

import numpy as np

from aranyani_tf.errors import RowError
from aranyani_tf.evaluation.row_tallies import score_classes
from aranyani_tf.streams.row_rules import as_column, as_numbers, codes, is_no_code

WHOLE: Any = (int, np.integer)


class DecisionCounts:
    """Counts of decisions by label and group (see `metrics`), of all rows and of the recent past.

    Args:
        decay: what a row loses of its weight in the recent past with every row behind it; 0 forgets nothing.
    """

    def __init__(self, num_labels: int, num_groups: int, decay: float) -> None:
        self.num_labels, self.num_groups, self.kept = num_labels, num_groups, 1 - decay
        # (label + 1, group + 1, decision). The last label and group are those that are missing: an index of −1.
        self.all, self.recent = np.zeros((2, num_labels + 1, num_groups + 1, num_labels))

    def add(self, decisions: Any, groups: Any, labels: Any) -> int:
        """Counts the next row or rows, and gives their number; all or none of them, if one cannot be.

        A row without a decision, or with neither label nor group, is not counted.
        """
        if isinstance(decisions, WHOLE) and isinstance(groups, WHOLE) and isinstance(labels, WHOLE) and (
                0 <= decisions < self.num_labels and -1 <= groups < self.num_groups and (
                -1 <= labels < self.num_labels)):
            if groups < 0 and labels < 0:
                return 0
            self.all[labels, groups, decisions] += 1
            self.recent *= self.kept
            self.recent[labels, groups, decisions] += 1
            return 1
        decisions, groups, labels = self.checked(decisions, groups, labels)
        made = decisions >= 0
        outputs = np.eye(self.num_labels)[decisions[made]]
        scored = score_classes(labels[made], groups[made], outputs, self.num_groups, self.kept)
        counts, _, recent, kept = scored.increments
        self.all += counts
        self.recent *= kept
        self.recent += recent
        return scored.num_informative

    def add_labels(self, decisions: Any, groups: Any, labels: Any) -> int:
        """Gives rows that were counted without a label the one that has come, and tells how many."""
        decisions, groups, labels = self.checked(decisions, groups, labels)
        come = (decisions >= 0) & (groups >= 0) & (labels >= 0)
        came = np.zeros_like(self.all)
        np.add.at(came, (labels[come], groups[come], decisions[come]), 1)
        moved, waiting = came.sum(axis=0), self.all[-1]  # (group + 1, decision)
        if (moved > waiting).any():
            group, decision = np.argwhere(moved > waiting)[0]
            raise RowError(f"{moved[group, decision]:.0f} late labels of group {group} and decision {decision}, where "
                           f"{waiting[group, decision]:.0f} rows wait for one: add each row first, and its label once")
        # When each row came is not known; in the recent past it has the mean weight of those that it waited with.
        weight = self.recent[-1] / np.maximum(waiting, 1)
        self.all += came
        self.all[-1] -= moved
        self.recent += came * weight
        self.recent[-1] -= moved * weight
        return int(come.sum())

    def checked(self, decisions: Any, groups: Any, labels: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Codes of equal lengths, (row,) each, or a clear error."""
        decisions = np.atleast_1d(as_numbers("decisions", decisions))
        groups, labels = np.atleast_1d(as_numbers("groups", groups)), np.atleast_1d(as_numbers("labels", labels))
        columns = []
        for name, column, count in (("decisions", decisions, self.num_labels), ("groups", groups, self.num_groups),
                                    ("labels", labels, self.num_labels)):
            column = as_column(name, column, len(decisions))
            bad = is_no_code(column, count)
            if bad.any():
                row = int(np.argmax(bad))
                raise RowError(f"row {row:,}: {name[:-1]} is {column[row]}, must be {codes(count)}")
            columns.append(column.astype(np.int32, copy=False))
        return columns[0], columns[1], columns[2]
