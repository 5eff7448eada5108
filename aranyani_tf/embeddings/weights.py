"""Weights of an encoder: from a local folder, or from the model hub; or an error that says what to do."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aranyani_tf.errors import ArgumentError

# Commits of the hub's repositories, as other public projects pin them, so that every run has the same weights.
PINNED = {"openai/clip-vit-base-patch32": "3d74acf9a28c67741b2f4f2ea7635f0aaf6f0268",
          "hkunlp/instructor-large": "54e5ffb8d484de506e59443b07dc819fb15c7233"}


def load_weights(load: Callable[..., Any], model: str | os.PathLike, revision: str | None) -> Any:
    """`load(model, revision=…)`, with a clear error where the weights cannot be had.

    Args:
        load: the library's own loading function.
        model: an id on the model hub, or a local folder with the same files.
        revision: of the hub's repository; None for the pinned one, or the latest of a model that is not in
            `PINNED`. The commit that was loaded is in the manifest. A folder has none.
    """
    local = Path(model).is_dir()
    if local and revision is not None:
        raise ArgumentError(f"{model} is a folder, which has no revision")
    if not local:
        revision = revision or PINNED.get(str(model))
    try:
        return load(str(model), **({} if revision is None else {"revision": revision}))
    except Exception as error:  # absent, unreadable, cut short, unfitting: each library has its own kinds
        where = (f"the folder {model} lacks a file or has one that cannot be read" if local else
                 f"{model} is neither a local folder nor to be had from the model hub")
        raise OSError(
            f"no weights: {where}. On a machine with a network, download all files of the model's repository, with "
            "their subfolders (config.json, model.safetensors, those of the tokenizer or image processor, "
            "modules.json and what it names), put them into a folder here, and pass that folder as the model. "
            f"The library said: {error}") from error


def commit_of(config: Any, model: str | os.PathLike, revision: str | None) -> str | None:
    """The commit of the hub's repository that was loaded, so that a manifest tells it exactly."""
    return getattr(config, "_commit_hash", None) or revision or PINNED.get(str(model))
