"""What `aranyani run` can be asked."""

import argparse
from typing import Any

from aranyani_tf.command.table_arguments import add_format, names
from aranyani_tf.datasets.tables import TABLES
from aranyani_tf.streams.table_options import WAYS

TARGET = 0.05
MODEL: dict[str, Any] = {"trees": 3, "height": 4, "seed": 0, "level": None, "decay": None,
                         "notion": "demographic_parity", "parity_target": None, "fairness_weight": None}
LISTS = ("exclude", "categorical", "empty")
# Settled when a run begins.
TABLE = ("label", "group", "labels", "groups", "preprocessing", "on_empty_cells", "decimal", "drop_group", *LISTS)
SETTLED = (*MODEL, *TABLE, "on_bad_rows")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rows", nargs="?", metavar="FILE",
                        help="a CSV, JSON lines or Parquet file; - is standard input")
    parser.add_argument("--dataset", metavar="NAME", help=f"in a file's place: {', '.join(TABLES)}")
    files = parser.add_argument_group("files")
    files.add_argument("--out", metavar="FILE", help="where the model goes, with the form of its table; model.keras if "
                                                     "not given, or the file that is resumed")
    files.add_argument("--overwrite", action="store_true", help="write over files that are there")
    files.add_argument("--resume", metavar="MODEL", help="go on where the run that this file is of has stopped")
    files.add_argument("--save-every", type=int, default=100_000, metavar="ROWS",
                       help="rows between two saves (100000)")
    files.add_argument("--predictions", metavar="FILE", help="a CSV file of what the model said, written as it goes")
    files.add_argument("--plot", metavar="PAGE", help="an HTML page with accuracy, gap and λ along the stream")
    files.add_argument("--quiet", action="store_true", help="no bar")
    fairness = parser.add_argument_group("fairness").add_mutually_exclusive_group()
    fairness.add_argument("--parity-target", type=float, metavar="GAP",
                          help=f"the gap between groups that is not to be exceeded; λ follows it ({TARGET})")
    fairness.add_argument("--fairness-weight", type=float, metavar="λ",
                          help="a λ that stands still, in a target's place")
    add_table_arguments(parser)
    model = parser.add_argument_group("model")
    for name, kind in (("trees", int), ("height", int), ("seed", int), ("decay", float)):
        model.add_argument(f"--{name}", type=kind, help=f"{MODEL[name]} if not given" if MODEL[name] is not None else
                           "forgetting rate of the running means; with a target 0.01 if not given")
    model.add_argument("--level", choices=("node", "leaf", "output"), help="where fairness is imposed; output with a "
                                                                           "target, else node")
    model.add_argument("--notion", choices=("demographic_parity", "equal_opportunity", "equalized_odds"))


def add_table_arguments(parser: argparse.ArgumentParser) -> None:
    rows = parser.add_argument_group("table")
    rows.add_argument("--label", metavar="COLUMN", help="what is to be predicted")
    rows.add_argument("--group", metavar="COLUMN", help="the protected attribute")
    rows.add_argument("--labels", type=names, metavar="A,B", help="values of the label, the second the positive one; "
                                                                  "those of the first rows, sorted, if not given")
    rows.add_argument("--groups", type=names, metavar="A,B", help="values of the group, likewise")
    rows.add_argument("--exclude", type=names, metavar="COLUMNS", help="that are no features")
    rows.add_argument("--categorical", type=names, metavar="COLUMNS", help="of numbers that are categories in truth")
    rows.add_argument("--drop-group", action="store_true", default=None, help="the group's column is no feature")
    rows.add_argument("--preprocessing", choices=WAYS, help="online (the default) scales by the rows so far, in one "
                      "pass; the others know all rows beforehand, and read the file twice")
    rows.add_argument("--on-empty-cells", choices=("fill", "skip"), help="of features: fill in the mean of the column, "
                                                                         "or skip: the row is a bad one (the default)")
    rows.add_argument("--empty", type=names, metavar="WORDS", help="that stand for an empty cell of a CSV file, as NA")
    rows.add_argument("--decimal", choices=(".", ","), help="mark of a CSV file")
    add_format(rows)
