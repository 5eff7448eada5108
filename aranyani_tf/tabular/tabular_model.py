"""A model and the form of its table in one Keras model: rows of a table in, labels by name out, one file for both."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Self

import keras
import numpy as np
import pandas as pd

from aranyani_tf.errors import ArgumentError
from aranyani_tf.model.aranyani import Aranyani
from aranyani_tf.model.shared_model import SharedModel
from aranyani_tf.streams.table_form import TableForm
from aranyani_tf.tabular.answers import Answers
from aranyani_tf.tabular.incoming import Incoming, Source, branch, features_of, rows_of, stream_of, take_over
from aranyani_tf.tabular.tabular_live import TabularLive


@keras.saving.register_keras_serializable("aranyani_tf")
class TabularModel(SharedModel):
    """An `Aranyani` that knows the table: it takes data frames and dicts, and gives labels by name.

    `save` writes one .keras file with the model, all its state, and the form of the table; `keras.saving.load_model`
    gives it back, ready to go on. Later rows are treated as `stream.more` treats them: columns that are no features
    are not looked at; a category that was not there before is no category, and is told; a new label or group gets the
    code that `num_labels` or `num_groups` leaves free, and raises where there is none.

    With `preprocessing="online"` a row is scaled by the rows before it and by itself: to predict, as if it came next;
    rows that are learned move the scales, which are saved with the rest.

    Args:
        model: an `Aranyani`, with as many labels and groups as the form has, or has room for.
        form: `stream.form`, of the stream that the model learns from.

    >>> import aranyani_tf as ar
    >>> people = pd.DataFrame({"age": [30, 50, 40, 45], "sex": ["f", "m", "f", "m"],
    ...                        "hired": ["no", "yes", "yes", "no"]})
    >>> stream = ar.Stream.from_dataframe(people, label="hired", group="sex")
    >>> hiring = ar.TabularModel(ar.Aranyani(seed=0), stream.form)
    >>> history = hiring.fit(stream, verbose=0)
    >>> hiring.predict({"age": 41, "sex": "m"}) in hiring.label_names
    True
    >>> list(hiring.predict_proba(people).columns)
    ['no', 'yes']
    >>> with hiring.live() as live:                                   # microseconds a row
    ...     live.learn({"age": 41, "sex": "m"}, label="yes")
    >>> hiring.so_far()["rows"]
    5
    """

    def __init__(self, model: Aranyani, form: TableForm, **kwargs: Any) -> None:
        require_fit(model, form)
        super().__init__(**kwargs)
        model.build_for(len(form.encoder.feature_names))
        self.model, self.form = model, form
        self.turn, self.state = model.turn, model.state  # whoever learns by the model alone waits for its turn, too
        # While the form and the model go on together; whoever takes `turn`, too, takes that one first.
        self.moving = threading.RLock()
        self.digest_before = digest(form)
        self.built = True

    @property
    def label_names(self) -> tuple[str, ...] | None:
        """By code, as far as they were met; None in regression."""
        return self.form.label_names

    @property
    def group_names(self) -> tuple[str, ...]:
        return self.form.group_names

    @property
    def reading(self) -> AbstractContextManager[Any]:
        """While a form that moves is read; others need no lock."""
        return self.moving if self.form.encoder.online else nullcontext()

    def predict(self, rows: Incoming) -> Any:
        """The most probable label of every row, by name, as a list; of a dict, its label. In regression, numbers."""
        said = self.say(rows)
        answers = Answers(self.form)
        return answers.label(said[0]) if isinstance(rows, Mapping) else list(map(answers.label, said))

    def predict_proba(self, rows: Incoming) -> Any:
        """Probabilities, a data frame with a column for each label; of a dict, a dict from labels to probabilities."""
        answers = Answers(self.form)
        answers.names()  # raises in regression
        said = self.say(rows)
        if isinstance(rows, Mapping):
            return answers.probability(said[0])
        return answers.probabilities(said, rows.index if isinstance(rows, pd.DataFrame) else None)

    def say(self, rows: Incoming) -> np.ndarray:
        """What the model says about rows, (row, label)."""
        self.require_one_moment()
        with self.reading:
            features = features_of(self.form, rows)
        return self.model.predict(features, verbose=0)

    def predict_then_learn(self, rows: Incoming, sample_weight: Any = None) -> np.ndarray:
        """Predicts each row, then learns from it, in order.

        Args:
            rows: a data frame, a dict or a list of dicts, with the label and the group where they are known. What
                is missing, or empty, is not learned from.
            sample_weight: of each row, (row,); see `Aranyani.predict_then_learn`.

        Returns:
            (row, label): what the model said about each row before it learned from that row.
        """
        self.require_one_moment()
        with self.turn, self.moving:
            (features, labels, groups), after = rows_of(self.form, rows)
            said = self.model.predict_then_learn(features, labels, groups, sample_weight)
            take_over(self.form, after)
        return said

    def live(self) -> TabularLive:
        """The model row by row, in microseconds: `with tabular.live() as live: live.predict({"age": 41, …})`.

        As `Aranyani.live`, with rows as dicts, and labels and groups by name.
        """
        return TabularLive(self)

    def fit(self, rows: Source, **kwargs: Any) -> keras.callbacks.History:
        """Learns from further rows of the table: a stream of the form, a data frame, a CSV or a Parquet file.

        An `online` form knows all these rows once they are encoded, before the model learns from the first; to save
        in the middle of a long file, learn from it in parts.

        Args:
            kwargs: those of `Aranyani.fit`.
        """
        self.require_one_moment()
        self.require_own_state()
        with self.moving:
            stream = stream_of(self.form, rows)
        return self.model.fit(stream, **kwargs)

    def evaluate(self, rows: Source, **kwargs: Any) -> Any:
        """The metrics on rows that are not learned from; rows as in `fit`. The form stays as it is."""
        self.require_one_moment()
        with self.moving:
            stream = stream_of(branch(self.form), rows)
        return self.model.evaluate(stream, **kwargs)

    def so_far(self) -> dict[str, float]:
        """The metrics of all rows that the model has learned from; see `Aranyani.so_far`."""
        return self.model.so_far()

    def compile(self, *arguments: Any, **kwargs: Any) -> None:
        """That of the model."""
        self.model.compile(*arguments, **kwargs)

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Probabilities (row, label) of rows that are features already."""
        return self.model(inputs, training=training)

    def settle(self) -> None:
        self.model.settle()

    @contextmanager
    def settled(self) -> Iterator[None]:
        """While a file is written: neither the form nor the model goes on."""
        with self.moving, self.model.settled():
            self.model.require_one_moment()
            yield

    def require_own_state(self) -> None:
        self.model.require_own_state()

    def require_whole(self) -> None:
        self.require_one_moment()
        self.model.require_one_moment()

    def sealed(self, as_loaded: bool = False) -> dict[str, Any]:
        return {"form": self.digest_before if as_loaded else digest(self.form)}

    def further_state(self) -> dict[str, Any]:
        return {}

    def take_further_state(self, values: dict[str, np.ndarray]) -> None:
        """There is none beside the form, which is in the configuration."""

    def get_config(self) -> dict[str, Any]:
        return super().get_config() | {"model": keras.saving.serialize_keras_object(self.model),
                                       "form": json.dumps(self.form.to_json())}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        form = TableForm.from_json(config["form"], "the form in the .keras file")
        model = keras.saving.deserialize_keras_object(config["model"])
        return cls(**(config | {"model": model, "form": form}))


def digest(form: TableForm) -> int:
    """The beginning of the form's check sum, as a number that an array can hold."""
    return int(form.to_json()["sha256"][:15], 16)


def require_fit(model: Any, form: Any) -> None:
    """Raises unless the model was made for what the form gives."""
    if not isinstance(model, Aranyani):
        raise ArgumentError(f"model must be an Aranyani, got {type(model).__name__}; for another Keras model write "
                            "Aranyani(predictor=…)")
    if not isinstance(form, TableForm):
        raise ArgumentError(f"form must be that of a table, stream.form, got {type(form).__name__}")
    counts = [("labels", model.num_labels, form.num_labels), ("groups", model.num_groups, form.num_groups)]
    if model.built:
        counts.append(("features", model.num_features, len(form.encoder.feature_names)))
    for name, has, wanted in counts:
        if has != wanted:
            raise ArgumentError(f"the model has {has} {name}, and the form of the table {wanted}; make the model with "
                                f"{'the features of this form' if name == 'features' else f'num_{name}={wanted}'}")
