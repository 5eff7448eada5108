"""`aranyani data`: the datasets, and each as a CSV file."""

import argparse
import inspect
import os
import re

from aranyani_tf import datasets
from aranyani_tf.datasets.tables import TABLES, table
from aranyani_tf.errors import ArgumentError
from aranyani_tf.files import whole_file

HELP = "list the datasets, or write one as a CSV file"
DESCRIPTION = """Without a name: lists the datasets, with size, label, group and source. Those that are called
"fetched" are loaded over the network when they are used for the first time."""
EXAMPLES = ("aranyani data", "aranyani data adult", "aranyani data adult --out adult.csv")
FACTS = ("Size", "Label", "Source")
FETCHED = ("bank", "acs_employment", "credit", "law")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="of a dataset: all of its facts")
    parser.add_argument("--out", metavar="FILE", help="write the table there, as CSV")
    parser.add_argument("--overwrite", action="store_true", help="write over a file that is there")


def run(options: argparse.Namespace) -> None:
    if options.name is None:
        if options.out is not None:
            raise ArgumentError("name the dataset that is to be written, such as adult")
        print("\n\n".join(map(told, datasets.names())))
        return
    if options.name not in datasets.LOADERS:
        raise ArgumentError(f"unknown dataset {options.name!r}; known are {', '.join(datasets.names())}")
    if options.out is None:
        print(inspect.getdoc(datasets.LOADERS[options.name]))
        return
    if os.path.exists(options.out) and not options.overwrite:
        raise ArgumentError(f"{options.out} is there already; write over it with --overwrite")
    found = table(options.name)
    with whole_file(options.out, "w") as file:
        found.frame.to_csv(file, index=False)
    further = f" --exclude {','.join(found.exclude)}" if found.exclude else ""
    further += " --drop-group" if found.drop_group else ""
    print(f"{len(found.frame):,} rows are in {options.out}; to learn from them:\n  aranyani run {options.out} "
          f"--label {found.label} --group {found.group}{further}")


def told(name: str) -> str:
    """What the docstring of a dataset says of it, in short."""
    text = inspect.getdoc(datasets.LOADERS[name]) or ""
    lines = [f"{name}{' (fetched)' if name in FETCHED else '' if name in TABLES else ' (see make embeddings)'}: "
             f"{text.splitlines()[0]}"]
    for fact in FACTS:
        match = re.search(rf"^{fact}: (.+?)(?=\n[A-Z]\w*: |\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
        if match:
            lines.append(f"  {fact.lower()}: {' '.join(match[1].split())}")
    return "\n".join(lines)
