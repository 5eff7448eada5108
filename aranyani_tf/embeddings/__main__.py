"""`python -m aranyani_tf.embeddings celeba civil_comments`: what `make embeddings` runs."""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from aranyani_tf.embeddings.cache import cache_folder, read_embeddings
from aranyani_tf.embeddings.clip import MODEL as CLIP
from aranyani_tf.embeddings.clip import ClipEncoder
from aranyani_tf.embeddings.instructor import MODEL as INSTRUCTOR
from aranyani_tf.embeddings.instructor import PROMPT, TextEncoder
from aranyani_tf.embeddings.job import Encoder, embed
from aranyani_tf.embeddings.sources import celeba_examples, civil_comments_examples

DATASETS = ("celeba", "civil_comments")
# Rows, label 1 and group 1 in the paper's Table 1, to see whether these are its rows.
PAPER = {"celeba": ("202.6K", "blond", 14.8, "male", 41.7),
         "civil_comments": ("33.9K", "toxic", 6.6, "Muslim", 23.4)}


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m aranyani_tf.embeddings", formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        description="Encode CelebA by CLIP and CivilComments by Instructor. An interrupted job goes on where it "
                    "stopped.")
    parser.add_argument("datasets", nargs="*", metavar="DATASET", help="celeba, civil_comments; both if none is named")
    parser.add_argument("--clip", default=CLIP, metavar="MODEL", help="hub id or local folder of CLIP")
    parser.add_argument("--instructor", default=INSTRUCTOR, metavar="MODEL", help="hub id or folder of Instructor")
    parser.add_argument("--clip-revision", metavar="COMMIT", help="of CLIP on the hub; if not given, a pinned one")
    parser.add_argument("--instructor-revision", metavar="COMMIT", help="of Instructor on the hub, likewise")
    parser.add_argument("--data-dir", metavar="FOLDER", help="where tensorflow-datasets keeps its data")
    parser.add_argument("--output", metavar="FOLDER", help="where the embeddings go; the user's cache if not given")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--shard-size", type=int, default=2048, help="rows that are kept at a time")
    options = parser.parse_args(argv)
    for name in options.datasets:
        if name not in DATASETS:
            parser.error(f"unknown dataset {name!r}; known are {', '.join(DATASETS)}")
    return options


def told(dataset: str, folder: str | os.PathLike, manifest: dict[str, Any]) -> str:
    """What was made, beside the paper's numbers."""
    size, label, label_percent, group, group_percent = PAPER[dataset]
    _, labels, groups = read_embeddings(folder)
    text = (f"{manifest['num_rows']:,} rows of {manifest['num_features']} features (paper: {size} rows); "
            f"{label} {100 * labels.mean():.1f} % (paper: {label_percent} %), "
            f"{group} {100 * groups.mean():.1f} % (paper: {group_percent} %)")
    skipped = manifest.get("num_skipped", 0)
    return text + (f"; {skipped:,} could not be encoded and were left out" if skipped else "")


def main(argv: Sequence[str] | None = None) -> NoReturn:
    options = arguments(argv)
    failed = False
    for dataset in options.datasets or DATASETS:
        folder = cache_folder(dataset) if options.output is None else f"{options.output}/{dataset}"
        encoder: Encoder
        num_rows: int | None
        try:
            if dataset == "celeba":
                encoder = ClipEncoder(options.clip, options.clip_revision)
                examples, num_rows, name = celeba_examples(options.data_dir)
            else:
                encoder = TextEncoder(options.instructor, options.instructor_revision, PROMPT)
                examples, num_rows, name = civil_comments_examples(options.data_dir)
            manifest = embed(examples, encoder, folder, dataset=name, num_rows=num_rows,
                             batch_size=options.batch_size, shard_size=options.shard_size)
            print(f"{folder}: {told(dataset, folder, manifest)}")
        except ModuleNotFoundError as error:
            sys.exit(f"{error.name} is not installed: pip install 'aranyani_tf[embeddings]'")
        except (OSError, ValueError) as error:  # the other dataset may still be had
            print(f"{dataset}: {error}", file=sys.stderr)
            failed = True
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
