"""The data files that come with the package: where they lie, and whether they are what they should be."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from aranyani_tf.errors import DamagedFileError
from aranyani_tf.files import sha256

Order = Sequence[int] | np.ndarray | None  # numbers of rows; None leaves all as they are

# In a checkout the files lie beside the package, in a wheel inside it.
PACKAGE = Path(__file__).parents[1]
FOLDERS = (PACKAGE / "data", PACKAGE.parent / "data")

SHA256 = {
    "adult.parquet": "c7fa40957c0574a226f0497088eda713e696988709bc3add6b4ba8c32b3997bb",
    "census.parquet": "ebd1cd63ed699588145d8397d749c08ebeb93382e10b2fd3dec1a86e4537099a",
    "compas.parquet": "781f13f766ca3c7d047a8f395def568f8e865a6933167e02cc43f7069ca4ff83",
    "wiki_toxicity_author.npz": "5f14edbae76284727c766018a54fef513bb0d10b439c934e6441f255cd6e7b6a",
    "wiki_toxicity_religion.npz": "246e5255a427ce44e8f65b11e76b33ba78718bee3668462c2b1dadd935bf91c8",
}


def shipped(name: str) -> Path:
    """The path of a shipped file, after its hash was checked."""
    paths = [folder / name for folder in FOLDERS if (folder / name).is_file()]
    repair = f"Restore it with `git checkout data/{name}` in a checkout, or install the package again"
    if not paths:
        raise FileNotFoundError(f"the data file {name} is missing. {repair}")
    found = sha256(paths[0])
    if found != SHA256[name]:
        raise DamagedFileError(f"{paths[0]} is damaged: its sha256 is {found}, it should be {SHA256[name]}. {repair}; "
                               "`make data` rebuilds the tables from their sources")
    return paths[0]


def in_order(frame: pd.DataFrame, order: Order) -> pd.DataFrame:
    """The frame's rows by number, in this order; all of them if `order` is None."""
    return frame if order is None else frame.iloc[order]
