"""A fair model that can be written in other formats, those of `exports/`."""

import dataclasses
from pathlib import Path
from typing import Any

import tensorflow as tf

from aranyani_tf.errors import ArgumentError
from aranyani_tf.exports.formats import write
from aranyani_tf.model.engine_choice import EngineChoice


class ExportingModel(EngineChoice):
    """Base class of `EngineModel`."""

    def learn_any(self, features: tf.Tensor, labels: tf.Tensor, groups: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """TensorFlow's step over any number of rows, with or without gaps, and no metrics: what an export learns by.

        Returns:
            what was predicted for each row before it was learned, and whether all went well.
        """
        step = dataclasses.replace(self.step, all_known=False, record_gradients=False)
        return self.unless_it_diverges(
            lambda: self.walk_rows(step, features, labels, groups, tf.shape(labels)[0])[0], tf.constant(True))

    def export(self, filepath: str | Path, format: str = "tf_saved_model", verbose: bool | None = False,
               **options: Any) -> None:
        """Writes the model for those who have not this package; see `exports.formats` for what is in the file.

        Args:
            filepath: a folder for "tf_saved_model", a file for the others, "….tflite" and "….onnx". It is whole
                or not there.
            format: "tf_saved_model" predicts and learns; "litert" and "onnx" predict.
            verbose: whether to tell where it was written.
            **options: of the format: `opset_version` for ONNX; for LiteRT the converter's attributes, such as
                `optimizations`.
        """
        with self.settled(), self.state:
            self.require_one_moment()
            if not self.built:
                raise ArgumentError("a model that has seen no row cannot be exported: its number of features is not "
                                    "known. Call fit, predict or model.build_for(num_features) first")
            self.make_sure_it_is_compiled()
            write(self, filepath, format, options)
        if verbose:
            print(f"exported as {format}: {filepath}")
