"""The formats by name, each written whole or not at all.

What they hold: `saved_model` predicts and learns, `litert` and `onnx_graph` predict.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from aranyani_tf.arguments import require_choice
from aranyani_tf.errors import ArgumentError
from aranyani_tf.exports.exportable import Exportable
from aranyani_tf.exports.litert import write_litert
from aranyani_tf.exports.onnx_graph import write_onnx
from aranyani_tf.exports.saved_model import write_saved_model
from aranyani_tf.files import is_local, whole_folder, whole_path

# By name: who writes the file, and how its name must end.
FILES: dict[str, tuple[Callable[..., None], str]] = {
    "litert": (write_litert, ".tflite"), "onnx": (write_onnx, ".onnx")}


def write(model: Exportable, path: str | Path, format: str, options: dict[str, Any]) -> None:
    """Writes a model that is built and compiled, and that nobody moves meanwhile."""
    require_choice("format", format, ("tf_saved_model", *FILES))
    if format == "tf_saved_model":
        if options:
            raise ArgumentError(f"a SavedModel has no option {', '.join(map(repr, options))}")
        write_folder(model, path)
        return
    write_file, ending = FILES[format]
    if not is_local(path) or not str(path).endswith(ending):
        raise ArgumentError(f"format={format!r} writes a file of this machine whose name ends with {ending!r}, "
                            f"got {str(path)!r}")
    with whole_path(path) as part:
        try:
            write_file(model, part, **options)
        except ModuleNotFoundError as error:
            raise ArgumentError(f"format={format!r} needs {error.name}: pip install 'aranyani_tf[export]'") from error


def write_folder(model: Exportable, path: str | Path) -> None:
    if not is_local(path):  # TensorFlow knows what to do
        write_saved_model(model, path)
        return
    folder = Path(path)
    if folder.exists() and not (folder / "saved_model.pb").is_file() and (not folder.is_dir() or any(folder.iterdir())):
        raise ArgumentError(f"{folder} is there already and is no SavedModel; name a folder of its own")
    with whole_folder(folder) as part:
        write_saved_model(model, part)
