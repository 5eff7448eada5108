"""Embeddings on disk: three arrays and a manifest in a folder, or one .npz file.

A folder has `features.npy` (float16), `labels.npy` and `groups.npy`, and `manifest.json`, which is
written last and holds the hash of each: a folder without it is not finished.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from platformdirs import user_cache_path

from aranyani_tf.archives import require_safe
from aranyani_tf.errors import ArgumentError, DamagedFileError, RowError
from aranyani_tf.files import sha256, whole_file

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]  # features, labels, groups

ARRAYS = ("features", "labels", "groups")


def cache_folder(name: str) -> Path:
    """Where the embeddings of a dataset are looked for, if nothing else is said.

    `$ARANYANI_CACHE`, or the user's cache folder: ~/.cache on Linux, unless `$XDG_CACHE_HOME` says otherwise.
    """
    return Path(os.environ.get("ARANYANI_CACHE") or user_cache_path("aranyani_tf", appauthor=False)) / name


def write_array(path: str | os.PathLike, array: np.ndarray) -> None:
    with whole_file(path) as file:
        np.save(file, array, allow_pickle=False)


def read_array(path: str | os.PathLike) -> np.ndarray:
    """A memory-mapped array; a file that is cut short or no array is refused."""
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError:
        raise
    except Exception as error:  # the header is a text that Python reads: it fails in many ways
        raise DamagedFileError(f"{path} is damaged or no NumPy file ({error}); remove it and make it again") from error


def read_json(path: str | os.PathLike) -> dict[str, Any]:
    """A JSON object."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # undecodable, or no JSON
        raise DamagedFileError(f"{path} is damaged ({error}); remove its folder and start again") from error
    if not isinstance(found, dict):
        raise DamagedFileError(f"{path} is damaged: no JSON object; remove its folder and start again")
    return found


def write_manifest(folder: str | os.PathLike, facts: Mapping[str, Any]) -> None:
    """Finishes a folder: the facts, the row count and the hash of each array."""
    folder = Path(folder)
    hashes = {name: sha256(folder / f"{name}.npy") for name in ARRAYS}
    with whole_file(folder / "manifest.json", "w") as file:
        json.dump({**facts, "sha256": hashes}, file, indent=2)


def read_embeddings(path: str | os.PathLike) -> Arrays:
    """(features, labels, groups) of a finished folder or an .npz file, checked."""
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentError(f"the path of a folder or an .npz file is needed, got {type(path).__name__}")
    path = Path(path)
    if path.is_dir():
        arrays = read_folder(path)
    elif path.is_file():
        arrays = read_npz(path)
    else:
        raise FileNotFoundError(f"no embeddings at {path}")
    features, labels, groups = arrays
    if features.ndim != 2 or features.dtype.kind != "f":
        raise RowError(f"the features of {path} must be (rows, features) of floats, got {features.dtype} "
                       f"of shape {features.shape}")
    for name, column in (("labels", labels), ("groups", groups)):
        if column.dtype.kind not in "biuf":
            raise RowError(f"the {name} of {path} must be numbers, got {column.dtype}")
        if column.shape != (len(features),):
            raise RowError(f"{path} has {len(features):,} rows of features, but {name} of shape {column.shape}")
    return arrays


def read_folder(folder: Path) -> Arrays:
    if not (folder / "manifest.json").is_file():
        raise FileNotFoundError(f"{folder} has no manifest.json: the embeddings there are not finished; "
                                "`make embeddings` goes on where it stopped")
    hashes = read_json(folder / "manifest.json").get("sha256")
    if not isinstance(hashes, dict):
        raise DamagedFileError(f"{folder / 'manifest.json'} is damaged: it has no sha256 of each array; remove the "
                               "folder and make it again")
    for name in ARRAYS:
        file = folder / f"{name}.npy"
        if not file.is_file():
            raise FileNotFoundError(f"{file} is missing; remove the folder and make it again")
        if sha256(file) != hashes.get(name):
            raise DamagedFileError(f"{file} is damaged: its sha256 is not the one in manifest.json; remove the folder "
                                   "and make it again")
    features, labels, groups = (read_array(folder / f"{name}.npy") for name in ARRAYS)
    return features, labels, groups


def read_npz(path: Path) -> Arrays:
    try:
        require_safe(path, "file of embeddings", times=100)  # labels are packed well
        with np.load(path, allow_pickle=False) as archive:
            missing = [name for name in ARRAYS if name not in archive]
            if missing:
                raise ValueError(f"it has no array {', '.join(missing)}; it has {', '.join(archive.files)}")
            features, labels, groups = (np.asanyarray(archive[name]) for name in ARRAYS)  # of bytes, if it is no array
            return features, labels, groups
    except Exception as error:  # NumPy, zip and zlib: a damaged file shows itself in many ways
        raise DamagedFileError(f"{path} cannot be used as embeddings, a .npz file of features, labels and groups: "
                               f"{error}") from error
