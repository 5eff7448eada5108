"""Saves of a learner. One file, state.json, says which files belong together; it is whole or not there.

A save writes model-….keras, adds the ids that were learned to learned-….txt, and then puts state.json in the place of
the one before. Killed before that, the service goes on from the old save, and after it from the new one.
"""

import json
from pathlib import Path

import keras

import aranyani_tf as ar
import learned_ids
from aranyani_tf.checked_json import Kind
from aranyani_tf.errors import DamagedFileError
from aranyani_tf.files import sha256, sync
from learner import REMEMBERED, Learner

MEND = learned_ids.MEND
STATE = Kind("save of a service", 2, DamagedFileError, MEND)


def save(learner, folder):
    """Writes everything; gives the offset, up to which the journal is not needed any more."""
    folder, offset = Path(folder), learner.offset
    model = folder / f"model-{offset:012}.keras"
    learner.tabular.save(model)
    num_before = learner.num_learned - len(learner.fresh)
    learned = learned_ids.add(folder, learner.fresh, num_before, learner.remembered)
    sync(folder)
    STATE.write({"model": model.name, "model_sha256": sha256(model), "learned": learned, "learner": learner.state(),
                 "monitor": learner.monitor.to_json()}, folder / "state.json")
    learner.fresh = []
    learned_ids.remove_others(folder, learned)
    for old in folder.glob("model-*.keras"):
        if old != model:
            old.unlink()
    return offset


def load(folder, remembered=REMEMBERED):
    """The learner of the last save; None if there is none."""
    folder = Path(folder)
    if not (folder / "state.json").exists():
        return None
    state = state_of(folder)
    model, ids = folder / state["model"], learned_ids.read(folder, state["learned"])
    if not model.exists():
        raise DamagedFileError(f"{model} is missing; {MEND}")
    if sha256(model) != state["model_sha256"]:
        raise DamagedFileError(f"{model} is damaged: its sha256 is not the one in state.json; {MEND}")
    learned_ids.cut(folder, state["learned"])
    monitor = ar.FairnessMonitor.from_json(state["monitor"], place=str(folder / "state.json"))
    return Learner(keras.saving.load_model(model), monitor, state["learner"], ids[-remembered:], remembered)


def state_of(folder):
    """What the last save wrote down of itself, and of the other files."""
    folder = Path(folder)
    try:
        return STATE.read(folder / "state.json")
    except DamagedFileError:
        return of_version_1(folder) or STATE.read(folder / "state.json")


def of_version_1(folder):
    """The same of a save that an earlier version made, without check sums: it is taken as it is. None if it is none."""
    try:
        state = json.loads((folder / "state.json").read_bytes())
        if state.pop("version") != 1:
            return None
        return state | {"model_sha256": sha256(folder / state["model"]),
                        "learned": {"learned.txt": state["learned_bytes"]}}
    except (ValueError, KeyError, AttributeError):
        return None
