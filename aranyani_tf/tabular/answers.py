"""What a model says, by the names that the table has for its labels."""

from typing import Any

import numpy as np
import pandas as pd

from aranyani_tf.errors import ArgumentError
from aranyani_tf.streams.table_form import TableForm


class Answers:
    """Names for probabilities (row, label).

    A label that the form leaves room for, but has not met, has no name: it is never the answer, and has no column. Of a
    row that the model cannot use (`on_bad_rows="skip"`) it says NaN, and the label is None.

    Args:
        form: whose labels are meant.
    """

    def __init__(self, form: TableForm) -> None:
        self.form = form

    def label(self, said: np.ndarray) -> Any:
        """The label that is most probable, (label,) → its name; in regression the number."""
        names = self.form.label_names
        if names is None:
            return float(said[0])
        return names[int(said[: len(names)].argmax())] if said[0] == said[0] else None

    def probability(self, said: np.ndarray) -> dict[str, float]:
        """(label,) → dict from names to probabilities."""
        return dict(zip(self.names(), map(float, said), strict=False))

    def probabilities(self, said: np.ndarray, index: Any = None) -> pd.DataFrame:
        names = self.names()
        return pd.DataFrame(said[:, : len(names)], columns=list(names), index=index)

    def names(self) -> tuple[str, ...]:
        names = self.form.label_names
        if names is None:
            raise ArgumentError("a regression has no probabilities (num_labels=1); predict gives its numbers")
        return names
