"""The members of a grid: how each is made, and how what is known of them all is told apart."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import pandas as pd

from aranyani_tf.errors import ArgumentError, RowError
from aranyani_tf.learning.gradient_norms import norm_frame, norm_names
from aranyani_tf.model.online_model import OnlineModel
from aranyani_tf.streams.row_rules import Rows


def copy_of(layer: keras.layers.Layer, num_features: int) -> keras.layers.Layer:
    """A layer or model of its own with the same weights: members share nothing."""
    copied = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(layer))
    if layer.built:
        if not copied.built:
            copied.build((None, num_features))
        copied.set_weights(layer.get_weights())
    return copied


def labelled(frame: pd.DataFrame, members: Sequence[tuple[float, int]]) -> pd.DataFrame:
    """The frame of models by number, with λ and seed in the number's place; fillers are left out."""
    frame = frame[frame["model"] < len(members)]
    numbers = frame["model"].to_numpy()
    frame = frame.drop(columns="model")
    weights, seeds = map(np.array, zip(*members, strict=True))
    frame.insert(0, "fairness_weight", weights[numbers])
    frame.insert(1, "seed", seeds[numbers])
    return frame


def norm_frames(chunks: Sequence[np.ndarray], steps: np.ndarray, weight_names: Sequence[str]) -> pd.DataFrame:
    """Norms of all steps, [(step, model, norm)], as rows with the number of the model."""
    norms = np.concatenate(chunks)
    names = norm_names(weight_names)
    return pd.concat([norm_frame(norms[:, model], steps, names).assign(model=model)
                      for model in range(norms.shape[1])])


def listed(name: str, values: Any) -> list:
    """The values as a list, or a clear error."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise ArgumentError(f"{name} must be a list of numbers, got {values!r}")
    return list(values)


def checked(held_out: Any, template: OnlineModel) -> Rows:
    """Rows that nobody learns from, checked as those that are learned from."""
    if not all(hasattr(held_out, name) for name in ("features", "labels", "groups")):
        raise RowError(f"held_out must be a Stream, got {type(held_out).__name__}")
    rules = template.rules(held_out.chunks(), "raise")
    rows, bad, _ = rules.checked(held_out.features, held_out.labels, held_out.groups)
    return rules.good_rows(bad, *rows)
