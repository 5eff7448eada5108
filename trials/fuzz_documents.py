"""Documents and arrays that came back another: forms of tables, monitors, embeddings with their manifest."""

import io
import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import aranyani_tf as ar
from aranyani_tf.evaluation.monitor import MONITOR
from aranyani_tf.streams.table_form import FORM, TableForm
from trials.fuzz_arrays import mutated, rows
from trials.fuzz_cases import Case, Surface
from trials.fuzz_files import BYTES, TEXT, in_archive, in_json, packed, with_key_twice
from trials.fuzz_tables import people
from trials.fuzz_values import told


def documents(folder: Path) -> Callable[[Random], Case]:
    """Forms and monitors: as texts, as documents, and with a check sum that is right again."""
    form = ar.Stream.from_dataframe(people(), label="hired", group="sex").form
    online = ar.Stream.from_dataframe(people(), label="hired", group="sex", preprocessing="online").form
    monitor = ar.FairnessMonitor(limit=0.1, group_names=["f", "m"])
    monitor.add([1, 0, 1, 1], [0, 0, 1, -1], [1, 1, 0, -1])
    row = people(1).iloc[0].to_dict()

    def use_form(made: TableForm) -> None:
        made.encode_row(row), made.encode(people()), made.label_of("no"), made.group_of("m"), made.to_json()
        _ = made.num_labels, made.num_groups, made.label_names, made.encoder.feature_names

    def use_monitor(made: ar.FairnessMonitor) -> None:
        made.add([1, 0], [0, 1], [1, 1])
        made.report(), made.prometheus(), made.to_json()

    kinds = {"form": (FORM, form.contents(), TableForm, use_form), "online form": (FORM, online.contents(), TableForm,
             use_form), "monitor": (MONITOR, monitor.state(), ar.FairnessMonitor, use_monitor)}

    def draw(random: Random) -> Case:
        name = random.choice(tuple(kinds))
        kind, contents, maker, use = kinds[name]
        way = random.choice(("contents, sealed anew", "contents, sealed anew", "document", "a key twice", "a file",
                             "deep nesting", "version"))
        document: Any = kind.sealed(contents)
        path, text = folder / "document.json", None
        if way == "contents, sealed anew":
            changed = in_json(random, contents)
            try:
                document = kind.sealed(changed)
            except (ar.errors.AranyaniError, RecursionError, UnicodeError):  # cannot be sealed: as it is then
                document = {**document, "contents": changed}
        elif way == "document":
            document = in_json(random, document)
        elif way == "version":
            document["version"] = random.choice((0, 2, 10**400, "1", None, 1.0, -1, True, [1]))
        text = json.dumps(document)
        if way == "a key twice":
            key, value = random.choice(("contents", "format", "version")), random.choice(("null", "1", '"x"'))
            text = with_key_twice(text, key, value)
        elif way == "deep nesting":
            text = "[" * 100_000 if random.random() < 0.5 else text.replace("{", '{"a":' * 5000 + "{", 1)
        data = text.encode("utf-8", "surrogatepass")
        if way == "a file":
            data = random.choice(tuple(TEXT.values()))(random, data)
        path.write_bytes(data)
        load = maker.load if way == "a file" or random.random() < 0.5 else lambda path: maker.from_json(text)
        return Case(f"{name}, {way}", lambda: use(load(path)), None, f"{name}, {way}: {told(data)}")

    return draw


def embeddings(folder: Path) -> Callable[[Random], Case]:
    """A folder of arrays with its manifest, and an .npz file, for a dataset of images."""
    def arrays_of(random: Random) -> tuple[str, dict[str, Any]]:
        way, given, _ = mutated(random)
        arrays = dict(zip(("features", "labels", "groups"), given, strict=True))
        found = {}
        for name, value in arrays.items():
            try:
                found[name] = np.asarray(value)
            except Exception:  # nobody could have saved it
                found[name] = np.zeros((3, 3))
        if found["features"].dtype.kind == "f":
            with np.errstate(over="ignore"):
                found["features"] = found["features"].astype("float16")
        return way, found

    def array_bytes(array: np.ndarray) -> bytes:
        file = io.BytesIO()
        np.save(file, array, allow_pickle=True)  # what a file may hold, and nobody here unpickles
        return file.getvalue()

    def draw(random: Random) -> Case:
        way, arrays = arrays_of(random) if random.random() < 0.5 else ("bytes", dict(zip(
            ("features", "labels", "groups"), rows(), strict=True)))
        try:
            files = {f"{name}.npy": array_bytes(array) for name, array in arrays.items()}
        except Exception:  # an object that cannot be written
            files = {f"{name}.npy": b"" for name in arrays}
        as_archive = random.random() < 0.4
        if as_archive:
            path = folder / "embeddings.npz"
            data = packed(list(files.items()))
            if way == "bytes":
                change = random.choice((*BYTES.values(), *[lambda random, data: in_archive(random, data, data)] * 6))
                data = change(random, data)
            path.write_bytes(data)
        else:
            path = folder / "embeddings"
            path.mkdir(exist_ok=True)
            manifest: Any = {"dataset": "celeba", "sha256": {
                name.removesuffix(".npy"): sha256(content).hexdigest() for name, content in files.items()}}
            if way == "bytes":
                name = random.choice(tuple(files))
                files[name] = random.choice(tuple(BYTES.values()))(random, files[name])
                if random.random() < 0.7:  # the manifest knows it so
                    manifest["sha256"][name.removesuffix(".npy")] = sha256(files[name]).hexdigest()
                elif random.random() < 0.5:
                    manifest = in_json(random, manifest)
            files["manifest.json"] = json.dumps(manifest).encode("utf-8", "surrogatepass")
            for name, content in files.items():
                (path / name).write_bytes(content)
        return Case(f"{'.npz' if as_archive else 'folder'}: {way}", lambda: ar.datasets.load(
            "celeba", embeddings=path) and None, None, f"{way} of embeddings {told(arrays)}")

    return draw


SURFACES = (Surface("documents", 0.05, documents), Surface("embeddings", 0.05, embeddings))
