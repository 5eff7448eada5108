"""`aranyani explain`: which features drive each split of a model, and how far apart the groups are there."""

import argparse

import numpy as np
from keras import ops

from aranyani_tf.command.checked_rows import CheckedRows
from aranyani_tf.command.run_file import load_tabular
from aranyani_tf.command.source import open_source
from aranyani_tf.command.splits import Rows, shares, splits
from aranyani_tf.command.table_arguments import add_format, separator_of
from aranyani_tf.errors import ArgumentError
from aranyani_tf.files import whole_path
from aranyani_tf.tabular.incoming import branch
from aranyani_tf.tabular.tabular_model import TabularModel

HELP = "which features drive each split of a model"
DESCRIPTION = """For each node of each tree: the features with the largest weights, which tell by how much a row
goes left, and what part of all weights they make up. The gap is the difference between the groups'
mean decisions at the node: of the running means where the model imposes fairness at its nodes
(--level node), or of rows that are given."""
EXAMPLES = ("aranyani explain model.keras",
            "aranyani explain model.keras --rows people.csv --top 5 --plot tree.svg")
ENDINGS = (".png", ".svg", ".pdf")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="what `aranyani run` has saved")
    parser.add_argument("--rows", metavar="FILE", help="measure gaps, and how many rows reach each node, on these")
    parser.add_argument("--top", type=int, default=3, metavar="N", help="features to name for each node (3)")
    parser.add_argument("--tree", type=int, metavar="N", help="this tree alone, from 0")
    parser.add_argument("--plot", metavar="PICTURE", help="a picture of the trees: .png, .svg or .pdf")
    add_format(parser)


def run(options: argparse.Namespace) -> None:
    if options.top < 1:
        raise ArgumentError(f"--top must be at least 1, got {options.top}")
    if options.plot is not None and not options.plot.endswith(ENDINGS):
        raise ArgumentError(f"--plot must end in one of {', '.join(ENDINGS)}; got {options.plot}")
    tabular = load_tabular(options.model)
    model = tabular.model
    nodes = splits(tabular, options.top, None if options.rows is None else rows_of(tabular, options))
    if options.tree is not None:
        if not 0 <= options.tree < model.num_trees:
            raise ArgumentError(f"--tree must be from 0 to {model.num_trees - 1}, got {options.tree}")
        nodes = nodes[nodes["tree"] == options.tree]
    print(nodes.drop(columns="depth").to_string(index=False, float_format="{:.3f}".format))
    if "gap" not in nodes:
        print("\nno gaps: the model imposes fairness at its output; name rows to measure them on, --rows FILE")
    print("\npart of each feature in all nodes' weights:")
    print("\n".join(f"  {part:6.1%}  {name}" for name, part in shares(tabular)[: max(options.top, 10)].items()))
    if options.plot is not None:
        draw(tabular, nodes, options.plot)
        print(f"the picture is in {options.plot}")


def rows_of(tabular: TabularModel, options: argparse.Namespace) -> Rows:
    """Features and groups; an `online` form goes on within the file, and stays as it is."""
    form = branch(tabular.form)
    separator = separator_of(options.separator or form.options.separator, options.rows)
    source = open_source(options.rows, options.format, separator)
    for found in CheckedRows(form, source, options.on_bad_rows or "skip").read():
        if len(found.piece):
            yield form.encoder.encode(found.piece, {}, by_rows=True), form.groups.encode(found.piece)


def draw(tabular: TabularModel, nodes: object, path: str) -> None:
    from aranyani_tf.command.tree_picture import draw_trees

    model = tabular.model
    logits = model.forest.leaf_logits
    leaves = np.asarray(logits)[..., 0] if model.num_labels == 1 else (
        np.asarray(ops.softmax(logits))[..., model.positive_label])
    names = tabular.label_names or ("",)
    figure = draw_trees(nodes, model.height, leaves, names[min(model.positive_label, len(names) - 1)])
    with whole_path(path) as part:
        figure.savefig(part, dpi=150)
