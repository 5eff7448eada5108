"""The embedding job: batches through an encoder, finished shards kept, arrays at the end.

A row that the encoder cannot encode is left out, and counted in the manifest; many of them are an error.
"""

import itertools
import json
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from tqdm import tqdm

from aranyani_tf.arguments import require_whole
from aranyani_tf.embeddings.cache import read_array, read_json, write_array, write_manifest
from aranyani_tf.errors import ArgumentError, DamagedFileError, RowError
from aranyani_tf.files import whole_file

Example = tuple[Any, int, int]  # input, label, group
Examples = Callable[[int], Iterable[Example]]  # of the number of rows to pass over
FEW, FEW_SHARE = 10, 0.01  # so many rows, or so large a share, may be left out


class Encoder(Protocol):
    """What turns inputs into features."""

    facts: dict[str, Any]  # id, revision, prompt: what a manifest tells of it

    def __call__(self, inputs: list, /) -> np.ndarray:
        """A list of inputs → (input, feature)."""
        ...


def embed(examples: Examples, encoder: Encoder, folder: str | os.PathLike, *,
          dataset: str, num_rows: int | None = None, batch_size: int = 64, shard_size: int = 2048,
          progress: bool = True) -> dict[str, Any]:
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
    rows, skipped = sum(count for count, _ in finished), [row for _, own in finished for row in own]
    with tqdm(total=num_rows, initial=rows, unit="row", desc=f"{dataset} → {folder.name}",
              disable=not progress) as bar:
        source = iter(examples(rows))
        while shard := list(itertools.islice(source, shard_size)):
            inputs, labels, groups = zip(*shard, strict=True)
            features: list[np.ndarray] = []
            problems: dict[int, str] = {}
            for start in range(0, len(inputs), batch_size):
                batch = list(inputs[start : start + batch_size])
                found, bad = encoded(encoder, batch, rows + start)
                features, problems = [*features, found], problems | bad
                require_few(len(skipped) + len(problems), rows + start + len(batch), problems, dataset)
                bar.update(len(batch))
            skipped += problems
            write_shard(shards, len(finished), rows, labels, groups, features, list(problems))
            finished.append((len(shard), list(problems)))
            rows += len(shard)
    if rows < (num_rows or 1):
        raise RowError(f"{dataset} ended after {rows:,} rows" + (f" of {num_rows:,}" if num_rows else ""))
    if len(skipped) == rows:
        raise RowError(f"no row of {dataset} can be encoded; remove {folder} and try another encoder")
    return finish(folder, shards, len(finished), facts, skipped)


def encoded(encoder: Encoder, batch: list, start: int) -> tuple[np.ndarray, dict[int, str]]:
    """Features of the rows that can be encoded, in float16, and {number of each other row: what is wrong}."""
    try:
        features = np.asarray(encoder(batch), "float16")
    except Exception as error:  # every library has its own kinds
        if len(batch) == 1:
            return np.zeros((0, 0), "float16"), {start: f"{type(error).__name__}: {error}"}
        parts = [encoded(encoder, [each], start + index) for index, each in enumerate(batch)]
        kept = [features for features, _ in parts if len(features)]
        return (np.concatenate(kept) if kept else np.zeros((0, 0), "float16"),
                {row: problem for _, problems in parts for row, problem in problems.items()})
    if len(features) != len(batch):
        raise RowError(f"the encoder gave {len(features)} rows for {len(batch)} inputs from row {start:,} on")
    useless = ~np.isfinite(features).all(axis=1) | ~features.any(axis=1)
    problem = ("the encoder gives only zeros, or a value that is not finite. Is the prompt as long as the longest "
               "text that it takes?")
    return features[~useless], {start + int(row): problem for row in np.flatnonzero(useless)}


def require_few(num_skipped: int, num_rows: int, problems: dict[int, str], dataset: str) -> None:
    """Raises if so many rows cannot be encoded that it is not the rows' fault."""
    if num_skipped > max(FEW, FEW_SHARE * num_rows):
        row, problem = next(iter(problems.items()))
        raise RowError(f"{num_skipped:,} of the first {num_rows:,} rows of {dataset} cannot be encoded. Row {row:,}: "
                       f"{problem}")


def write_shard(shards: Path, index: int, start: int, labels: Sequence[int], groups: Sequence[int],
                features: Sequence[np.ndarray], skipped: Sequence[int]) -> None:
    kept = ~np.isin(np.arange(start, start + len(labels)), skipped)
    features = [each for each in features if len(each)]
    write_array(shards / f"labels-{index:05}.npy", np.array(labels, "int8")[kept])
    write_array(shards / f"groups-{index:05}.npy", np.array(groups, "int8")[kept])
    write_array(shards / f"skipped-{index:05}.npy", np.array(skipped, "int64"))
    write_array(shards / f"features-{index:05}.npy",
                np.concatenate(features) if features else np.zeros((0, 0), "float16"))


def finished_shards(shards: Path) -> list[tuple[int, list[int]]]:
    """(number of rows that were read, rows left out) of whole shards; the first damaged or missing one ends it."""
    finished: list[tuple[int, list[int]]] = []
    for index in itertools.count():
        try:
            skipped, labels, groups, features = (read_array(shards / f"{name}-{index:05}.npy")
                                                 for name in ("skipped", "labels", "groups", "features"))
        except (ValueError, FileNotFoundError):
            break
        if not len(labels) == len(groups) == len(features):
            break
        finished.append((len(features) + len(skipped), skipped.tolist()))
    return finished


def begin(shards: Path, facts: dict[str, Any], folder: Path) -> None:
    """Opens the folder of shards, or checks that those in it come from the same job."""
    job = shards / "job.json"
    if job.is_file():
        require_same(facts, read_json(job), folder)
        return
    if shards.is_dir() and any(file.suffix == ".npy" for file in shards.iterdir()):
        raise DamagedFileError(f"{shards} holds arrays but no job.json that tells whose they are; choose another "
                               "folder")
    with whole_file(job, "w") as file:
        json.dump(facts, file, indent=2)


def require_same(facts: dict[str, Any], found: dict[str, Any], folder: Path) -> None:
    for name, value in facts.items():
        if found.get(name) != value:
            raise ArgumentError(f"{folder} holds embeddings with {name} {found.get(name)!r}, but {value!r} is asked "
                                "for; choose another folder, or remove this one")


def finish(folder: Path, shards: Path, count: int, facts: dict[str, Any],
           skipped: Sequence[int]) -> dict[str, Any]:
    """Joins the shards into the three arrays, one shard in memory at a time."""
    for name in ("labels", "groups", "features"):
        files = [shards / f"{name}-{index:05}.npy" for index in range(count)]
        files = [file for file in files if len(read_array(file))]
        first, num_rows = read_array(files[0]), sum(len(read_array(file)) for file in files)
        with whole_file(folder / f"{name}.npy") as file:
            np.lib.format.write_array_header_2_0(file, {
                "descr": first.dtype.str, "fortran_order": False, "shape": (num_rows, *first.shape[1:])})
            for shard in files:
                file.write(read_array(shard).tobytes())
    write_manifest(folder, {**facts, "num_rows": num_rows, "num_features": first.shape[1],
                            "num_skipped": len(skipped), "skipped_rows": skipped})
    shutil.rmtree(shards)
    return read_json(folder / "manifest.json")
