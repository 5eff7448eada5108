"""`.keras` files that came back another: their archive, their configuration, their arrays."""

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import h5py
import numpy as np

import aranyani_tf as ar
from trials.fuzz_arrays import rows
from trials.fuzz_cases import Case, Surface
from trials.fuzz_files import BYTES, in_archive, in_json, packed, unpacked
from trials.fuzz_tables import people


def saved_models(folder: Path) -> Iterator[bytes]:
    """Files of three models: a forest, one of another size with a target that moves, and a table's."""
    x, y, a = rows()
    models = [ar.Aranyani(num_trees=1, height=2, seed=0),
              ar.Aranyani(num_trees=2, height=1, seed=1, fairness_weight=ar.ParityTarget(0.1), constraint="node")]
    for model in models:
        model.predict_then_learn(x, y, a)
    form = ar.Stream.from_dataframe(people(), label="hired", group="sex", preprocessing="online").form
    models.append(ar.TabularModel(ar.Aranyani(num_trees=1, height=2, seed=0), form))
    models[-1].predict_then_learn(people())
    for model in models:
        model.save(folder / "model.keras")
        yield (folder / "model.keras").read_bytes()


def in_config(random: Random, data: bytes) -> bytes:
    """An archive whose configuration, or description, was changed."""
    members = dict(unpacked(data))
    name = random.choice(("config.json", "config.json", "metadata.json"))
    document = json.loads(members[name])
    if name == "config.json" and random.random() < 0.3:
        inner: Any = document["config"]
        inner[random.choice(("predictor", "encoder", "notion", "penalty", "model"))] = random.choice(FOREIGN)
    else:
        document = in_json(random, document)
    members[name] = json.dumps(document).encode()
    return packed(list(members.items()))


def foreign(class_name: str, module: str = "keras.layers", **config: Any) -> dict[str, Any]:
    return {"module": module, "class_name": class_name, "config": config, "registered_name": None}


CODE = {"class_name": "__lambda__", "config": {"code": "4wEAAAAAAAAA", "defaults": None, "closure": None}}
FOREIGN = (foreign("Lambda", name="l", function=CODE), foreign("system", "os"), foreign("Popen", "subprocess"),
           foreign("Nobody", "nobody"), foreign("Dense", units=2), foreign("run_path", "runpy"),
           foreign("get_file", "keras.utils"), foreign("TorchModuleWrapper"),
           {"class_name": "__tensor__", "config": {"value": [1.0], "dtype": "float32"}})


def in_weights(random: Random, data: bytes) -> bytes:
    """An archive whose arrays have other values, shapes or types, or are not all there."""
    members = dict(unpacked(data))
    file = io.BytesIO(members["model.weights.h5"])
    with h5py.File(file, "r+") as weights:
        names: list[str] = []
        weights.visititems(lambda name, thing: names.append(name) if isinstance(thing, h5py.Dataset) else None)
        name = random.choice(names)
        array = np.array(weights[name])
        change = random.choice(("value", "value", "shape", "type", "drop", "add", "group"))
        del weights[name]
        if change == "value":
            flat = np.array(array, "float64" if array.dtype.kind == "f" else array.dtype).reshape(-1)
            if flat.size and flat.dtype.kind == "f":
                flat[random.randrange(flat.size)] = random.choice((np.nan, np.inf, -np.inf, 1e38, -1e300, 1e-320, -1.0))
            elif flat.size and flat.dtype.kind in "iu":
                flat[random.randrange(flat.size)] = random.choice((0, 1, 100))
            weights[name] = flat.reshape(array.shape)
        elif change == "shape":
            weights[name] = random.choice((array[None], array.reshape(-1), array.reshape(-1)[:0], np.zeros((7, 7))))
        elif change == "type":
            weights[name] = random.choice((array.astype("S8"), array.astype("complex64"), array.astype("int8"), "text"))
        elif change == "add":
            weights[name], weights[name + "0"] = array, array
        elif change == "group":
            weights.create_group(name)
    members["model.weights.h5"] = file.getvalue()
    return packed(list(members.items()))


def keras_files(folder: Path) -> Callable[[Random], Case]:
    files = list(saved_models(folder))
    path = folder / "changed.keras"

    def use() -> Any:
        """A file is loaded, answers, and goes on."""
        model = ar.load_model(path)
        if isinstance(model, ar.TabularModel):
            model.predict(people())
            return model.predict_then_learn(people())
        x, y, a = rows()
        model.predict(x, verbose=0)
        return model.predict_then_learn(x, y, a)

    ways = {"archive": lambda random, data: in_archive(random, data, random.choice(files)), "configuration": in_config,
            "weights": in_weights, **{f"bytes, {name}": function for name, function in BYTES.items()}}

    def draw(random: Random) -> Case:
        way = random.choice(("archive", "configuration", "configuration", "configuration", "weights", *ways))
        path.write_bytes(ways[way](random, random.choice(files)))
        return Case(way, use, path.read_bytes, f"{way} of a .keras file")

    return draw


SURFACES = (Surface(".keras files", 0.03, keras_files),)
