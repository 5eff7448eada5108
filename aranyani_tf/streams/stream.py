"""A stream: features, labels and groups in the order in which they arrive."""

import numpy as np

from aranyani_tf.arguments import require_choice
from aranyani_tf.errors import ArgumentError, RowError
from aranyani_tf.streams.chunks import Chunks
from aranyani_tf.streams.row_rules import as_rows
from aranyani_tf.streams.table_form import rows_like, rows_of_table
from aranyani_tf.streams.table_options import TableOptions
from aranyani_tf.streams.table_reader import Table


class Stream:
    """Rows of a stream, held in memory or memory-mapped.

    Args:
        features: (n, feature), float32.
        labels: (n,), whole numbers from 0, −1 where the label is missing; or float32 values with
            NaN for missing ones (regression).
        groups: (n,), whole numbers from 0, −1 where the group is missing.
        name, feature_names, label_names, group_names: for people; messages use them.
        report: what was done with each column of the table that the rows come from, as a data frame.
        reorderable: False if each row was scaled by those before it, so that another order would look
            ahead.
        form: how the rows were made of a table, if they were; `encode` makes more in the same way.

    >>> stream = Stream([[0.1, 2.0], [0.3, 4.0], [0.5, 6.0]], [0, 1, 1], [1, 0, 1], name="toy")
    >>> stream
    Stream('toy', 3 rows, 2 features, 2 labels, 2 groups)
    >>> len(stream[:2])
    2
    """

    def __init__(self, features, labels, groups, *, name="stream", feature_names=None,
                 label_names=None, group_names=None, report=None, reorderable=True, form=None):
        self.features, self.labels, self.groups = as_rows(features, labels, groups)
        fit = (self.groups >= -2**31) & (self.groups < 2**31)  # np.abs(-2**63) is negative
        if fit.all() and np.array_equal(self.groups, np.round(self.groups)):
            self.groups = self.groups.astype(np.int32, copy=False)
        self.name, self.report, self.reorderable, self.form = name, report, reorderable, form
        self.feature_names, self.label_names, self.group_names = (
            None if names is None else tuple(names)
            for names in (feature_names, label_names, group_names))
        if len(self.features) == 0:
            raise RowError(f"the stream {name!r} is empty")
        if self.feature_names is not None and len(self.feature_names) != self.num_features:
            raise ArgumentError(f"{len(self.feature_names)} feature names for {self.num_features} features")

    @classmethod
    def from_dataframe(cls, frame, *, label, group, name="data frame", **options):
        """The rows of a data frame, in its order; `stream.report` tells what became of each column.

        Numbers are scaled, categories become 0/1 features or codes, and times days since 1970.

        Args:
            label, group: names of the columns that hold y and the protected attribute. Their values
                become 0, 1, … in sorted order, and empty cells −1 (NaN in regression).
            preprocessing: "one_hot" (the default), "standardized" ("released" is the same) or "online"; see
                `aranyani_tf.streams.encoding`.
            exclude: columns that are not features.
            categorical: columns of numbers that are categories in truth; texts are so anyway.
            drop_group: True leaves the group's column out of the features.
            scale: False leaves numbers as they are.
            num_labels, num_groups: how many values those columns have, 2 by default. More than are there leave room
                for some that come later; None takes what comes, and num_labels=1 is regression. At least two values
                must be there already, since with one there is nothing to tell apart.
            on_empty_cells: "raise"; "skip" to leave out the rows that have one; or "fill" for the mean of the column
                (no category, if one-hot). "raise" is about features only.
            unknown: what to do with a category in later rows that was not there at first: "ignore" it (all zeros if
                one-hot, else the column's mean; "online" gives it a code) or "raise".
            max_categories: 1000; of a column with more, the most frequent are kept and the others become one.
            separator, decimal, empty: of CSV files; see `from_csv`.

        >>> import pandas as pd
        >>> people = pd.DataFrame({"age": [30, 50, 40], "city": ["Pune", "Lima", "Pune"],
        ...                        "sex": ["f", "m", "f"], "hired": ["no", "yes", "yes"]})
        >>> stream = Stream.from_dataframe(people, label="hired", group="sex", drop_group=True)
        >>> stream.feature_names
        ('age', 'city=Lima', 'city=Pune')
        >>> stream.report
                   role        values              encoding
        column
        age     feature       numbers   z-score of all rows
        city    feature  2 categories  one 0/1 feature each
        sex       group         f / m                 codes
        hired     label      no / yes                 codes
        """
        options = TableOptions.of(label=label, group=group, **options)
        return cls(**rows_of_table(Table.of_frame(frame, f"the {name}"), options), name=name)

    @classmethod
    def from_csv(cls, path, *, label, group, **options):
        """The rows of a CSV file with a header, with the options of `from_dataframe`.

        The file is read in pieces, twice; features of more than 1 GiB go to a temporary file that is
        removed with the stream. So files larger than the memory can be used. Which columns hold
        numbers or times is settled by the first 16,384 rows.

        Args:
            separator, decimal: "," and "." unless told otherwise.
            empty: words that stand for an empty cell, such as "NA".
        """
        options = TableOptions.of(label=label, group=group, **options)
        return cls(**rows_of_table(Table.of_csv(path, options), options), name=str(path))

    @classmethod
    def from_parquet(cls, path, *, label, group, **options):
        """The rows of a Parquet file, read in pieces as `from_csv` does, with the options of `from_dataframe`."""
        options = TableOptions.of(label=label, group=group, **options)
        return cls(**rows_of_table(Table.of_parquet(path), options), name=str(path))

    def more(self, source, *, on_empty_cells=None, separator=None, decimal=None, empty=None):
        """Further rows of the same table, a data frame, a CSV or a Parquet file, encoded as these were.

        The scales and codes of this stream stay, so that a model which learned from it can go on. With
        `preprocessing="online"` they go on too. `stream.form.encode(frame)` gives the features that rows
        would have whose label is not known yet, and `stream.form` can be pickled beside a saved model.
        Options that are not given are those of this stream.

        >>> import pandas as pd
        >>> people = pd.DataFrame({"age": [30, 50, 40], "sex": ["f", "m", "f"], "hired": ["no", "yes", "yes"]})
        >>> stream = Stream.from_dataframe(people, label="hired", group="sex")
        >>> stream.more(pd.DataFrame({"age": [45], "sex": ["m"], "hired": ["no"]})).features
        array([[0.5, 0. , 1. ]], dtype=float32)
        """
        if self.form is None:
            raise ArgumentError(f"{self.name} does not come from a table")
        options = self.form.options.changed(on_empty_cells=on_empty_cells, separator=separator, decimal=decimal,
                                            empty=empty)
        table = Table.of(source, options)
        return Stream(**rows_like(table, self.form, options), name=table.source.removeprefix("the "))

    @property
    def num_features(self):
        return self.features.shape[1]

    @property
    def num_labels(self):
        """Number of labels; 1 for a regression target."""
        if self.form is not None:
            return self.form.num_labels  # with room for those that come later
        if self.labels.dtype.kind == "f":
            return 1
        return len(self.label_names) if self.label_names else int(max(self.labels.max(), 1)) + 1

    @property
    def num_groups(self):
        if self.form is not None:
            return self.form.num_groups
        return len(self.group_names) if self.group_names else int(max(self.groups.max(), 1)) + 1

    def __len__(self):
        return len(self.features)

    def __getitem__(self, rows):
        """Some of the rows, as a stream: a slice, indices or a mask."""
        if isinstance(rows, (int, np.integer)):
            rows = slice(rows, rows + 1 or None)
        return Stream(self.features[rows], self.labels[rows], self.groups[rows], name=self.name,
                      feature_names=self.feature_names, label_names=self.label_names,
                      group_names=self.group_names, report=self.report, reorderable=self.reorderable,
                      form=self.form)

    def shuffled(self, seed=0):
        """The rows in a random order; the same seed gives the same order."""
        self.require_reorderable()
        return self[shuffled_order(len(self), seed)]

    def adversarial(self, first="majority"):
        """The paper's Appendix E: 90 % of one class, then all of the other, then the remaining 10 %.

        Args:
            first: "majority" or "minority", the label that opens and closes the stream. Rows of a
                label keep their order.
        """
        require_choice("first", first, ("majority", "minority"))
        self.require_reorderable()
        counts = [int((self.labels == label).sum()) for label in (0, 1)]
        if min(counts) == 0 or sum(counts) < len(self):
            raise ArgumentError("an adversarial order needs rows of the labels 0 and 1, and no others; of these there "
                                f"are {counts} among {len(self):,} rows")
        majority = int(np.argmax(counts))
        opening = majority if first == "majority" else 1 - majority
        own, other = (np.flatnonzero(self.labels == label) for label in (opening, 1 - opening))
        cut = round(0.9 * len(own))
        return self[np.concatenate([own[:cut], other, own[cut:]])]

    def fraction(self, share, seed=None):
        """The first `share` of the rows; with a seed, a random choice of as many, in their order."""
        if not 0 < share <= 1:
            raise ArgumentError(f"share must be above 0 and at most 1, got {share}")
        count = max(round(share * len(self)), 1)
        if seed is None:
            return self[:count]
        return self[np.sort(np.random.default_rng(seed).choice(len(self), count, replace=False))]

    def held_out(self, share=0.1, seed=0):
        """(stream, held out): a random `share` of the rows is set aside; both keep their order."""
        count = max(round(share * len(self)), 1)
        if not (0 < share < 1 and count < len(self)):
            raise ArgumentError("share must lie between 0 and 1 and leave a row to learn from, got "
                                f"{share} of {len(self)} rows")
        aside = np.zeros(len(self), bool)
        aside[np.random.default_rng(seed).choice(len(self), count, replace=False)] = True
        return self[~aside], self[aside]

    def require_reorderable(self):
        if not self.reorderable:
            raise ArgumentError(f"{self.name} was scaled row by row in its order (preprocessing='online'); another "
                                "order would look ahead. Bring the rows into order first: load(…, order=ROWS), or "
                                "reorder the data frame")

    def chunks(self, size=4096):
        """The rows in pieces of `size`, as `Aranyani.fit` takes them."""
        return Chunks.of_arrays(self.features, self.labels, self.groups, size=size,
                                feature_names=self.feature_names)

    def __repr__(self):
        target = "a regression target" if self.num_labels == 1 else f"{self.num_labels} labels"
        return (f"Stream({self.name!r}, {len(self):,} rows, {self.num_features} features, "
                f"{target}, {self.num_groups} groups)")


def shuffled_order(num_rows, seed):
    return np.random.default_rng(seed).permutation(num_rows)
