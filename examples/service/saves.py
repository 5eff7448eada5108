"""Saves of a learner. One file, state.json, says which files belong together; it is whole or not there.

A save writes model-….keras, adds the ids that were learned to learned.txt, and then puts state.json in the place of the
one before. Killed before that, the service goes on from the old save, and after it from the new one.
"""

import json
import os
from pathlib import Path

import keras

import aranyani_tf as ar
from aranyani_tf.errors import DamagedFileError
from aranyani_tf.files import sync, whole_file
from learner import REMEMBERED, Learner


def save(learner, folder):
    """Writes everything; gives the offset, up to which the journal is not needed any more."""
    folder, offset = Path(folder), learner.offset
    model = folder / f"model-{offset:012}.keras"
    learner.tabular.save(model)
    with open(folder / "learned.txt", "ab") as file:
        file.write(b"".join(json.dumps(key).encode() + b"\n" for key in learner.fresh))
        file.flush()
        os.fsync(file.fileno())
        size = file.tell()
    sync(folder)
    with whole_file(folder / "state.json", "w") as file:
        json.dump({"version": 1, "model": model.name, "learned_bytes": size, "learner": learner.state(),
                   "monitor": learner.monitor.to_json()}, file)
    learner.fresh = []
    for old in folder.glob("model-*.keras"):
        if old != model:
            old.unlink()
    return offset


def load(folder):
    """The learner of the last save; None if there is none."""
    folder = Path(folder)
    if not (folder / "state.json").exists():
        return None
    state = state_of(folder)
    ids = learned_ids(folder, state["learned_bytes"])
    monitor = ar.FairnessMonitor.from_json(state["monitor"], place=str(folder / "state.json"))
    return Learner(keras.saving.load_model(folder / state["model"]), monitor, state["learner"], ids[-REMEMBERED:])


def state_of(folder):
    return json.loads((Path(folder) / "state.json").read_text(encoding="utf-8"))


def learned_ids(folder, size):
    """Those in the first bytes of learned.txt; what a save that was killed wrote after them is cut off."""
    path = Path(folder) / "learned.txt"
    if path.stat().st_size < size:
        raise DamagedFileError(f"{path} has lost its end: it had {size:,} bytes; take it from a copy")
    os.truncate(path, size)
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
