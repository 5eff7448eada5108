"""The embedding job: batches through an encoder, finished shards kept, arrays at the end."""

import itertools
import json
import shutil
from pathlib import Path

import numpy as np
from tqdm import tqdm

from aranyani_tf.embeddings.cache import read_array, read_manifest, write_array, write_manifest
from aranyani_tf.files import whole_file


def embed(examples, encoder, folder, *, dataset, num_rows=None, batch_size=64, shard_size=2048, progress=True):
    """Encodes examples into `folder`; what an earlier, interrupted call finished is not done again.

    Args:
        examples: function of the number of rows to pass over; gives an iterator over
            (input, label, group), the same rows in the same order every time.
        encoder: callable on a list of inputs, gives (input, feature); its `facts` (id, revision,
            prompt) go into the manifest.
        folder: where `features.npy`, `labels.npy`, `groups.npy` and `manifest.json` appear.
        dataset: name for the manifest.
        num_rows: how many there are, for the progress bar; None if that is not known.
        batch_size, shard_size: rows per call of the encoder, and per file that is kept.

    Returns:
        The manifest.
    """
    folder = Path(folder)
    facts = {"dataset": dataset, **encoder.facts}
    if (folder / "manifest.json").is_file():
        manifest = read_manifest(folder)
        require_same(facts, manifest, folder)
        return manifest
    shards = folder / "shards"
    begin(shards, {**facts, "shard_size": shard_size}, folder)
    done = len(list(shards.glob("features-*.npy")))  # a shard's features are written last
    rows = done * shard_size
    with tqdm(total=num_rows, initial=rows, unit="row", desc=f"{dataset} → {folder.name}",
              disable=not progress) as bar:
        source = iter(examples(rows))
        while shard := list(itertools.islice(source, shard_size)):
            inputs, labels, groups = zip(*shard, strict=True)
            features = []
            for start in range(0, len(inputs), batch_size):
                batch = list(inputs[start : start + batch_size])
                features.append(checked(np.asarray(encoder(batch), "float16"), rows + start, dataset))
                bar.update(len(batch))
            write_array(shards / f"labels-{done:05}.npy", np.array(labels, "int8"))
            write_array(shards / f"groups-{done:05}.npy", np.array(groups, "int8"))
            write_array(shards / f"features-{done:05}.npy", np.concatenate(features))
            done += 1
            rows += len(shard)
    if not done:
        raise ValueError(f"{dataset} has no rows to embed")
    if rows == done * shard_size and num_rows is not None and rows < num_rows:
        raise ValueError(f"{dataset} ended after {rows:,} of {num_rows:,} rows")
    return finish(folder, shards, done, facts)


def checked(features, start, dataset):
    """The features, unless one is not finite in float16 or a row is nothing but zeros."""
    useless = ~np.isfinite(features).all(axis=1) | ~features.any(axis=1)
    if useless.any():
        raise ValueError(f"the encoder gives nothing useful for row {start + int(np.argmax(useless)):,} of {dataset}: "
                         "only zeros, or a value that is not finite. Is the prompt as long as the longest text that "
                         "it takes?")
    return features


def begin(shards, facts, folder):
    """Opens the folder of shards, or checks that those in it come from the same job."""
    job = shards / "job.json"
    if job.is_file():
        require_same(facts, json.loads(job.read_text(encoding="utf-8")), folder)
        return
    shutil.rmtree(shards, ignore_errors=True)
    with whole_file(job, "w") as file:
        json.dump(facts, file, indent=2)


def require_same(facts, found, folder):
    for name, value in facts.items():
        if found.get(name) != value:
            raise ValueError(f"{folder} holds embeddings with {name} {found.get(name)!r}, but {value!r} is asked "
                             "for; choose another folder, or remove this one")


def finish(folder, shards, count, facts):
    """Joins the shards into the three arrays, one shard in memory at a time."""
    for name in ("labels", "groups", "features"):
        parts = [read_array(shards / f"{name}-{shard:05}.npy") for shard in range(count)]
        num_rows = sum(map(len, parts))
        with whole_file(folder / f"{name}.npy") as file:
            header = {"descr": parts[0].dtype.str, "fortran_order": False, "shape": (num_rows, *parts[0].shape[1:])}
            np.lib.format.write_array_header_2_0(file, header)
            for part in parts:
                file.write(np.ascontiguousarray(part).tobytes())
    write_manifest(folder, {**facts, "num_rows": num_rows, "num_features": parts[0].shape[1]})
    shutil.rmtree(shards)
    return read_manifest(folder)
