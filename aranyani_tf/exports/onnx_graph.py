"""An ONNX file that predicts, for any runtime that reads these. Any number of rows. Needs the extra `export`.

    session = onnxruntime.InferenceSession("model.onnx")
    session.run(["probabilities"], {"features": x})[0]       # (row, label)
"""

from pathlib import Path
from typing import Any

import tensorflow as tf

from aranyani_tf.errors import ArgumentError
from aranyani_tf.exports.exportable import Exportable, answering, features_spec


def write_onnx(model: Exportable, path: Path, *, opset_version: int | None = None, **unknown: Any) -> None:
    """By tf2onnx, checked by onnx: an operation that ONNX has not got would only be logged."""
    import onnx
    import tf2onnx

    if unknown:
        raise ArgumentError(f"ONNX has no option {', '.join(map(repr, unknown))}, only 'opset_version'")
    signature = [features_spec(model)]
    function = tf.function(answering(model), input_signature=signature, autograph=False)
    try:
        graph, _ = tf2onnx.convert.from_function(function, input_signature=signature, opset=opset_version)
        for value in (*graph.graph.input, *graph.graph.output):
            value.type.tensor_type.shape.dim[0].dim_param = "rows"
        onnx.checker.check_model(graph, full_check=True)
    except Exception as error:  # the converter has several kinds of its own
        raise ArgumentError(f"this model cannot be written as ONNX: {error}") from error
    path.write_bytes(graph.SerializeToString())
