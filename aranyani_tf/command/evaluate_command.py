"""`aranyani evaluate`: how a saved model does on rows that it does not learn from."""

import argparse

import numpy as np

from aranyani_tf.command.checked_rows import CheckedRows
from aranyani_tf.command.predictions import PredictionFile
from aranyani_tf.command.run_file import load_tabular
from aranyani_tf.command.source import open_source
from aranyani_tf.command.table_arguments import add_format, separator_of
from aranyani_tf.command.tallies import accuracy_of, told_by_group, told_gaps
from aranyani_tf.command.wording import in_options
from aranyani_tf.control.decisions import count
from aranyani_tf.errors import TableError
from aranyani_tf.tabular.incoming import branch

HELP = "how a saved model does on other rows"
DESCRIPTION = """Answers the rows of a file, learns nothing from them, and tells accuracy and gaps by group.
The model's file stays as it is. A model that scales by the rows so far goes on to do so within the file."""
EXAMPLES = ("aranyani evaluate model.keras later.csv",
            "aranyani evaluate model.keras later.parquet --predictions said.csv")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="what `aranyani run` has saved")
    parser.add_argument("rows", metavar="FILE", help="a CSV, JSON lines or Parquet file; - is standard input")
    parser.add_argument("--predictions", metavar="FILE", help="a CSV file of what the model says")
    add_format(parser)


def run(options: argparse.Namespace) -> None:
    tabular = load_tabular(options.model)
    form, model = branch(tabular.form), tabular.model
    if form.labels is None:
        raise TableError(f"{options.model} is a regression, which has no accuracy")
    separator = form.options.separator if options.separator is None and not options.rows.endswith(".tsv") else (
        separator_of(options.separator, options.rows))
    source = open_source(options.rows, options.format, separator)
    rows = CheckedRows(form, source, options.on_bad_rows or "skip")
    counts = np.zeros((form.num_labels + 1, form.num_groups + 1, form.num_labels))
    num_bad, first_bad, end = 0, None, 0
    answers = PredictionFile(options.predictions, form)
    try:
        for found in rows.read():
            num_bad, first_bad, end = num_bad + found.num_bad, first_bad or found.first_bad, found.end
            if len(found.piece):
                labels, groups = (codes.encode(found.piece).astype("int32") for codes in (form.labels, form.groups))
                said = model.predict(form.encoder.encode(found.piece, {}, by_rows=True), verbose=0)
                count(labels.astype("float64"), groups, said, counts)
                answers.write(found.piece, labels, groups, said)
    finally:
        answers.close()
    if end == num_bad:
        raise TableError(f"{source.name} has no row that can be used{f'; the first: {first_bad}' if first_bad else ''}")
    print(told_by_group(counts, form, model.positive_label))
    print(f"\naccuracy {100 * accuracy_of(counts):.1f} %; gaps: {told_gaps(counts, model.positive_label)}")
    if num_bad:
        print(f"skipped {num_bad:,} of {end:,} rows; the first: {in_options(first_bad or '')}")
