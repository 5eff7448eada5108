"""Rows of a table, one by one, as dicts: answered and learned in microseconds."""

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any, Self

import numpy as np

from aranyani_tf.tabular.answers import Answers
from aranyani_tf.tabular.incoming import cell_of

IN_THE_ROW: Any = object()  # where a label or a group is looked for unless it is given


class TabularLive:
    """A `TabularModel` row by row; see `TabularModel.live`. Threads may share it, as they may share `Aranyani.live`.

    Args:
        tabular: the `TabularModel`.
    """

    def __init__(self, tabular: Any) -> None:
        self.tabular, self.form, self.rows = tabular, tabular.form, tabular.model.live()
        self.answers = Answers(self.form)

    def __enter__(self) -> Self:
        self.tabular.require_one_moment()
        self.rows.__enter__()
        return self

    def __exit__(self, *problem: object) -> None:
        self.rows.__exit__(*problem)

    def flush(self) -> None:
        """Writes what was learned into the model, for whoever looks at its variables themselves."""
        self.rows.flush()

    def predict(self, row: Mapping[str, Any]) -> Any:
        """The most probable label of a row, by name; in regression a number."""
        return self.answers.label(self.say(row))

    def predict_proba(self, row: Mapping[str, Any]) -> dict[str, float]:
        """dict from the names of labels to their probabilities."""
        return self.answers.probability(self.say(row))

    def say(self, row: Mapping[str, Any]) -> np.ndarray:
        """What the model says about a row: probabilities (label,), or a number (1,)."""
        with self.tabular.reading:
            features = self.form.encode_row(row)
        return self.rows.predict(features)

    def learn(self, row: Mapping[str, Any], *, label: Any = IN_THE_ROW, group: Any = IN_THE_ROW,
              sample_weight: Any = None) -> None:
        """Learns from a row.

        Args:
            label, group: their names in the table, None if missing; those in the row unless given.
            sample_weight: of the row; see `Aranyani.predict_then_learn`.
        """
        self.predict_then_learn(row, label=label, group=group, sample_weight=sample_weight)

    def predict_then_learn(self, row: Mapping[str, Any], *, label: Any = IN_THE_ROW, group: Any = IN_THE_ROW,
                           sample_weight: Any = None) -> np.ndarray:
        """What the model says about a row, (label,), which it then learns from; arguments as in `learn`."""
        form = self.form
        by_methods = self.rows.session is None  # of the model, which take turns
        with self.tabular.turn if by_methods else nullcontext(), self.tabular.moving:
            features = form.encode_row(row)
            label = cell_of(row, form.options.label) if label is IN_THE_ROW else label
            group = cell_of(row, form.options.group) if group is IN_THE_ROW else group
            said = self.rows.predict_then_learn(features, *form.peek(label, group), sample_weight)
            form.label_of(label)  # remembered only now that the row was learned
            form.group_of(group)
            if form.encoder.online:
                form.encode_row(row, learn=True)
        return said
