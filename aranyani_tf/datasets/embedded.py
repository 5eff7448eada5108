"""Streams of embeddings that the user has made or been given."""

import os
from collections.abc import Sequence

import numpy as np

from aranyani_tf.embeddings.cache import cache_folder, read_embeddings
from aranyani_tf.errors import RowError
from aranyani_tf.streams.stream import Stream


def embedded_stream(name: str, embeddings: str | os.PathLike | None, *, title: str,
                    label_names: Sequence[str], group_names: Sequence[str],
                    unit_length: bool = True) -> Stream:
    """The stream of a folder that `make embeddings` filled, or of an .npz file.

    Args:
        name: of the dataset, also of its folder in the user's cache.
        embeddings: path, or None for that folder.
        title: what messages call the dataset.
        unit_length: scales each row to length 1, which the forest needs to learn well.
    """
    path = cache_folder(name) if embeddings is None else embeddings
    try:
        features, labels, groups = read_embeddings(path)
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"{title}: {error}. `make embeddings`, or `python -m aranyani_tf.embeddings`, makes "
            "them (with a network); or pass embeddings=PATH, a folder "
            "that it made or an .npz file with the arrays features, labels and groups") from error
    for column, values, names in (("labels", labels, label_names), ("groups", groups, group_names)):
        wrong = ~np.isin(values, range(len(names)))
        if wrong.any():
            told = ", ".join(f"{code} ({name})" for code, name in enumerate(names))
            raise RowError(f"{path}: {column} must be {told}; row {int(np.argmax(wrong)):,} has "
                           f"{values[np.argmax(wrong)]}")
    labels, groups = np.asarray(labels, "int32"), np.asarray(groups, "int32")
    features = np.array(features, "float32")  # a copy: a file that is mapped cannot be written to
    if not np.isfinite(features).all():
        raise RowError(f"{path}: row {int(np.argmin(np.isfinite(features).all(axis=1))):,} has a feature that is not "
                       "finite")
    if unit_length:
        lengths = np.linalg.norm(features, axis=1, keepdims=True)
        features /= np.where(lengths > 0, lengths, 1)
    return Stream(features, labels, groups, name=name, label_names=label_names, group_names=group_names)
