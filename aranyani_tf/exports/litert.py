"""A LiteRT (TensorFlow Lite) file that predicts, for phones and small machines. Any number of rows.

    runner = Interpreter("model.tflite").get_signature_runner()   # of ai_edge_litert, or tf.lite
    runner(features=x)["probabilities"]                           # (row, label)
"""

import tempfile
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from aranyani_tf.errors import ArgumentError
from aranyani_tf.exports.exportable import Exportable, answering, features_spec


def write_litert(model: Exportable, path: Path, **options: Any) -> None:
    """By TensorFlow's converter, with LiteRT's own operations only; the options are the converter's attributes."""
    if model.compute_dtype != "float32":
        raise ArgumentError(f"LiteRT has no {model.compute_dtype} matrix products: export a float32 model, or as ONNX")
    with tempfile.TemporaryDirectory() as folder:
        archive = keras.export.ExportArchive()
        archive.add_endpoint("serving_default", answering(model), [features_spec(model)])
        archive.write_out(folder, verbose=False)
        converter = tf.lite.TFLiteConverter.from_saved_model(folder, signature_keys=["serving_default"])
        for name, value in options.items():
            if not hasattr(converter, name):
                raise ArgumentError(f"the LiteRT converter has no {name!r}")
            setattr(converter, name, value)
        try:
            path.write_bytes(converter.convert())
        except Exception as error:  # the converter has several kinds, none of them public
            raise ArgumentError(f"this model cannot be written as LiteRT: {error}") from error
