"""A model that stays in a live session, for libraries that call row by row and never say when they are done."""

import io
import json
import tempfile
import zipfile
from pathlib import Path
from typing import Any, cast

import keras
import numpy as np

from aranyani_tf.adapters.widening import widened
from aranyani_tf.arguments import require_number
from aranyani_tf.model.aranyani import Aranyani
from aranyani_tf.model.live import Live
from aranyani_tf.variables import put, value_of


class Resident:
    """A model whose session is opened when it is needed, and which can be copied and pickled at any time.

    A pickle of it has the bytes of a `.keras` file in it: weights, optimizer, running means and metrics. The same state
    gives the same bytes.

    Args:
        learning_rate: of Adam.
        settings: those of `Aranyani`.
    """

    def __init__(self, learning_rate: float, **settings: Any) -> None:
        require_number("learning_rate", learning_rate, 0, above=True)
        self.learning_rate, self.settings = learning_rate, settings
        self.model, self.live, self.num_features = self.made(), cast(Live | None, None), 0  # before it is built

    def made(self) -> Aranyani:
        model = Aranyani(**self.settings)
        model.compile(keras.optimizers.Adam(self.learning_rate))
        return trusting(model)

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """As `live.predict`: (feature,) → (label,), or (row, feature) → (row, label)."""
        return (self.live or self.opened()).predict(rows)

    def learn(self, rows: np.ndarray, labels: Any, groups: Any, sample_weight: Any = None) -> None:
        """As `live.learn`, of one row or some; labels and groups are codes."""
        (self.live or self.opened()).learn(rows, labels, groups, sample_weight)

    def opened(self) -> Live:
        self.live = self.model.live().__enter__()
        return self.live

    def flushed(self) -> Aranyani:
        """The model, whose variables have what was learned."""
        if self.live is not None:
            self.live.flush()
        return self.model

    def rest(self) -> None:
        """Ends the session: the state is in the model's variables again."""
        live, self.live = self.live, None
        if live is not None:
            live.__exit__()

    def make_room(self, num_features: int) -> None:
        """Builds the model for this many features, or makes it wider; directions of new features are 0."""
        self.rest()
        if self.model.built:
            self.model = trusting(widened(self.model, num_features))
        else:
            self.model.build_for(num_features)
            kernel = self.model.forest.node_kernel
            put(kernel, np.zeros(kernel.shape, self.model.variable_dtype))
        self.num_features = num_features

    def set_directions(self, directions: dict[int, np.ndarray]) -> None:
        """Sets the split directions of some features: feature → (tree, node)."""
        self.rest()
        kernel = np.array(value_of(self.model.forest.node_kernel))  # (tree, feature, node)
        for feature, direction in directions.items():
            kernel[:, feature] = direction
        put(self.model.forest.node_kernel, kernel)

    def __getstate__(self) -> dict[str, Any]:
        file = keras_bytes(self.model) if self.model.built else None
        return {"learning_rate": self.learning_rate, "settings": self.settings, "file": file,
                "fairness_weight": self.model.fairness_weight}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.learning_rate, self.settings = state["learning_rate"], state["settings"]
        file = state["file"]
        self.model, self.live = self.made() if file is None else from_keras_bytes(file), None
        self.model.fairness_weight = state["fairness_weight"]  # which may have been changed before there were rows
        self.num_features = self.model.num_features if self.model.built else 0


def keras_bytes(model: keras.Model) -> bytes:
    """A model as the bytes of its `.keras` file, without the date: the same state gives the same bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.keras"
        model.save(path)
        dated = io.BytesIO(path.read_bytes())
    with zipfile.ZipFile(dated) as parts, zipfile.ZipFile(result := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as file:
        for name in parts.namelist():
            content = parts.read(name)
            if name == "metadata.json":
                told = json.loads(content)
                told.pop("date_saved", None)
                content = json.dumps(told).encode()
            file.writestr(zipfile.ZipInfo(name), content)  # whose date is the same for all
    return result.getvalue()


def from_keras_bytes(content: bytes) -> Aranyani:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.keras"
        path.write_bytes(content)
        return trusting(keras.saving.load_model(path))


def trusting(model: Aranyani) -> Aranyani:
    """A model that takes codes as they are: they were made of names, and −1 does mean missing."""
    model.progress.knows_label_0 = True
    model.progress.told.add("labels")
    return model
