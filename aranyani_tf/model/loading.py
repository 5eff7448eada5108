"""Files of models, read with nothing taken on trust: the archive is looked through, and no code of it is run."""

import os
from typing import Any

import keras
import numpy as np

from aranyani_tf.archives import is_passing, require_safe
from aranyani_tf.errors import AranyaniError, ArgumentError, DamagedFileError
from aranyani_tf.model.shared_model import SharedModel

MEMBERS = ("metadata.json", "config.json", "model.weights.h5")


def load_model(path: str | os.PathLike) -> Any:
    """A model that `save` wrote, to go on where it stopped; whatever is wrong with the file is one of `ar.errors`.

    `keras.saving.load_model` gives the same model of a file that you trust. This one besides looks through the archive
    first, and refuses a file that is damaged, that would unpack to more than it should, that has code in it (a `Lambda`
    layer), names a class that nobody registered, or has weights that are no numbers. docs/trust.md has the list.

    >>> import aranyani_tf as ar, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "fair.keras")
    >>> stream = ar.datasets.load("synthetic", num_rows=100)
    >>> model = ar.Aranyani(seed=0)
    >>> history = model.fit(stream, verbose=0)
    >>> model.save(path)
    >>> ar.load_model(path).so_far()["rows"]
    100
    """
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentError(f"the path of a .keras file is needed, got {type(path).__name__}")
    if not os.path.isfile(path):
        raise FileNotFoundError(f"there is no file {os.fspath(path)}")
    if not os.fspath(path).endswith(".keras"):  # Keras would take another for a format of old, which holds code
        raise ArgumentError(f"{os.fspath(path)} is no .keras file by its name; save models as name.keras")
    require_safe(path, ".keras file", required=MEMBERS)
    try:
        model = keras.saving.load_model(path, safe_mode=True)
        if isinstance(model, SharedModel):
            model.require_whole()
    except AranyaniError:
        raise
    except Exception as error:  # Keras, h5py and whatever a configuration is given to have many
        if is_passing(error):
            raise
        raise DamagedFileError(f"{os.fspath(path)} cannot be used as a .keras file: {told(error)}") from error
    for weight in model.weights:
        if not np.isfinite(weight.numpy()).all():
            raise DamagedFileError(f"{os.fspath(path)} is damaged: its weight {weight.path} is not all numbers")
    return model


def told(error: Exception) -> str:
    """What is wrong with a file, in a line, and what to do about it where somebody can."""
    text = str(error)
    if "Lambda" in text and "safe_mode" in text:
        return ("it has a Lambda layer, which is code that would be run. Make the predictor or encoder of layers "
                "without one; if you trust the file as you trust a program, load it by keras.saving.load_model(path, "
                "safe_mode=False)")
    if "Could not locate" in text:
        return (f"{text.splitlines()[0].partition('. ')[0]}. Import the module that has it first, with "
                "@keras.saving.register_keras_serializable() above it")
    return text.strip().splitlines()[0] if text.strip() else type(error).__name__
