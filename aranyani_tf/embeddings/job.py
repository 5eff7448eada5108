"""The embedding job: batches through an encoder, finished shards kept, arrays at the end."""

import itertools
import json
import shutil
from pathlib import Path

import numpy as np
from tqdm import tqdm

from aranyani_tf.arguments import require_whole
from aranyani_tf.embeddings.cache import read_array, read_json, write_array, write_manifest
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
        num_rows: how many there are; None if that is not known.
        batch_size, shard_size: rows per call of the encoder, and per file that is kept.

    Returns:
        The manifest.
    """
    require_whole("batch_size", batch_size, 1)
    require_whole("shard_size", shard_size, 1)
    folder, facts = Path(folder), {"dataset": dataset, **encoder.facts}
    shards, manifest = folder / "shards", folder / "manifest.json"
    if manifest.is_file():
        require_same(facts, read_json(manifest), folder)
        shutil.rmtree(shards, ignore_errors=True)  # of a run that was killed at its very end
        return read_json(manifest)
    begin(shards, facts, folder)
    finished = finished_shards(shards)
    rows = sum(finished)
    with tqdm(total=num_rows, initial=rows, unit="row", desc=f"{dataset} → {folder.name}",
              disable=not progress) as bar:
        source = iter(examples(rows))
        while shard := list(itertools.islice(source, shard_size)):
            inputs, labels, groups = zip(*shard, strict=True)
            features = []
            for start in range(0, len(inputs), batch_size):
                batch = list(inputs[start : start + batch_size])
                features.append(checked(encoder(batch), len(batch), rows + start, dataset))
                bar.update(len(batch))
            index = len(finished)
            write_array(shards / f"labels-{index:05}.npy", np.array(labels, "int8"))
            write_array(shards / f"groups-{index:05}.npy", np.array(groups, "int8"))
            write_array(shards / f"features-{index:05}.npy", np.concatenate(features))
            finished.append(len(shard))
            rows += len(shard)
    if rows < (num_rows or 1):
        raise ValueError(f"{dataset} ended after {rows:,} rows" + (f" of {num_rows:,}" if num_rows else ""))
    return finish(folder, shards, len(finished), facts)


def finished_shards(shards):
    """Numbers of rows of the shards that are whole; the first damaged or missing one ends the list."""
    lengths = []
    for index in itertools.count():
        features = shards / f"features-{index:05}.npy"  # written last
        if not features.is_file():
            return lengths
        try:
            lengths.append(len(read_array(features)))
        except ValueError:
            return lengths


def checked(features, num_rows, start, dataset):
    """Features in float16, one row an input, unless one is not finite or nothing but zeros."""
    features = np.asarray(features, "float16")
    if len(features) != num_rows:
        raise ValueError(f"the encoder gave {len(features)} rows for {num_rows} inputs from row {start:,} of {dataset}")
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
        require_same(facts, read_json(job), folder)
        return
    if shards.is_dir() and any(file.suffix == ".npy" for file in shards.iterdir()):
        raise ValueError(f"{shards} holds arrays but no job.json that tells whose they are; choose another folder")
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
        files = [shards / f"{name}-{index:05}.npy" for index in range(count)]
        first, num_rows = read_array(files[0]), sum(len(read_array(file)) for file in files)
        with whole_file(folder / f"{name}.npy") as file:
            np.lib.format.write_array_header_2_0(file, {
                "descr": first.dtype.str, "fortran_order": False, "shape": (num_rows, *first.shape[1:])})
            for shard in files:
                file.write(read_array(shard).tobytes())
    write_manifest(folder, {**facts, "num_rows": num_rows, "num_features": first.shape[1]})
    shutil.rmtree(shards)
    return read_json(folder / "manifest.json")
