"""A Keras model that answers: `predict`, for a few rows without what Keras does around it."""

from typing import Any

import numpy as np
import tensorflow as tf

from aranyani_tf.model.chunk_model import ChunkModel
from aranyani_tf.streams.row_rules import require_width, usable_features

FEW = 256  # rows that `predict` answers by a program of its own


class AnsweringModel(ChunkModel):
    """Base class of `OnlineModel`.

    Args:
        on_bad_rows: "raise" or "skip".
        others: those of `ChunkModel`.
    """

    def __init__(self, *, on_bad_rows: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.on_bad_rows = on_bad_rows

    def predict(self, x: Any, batch_size: int | None = None, verbose: str | int = "auto",
                steps: int | None = None, callbacks: list | None = None, *,
                on_bad_rows: str | None = None) -> np.ndarray:
        """Probabilities (row, label), or values (row, 1) for regression; the group is not needed.

        Args:
            x: features (row, feature), a `Stream`, {"features": x}, or a dataset of batches.
            on_bad_rows: "raise"; or "skip", which says NaN about a row that cannot be used. None is the
                model's own setting. Rows of a dataset are not looked at.
            others: those of Keras's `predict`.
        """
        features = getattr(x, "features", x["features"] if isinstance(x, dict) and "features" in x else x)
        bad = np.zeros(0, bool)
        if not isinstance(x, dict) and hasattr(x, "element_spec"):  # a tf.data.Dataset
            features = x
        else:
            features, bad = usable_features(features, self.num_features if self.built else None, self.compute_dtype,
                                            self.on_bad_rows if on_bad_rows is None else on_bad_rows)
        self.require_one_moment()
        self.settle()
        self.make_sure_it_is_compiled()
        answers = None
        if isinstance(features, np.ndarray) and batch_size is None and steps is None and not callbacks:
            self.build_for(features.shape[1])
            require_width(features.shape, self.num_features)
            answers = self.short_answers(features)
        if answers is None:
            answers = self.long_answers(features, batch_size=batch_size, verbose=verbose, steps=steps,
                                        callbacks=callbacks)
        if bad.any():
            answers[bad] = np.nan
        return answers

    def predict_on_batch(self, x: Any) -> Any:
        self.settle()
        return super().predict_on_batch(x)

    def long_answers(self, features: Any, **arguments: Any) -> np.ndarray:
        """By Keras's `predict`, which has callbacks and progress bars, and takes 79 ms to begin."""
        if self.built and self.predict_function is not None:
            return super().predict(features, **arguments)
        with self.settled(), self.state:
            return super().predict(features, **arguments)

    def short_answers(self, features: np.ndarray) -> np.ndarray | None:
        """The answers to a few rows by a program of their own, without what Keras does around it; None for many."""
        if len(features) > FEW:
            return None
        if self.run_eagerly:
            return np.asarray(self(features, training=False))
        with self.state:
            program = self.programs.of(self.answer, (), False, any_shape=True)
        return program(tf.constant(features)).numpy()

    @tf.autograph.experimental.do_not_convert
    def answer(self, features: tf.Tensor) -> tf.Tensor:
        return self(features, training=False)
