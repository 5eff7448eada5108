"""From a table to the rows of a stream: labels and groups as codes, columns as features, and a report.

Two passes over the pieces of the table: the first learns which labels, groups, categories and scales
there are, the second writes the rows. Memory holds one piece at a time, and the result while it is
small; a large result lies in a temporary file.
"""

import copy
import tempfile
import warnings

import numpy as np
import pandas as pd
from tqdm import tqdm

from aranyani_tf.preprocessing import TableEncoder
from aranyani_tf.tables import Table, names

IN_MEMORY = 2**30  # bytes of features


class Codes:
    """The values of the label or group column, and the whole number that each becomes."""

    def __init__(self, role, column, expected):
        self.role, self.column, self.expected = role, column, expected
        self.values = set()

    def observe(self, piece):
        self.values.update(piece[self.column].unique().tolist())
        if len(self.values) > 1000:  # a column of numbers would go on like this
            raise ValueError(f"{self.role} column {self.column!r} has more than 1,000 values; "
                             f"is it the {self.role}?" + (" For regression pass num_labels=1."
                                                          if self.role == "label" else ""))

    def settle(self):
        """Sorts the values; raises unless there are as many as expected."""
        self.values = sorted(self.values)
        shown = ", ".join(self.names[:8]) + (", …" if len(self.values) > 8 else "")
        if len(self.values) == 1:
            raise ValueError(f"{self.role} column {self.column!r} has only one value, {shown}: there is "
                             "nothing to tell apart")
        if self.expected not in (None, len(self.values)):
            raise ValueError(
                f"{self.role} column {self.column!r} has {len(self.values)} values ({shown}) where {self.expected} "
                f"are expected; pass num_{self.role}s={len(self.values)} to keep them all, or merge some first")

    def encode(self, piece):
        codes = pd.Index(self.values).get_indexer(piece[self.column])
        if (codes < 0).any():
            new = piece[self.column].iloc[int(np.argmin(codes))]
            raise ValueError(f"{self.role} column {self.column!r} has the new value {new!r}; known are "
                             f"{', '.join(self.names[:8])}")
        return codes

    @property
    def names(self):
        return tuple(str(int(value) if isinstance(value, float) and value.is_integer() else value)
                     for value in self.values)


class TableForm:
    """How the columns of a table become labels, groups and features, and so do further rows.

    It holds no rows, and can be pickled beside a saved model. `Stream.from_dataframe` explains the arguments.
    """

    def __init__(self, table, *, label, group, preprocessing, exclude, drop_group, scale, num_labels, num_groups,
                 max_categories):
        label, group, exclude = str(label), str(group), names(exclude)
        table.require([label, group, *exclude])
        if label == group:
            raise ValueError(f"label and group are both column {label!r}")
        left_out = {label, *exclude, *([group] if drop_group else [])}
        columns = [name for name in table.columns if name not in left_out]
        if not columns:
            raise ValueError(f"{table.source} has no column left for the features")
        self.encoder = TableEncoder(preprocessing, columns=columns, categories=table.categories, scale=scale,
                                    max_categories=max_categories)
        self.label, self.group = label, group
        self.groups = Codes("group", group, num_groups)
        self.labels = None if num_labels == 1 else Codes("label", label, num_labels)
        if self.labels is None and label in table.categories:
            raise ValueError(f"label column {label!r} must hold numbers for regression (num_labels=1)")
        self.used = list(dict.fromkeys([*columns, group, label]))
        self.categories = [name for name in self.used if name in table.categories]

    def learn(self, table):
        """The first pass: which labels, groups, categories and scales there are. Gives the number of rows."""
        num_rows = 0
        for piece in with_progress(table.pieces(self.used), f"looking through {table.source}"):
            num_rows += len(piece)
            self.encoder.observe(piece)
            for codes in filter(None, (self.labels, self.groups)):
                codes.observe(piece)
        if num_rows:
            self.encoder.settle()
            for codes in filter(None, (self.labels, self.groups)):
                codes.settle()
        return num_rows

    def require_same_kinds(self, table, columns):
        """Raises unless these columns are there, and hold numbers and categories as they did before."""
        table.require(columns)
        for name in columns:
            if name in table.categories and name not in self.categories:
                raise ValueError(f"column {name!r} of {table.source} holds texts, where it held numbers before")

    def encode(self, frame):
        """Features (row, feature) that further rows would have; only the columns of features are needed."""
        table = Table.of_frame(frame, "the data frame",
                               categorical=[name for name in self.categories if name in self.encoder.columns])
        self.require_same_kinds(table, self.encoder.columns)
        encoder = copy.deepcopy(self.encoder)  # an online one moves with the rows; these have not arrived yet
        return np.concatenate([encoder.encode(piece) for piece in table.pieces(encoder.columns)])

    def rows(self, table, num_rows):
        """The second pass: keyword arguments of a `Stream`. Nothing changes here if a row is refused."""
        encoder = copy.deepcopy(self.encoder)
        rows = {"features": empty_rows(num_rows, len(self.encoder.feature_names)),
                "labels": np.empty(num_rows, "float32" if self.labels is None else "int32"),
                "groups": np.empty(num_rows, "int32")}
        start = 0
        for piece in with_progress(table.pieces(self.used), f"reading {table.source}", num_rows):
            here = slice(start, start + len(piece))
            rows["features"][here] = encoder.encode(piece)
            rows["labels"][here] = piece[self.label] if self.labels is None else self.labels.encode(piece)
            rows["groups"][here] = self.groups.encode(piece)
            start += len(piece)
        self.encoder = encoder
        return rows | {"feature_names": self.encoder.feature_names, "group_names": self.groups.names,
                       "label_names": self.labels and self.labels.names,
                       "reorderable": self.encoder.preprocessing != "online", "report": report(table, self),
                       "form": self}


def rows_of_table(table, **options):
    """Keyword arguments of a `Stream`, from a table that has not been seen before."""
    form = TableForm(table, **options)
    return form.rows(table, require_rows(table, form.learn(table)))


def rows_like(table, form):
    """Keyword arguments of a `Stream`, from more rows of a table that is known."""
    form.require_same_kinds(table, form.used)
    return form.rows(table, require_rows(table, sum(map(len, table.pieces(form.used)))))


def require_rows(table, num_rows):
    """Tells of rows that were left out, and raises if that was all of them."""
    if num_rows == 0:
        raise ValueError(f"every row of {table.source} has an empty cell")
    if table.num_skipped:
        warnings.warn(f"left out {table.num_skipped:,} rows of {table.source} with an empty cell; {num_rows:,} remain",
                      stacklevel=4)
    return num_rows


def with_progress(pieces, what, num_rows=None):
    """The pieces, with a bar if they take longer than three seconds."""
    with tqdm(desc=what, total=num_rows, unit="row", unit_scale=True, delay=3) as bar:
        for piece in pieces:
            yield piece
            bar.update(len(piece))


def empty_rows(num_rows, num_features):
    """Room for the features: in memory, or in a file that vanishes with the array."""
    shape = (num_rows, num_features)
    if 4 * num_rows * num_features <= IN_MEMORY:
        return np.empty(shape, "float32")
    return np.memmap(tempfile.TemporaryFile(), "float32", "w+", shape=shape)


def report(table, form):
    """What was done with each column: a frame to print."""
    encoder, label, group, labels, groups = form.encoder, form.label, form.group, form.labels, form.groups

    def describe(name):
        if name == label:
            return "label", *((" / ".join(labels.names), "codes") if labels else ("numbers", "as they are"))
        if name not in encoder.columns:
            return ("group", " / ".join(groups.names), "codes") if name == group else ("left out", "", "")
        role, values = "feature", "numbers"
        encoding = {"online": "z-score of the rows so far"}.get(encoder.preprocessing, "z-score of all rows")
        if not encoder.scale:
            encoding = "as they are"
        if name in encoder.codes:
            values = f"{len(encoder.codes[name]):,} categories"
            encoding = ("one 0/1 feature each" if encoder.preprocessing == "one_hot" else
                        f"codes, {encoding}" if encoder.scale else "codes")
        if name == group:
            role, values = "feature and group", " / ".join(groups.names)
        return role, values, encoding

    return pd.DataFrame([describe(name) for name in table.columns], columns=["role", "values", "encoding"],
                        index=pd.Index(table.columns, name="column"))
