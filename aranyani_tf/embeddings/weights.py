"""Weights of an encoder: from a local folder, or from the model hub; or an error that says what to do."""

from pathlib import Path


def load_weights(load, model, revision):
    """`load(model, revision=…)`, with a clear error where the weights cannot be had.

    Args:
        load: the library's own loading function.
        model: an id on the model hub, or a local folder with the same files.
        revision: of the hub's repository; None for the latest. A folder has none.
    """
    local = Path(model).is_dir()
    try:
        return load(str(model), **({} if local or revision is None else {"revision": revision}))
    except (OSError, ValueError, RuntimeError) as error:  # absent, unreadable or unfitting files
        where = (f"the folder {model} lacks a file or has one that cannot be read" if local else
                 f"{model} is neither a local folder nor to be had from the model hub")
        raise OSError(
            f"no weights: {where}. On a machine with a network, download the model (config.json, the weights "
            "as model.safetensors, and the preprocessor's or tokenizer's files), put it into a folder here, "
            f"and pass that folder as the model. The library said: {error}") from error
