"""A stream: features, labels and groups in the order in which they arrive."""

import os
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import pandas as pd

from aranyani_tf.arguments import as_names
from aranyani_tf.errors import ArgumentError, RowError
from aranyani_tf.streams.chunks import Chunks
from aranyani_tf.streams.orders import adversarial_order, part_of_rows, rows_set_aside, shuffled_order
from aranyani_tf.streams.row_rules import as_rows
from aranyani_tf.streams.table_form import TableForm
from aranyani_tf.streams.table_options import TableOptions, explains_options
from aranyani_tf.streams.table_reader import Table
from aranyani_tf.streams.table_rows import rows_like, rows_of_table


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

    def __init__(self, features: Any, labels: Any, groups: Any, *, name: str = "stream",
                 feature_names: Iterable[str] | None = None, label_names: Iterable[str] | None = None,
                 group_names: Iterable[str] | None = None, report: pd.DataFrame | None = None,
                 reorderable: bool = True, form: TableForm | None = None) -> None:
        self.features, self.labels, self.groups = as_rows(features, labels, groups)
        fit = (self.groups >= -2**31) & (self.groups < 2**31)  # np.abs(-2**63) is negative
        if fit.all() and np.array_equal(self.groups, np.round(self.groups)):
            self.groups = self.groups.astype(np.int32, copy=False)
        self.name, self.report, self.reorderable, self.form = name, report, reorderable, form
        self.feature_names, self.label_names, self.group_names = (
            as_names(role, names) for role, names in (
                ("feature_names", feature_names), ("label_names", label_names), ("group_names", group_names)))
        if len(self.features) == 0:
            raise RowError(f"the stream {name!r} is empty")
        if self.feature_names is not None and len(self.feature_names) != self.num_features:
            raise ArgumentError(f"{len(self.feature_names)} feature names for {self.num_features} features")

    @classmethod
    @explains_options
    def from_dataframe(cls, frame: pd.DataFrame, *, label: str, group: str, name: str = "data frame",
                       **options: Any) -> Self:
        """The rows of a data frame, in its order; `stream.report` tells what became of each column.

        Numbers are scaled, categories become 0/1 features or codes, and times days since 1970.

        Args:
            name: what messages call it.
            options: those of `TableOptions`, label and group among them:

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
        chosen = TableOptions.of(label=label, group=group, **options)
        return cls(**rows_of_table(Table.of_frame(frame, f"the {name}"), chosen), name=name)

    @classmethod
    @explains_options
    def from_csv(cls, path: str | os.PathLike, *, label: str, group: str, **options: Any) -> Self:
        """The rows of a CSV file with a header, as those of `from_dataframe`.

        The file is read in pieces, twice; features of more than 1 GiB go to a temporary file that is
        removed with the stream. So files larger than the memory can be used. Which columns hold
        numbers or times is settled by the first 16,384 rows.

        Args:
            options: those of `TableOptions`, label and group among them:
        """
        chosen = TableOptions.of(label=label, group=group, **options)
        return cls(**rows_of_table(Table.of_csv(path, chosen), chosen), name=str(path))

    @classmethod
    @explains_options
    def from_parquet(cls, path: str | os.PathLike, *, label: str, group: str, **options: Any) -> Self:
        """The rows of a Parquet file, read in pieces as `from_csv` does.

        Args:
            options: those of `TableOptions`, label and group among them:
        """
        chosen = TableOptions.of(label=label, group=group, **options)
        return cls(**rows_of_table(Table.of_parquet(path), chosen), name=str(path))

    def more(self, source: pd.DataFrame | str | os.PathLike, *, on_empty_cells: str | None = None,
             separator: str | None = None, decimal: str | None = None, empty: Any = None) -> "Stream":
        """Further rows of the same table, a data frame, a CSV or a Parquet file, encoded as these were.

        The scales and codes of this stream stay, so that a model which learned from it can go on. With
        `preprocessing="online"` they go on too. `stream.form.encode(frame)` gives the features that rows
        would have whose label is not known yet, and `stream.form.save(path)` keeps the scales and codes in a file.
        Options that are not given are those of this stream; `TableOptions` tells what they mean.

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

    @classmethod
    def from_form(cls, form: TableForm, source: pd.DataFrame | str | os.PathLike, **changed: Any) -> Self:
        """Further rows of a table whose form was kept, as `more` makes them; `changed` are options of it."""
        options = form.options.changed(**changed)
        table = Table.of(source, options)
        return cls(**rows_like(table, form, options), name=table.source.removeprefix("the "))

    @property
    def num_features(self) -> int:
        return self.features.shape[1]

    @property
    def num_labels(self) -> int:
        """Number of labels; 1 for a regression target."""
        if self.form is not None:
            return self.form.num_labels  # with room for those that come later
        if self.labels.dtype.kind == "f":
            return 1
        return len(self.label_names) if self.label_names else int(max(self.labels.max(), 1)) + 1

    @property
    def num_groups(self) -> int:
        if self.form is not None:
            return self.form.num_groups
        if self.group_names:
            return len(self.group_names)
        return int(self.groups.max(where=np.isfinite(self.groups), initial=1)) + 1

    def __len__(self) -> int:
        return len(self.features)

    def __getitem__(self, rows: Any) -> "Stream":
        """Some of the rows, as a stream: a slice, indices or a mask."""
        if isinstance(rows, (int, np.integer)):
            rows = slice(rows, rows + 1 or None)
        try:
            features, labels, groups = self.features[rows], self.labels[rows], self.groups[rows]
        except (IndexError, TypeError, ValueError) as error:
            raise ArgumentError(f"rows of {self.name} are chosen by a slice, by their numbers or by a mask of "
                                f"{len(self):,} truth values: {error}") from error
        return Stream(features, labels, groups, name=self.name,
                      feature_names=self.feature_names, label_names=self.label_names,
                      group_names=self.group_names, report=self.report, reorderable=self.reorderable,
                      form=self.form)

    def shuffled(self, seed: int | None = 0) -> "Stream":
        """The rows in a random order; the same seed gives the same order."""
        self.require_reorderable()
        return self[shuffled_order(len(self), seed)]

    def adversarial(self, first: str = "majority") -> "Stream":
        """The paper's Appendix E: 90 % of one class, then all of the other, then the remaining 10 %.

        Args:
            first: "majority" or "minority", the label that opens and closes the stream. Rows of a
                label keep their order.
        """
        self.require_reorderable()
        return self[adversarial_order(self.labels, first)]

    def fraction(self, share: float, seed: int | None = None) -> "Stream":
        """The first `share` of the rows; with a seed, a random choice of as many, in their order."""
        return self[part_of_rows(len(self), share, seed)]

    def held_out(self, share: float = 0.1, seed: int | None = 0) -> tuple["Stream", "Stream"]:
        """(stream, held out): a random `share` of the rows is set aside; both keep their order."""
        aside = rows_set_aside(len(self), share, seed)
        return self[~aside], self[aside]

    def require_reorderable(self) -> None:
        if not self.reorderable:
            raise ArgumentError(f"{self.name} was scaled row by row in its order (preprocessing='online'); another "
                                "order would look ahead. Bring the rows into order first: load(…, order=ROWS), or "
                                "reorder the data frame")

    def chunks(self, size: int = 4096) -> Chunks:
        """The rows in pieces of `size`, as `Aranyani.fit` takes them."""
        return Chunks.of_arrays(self.features, self.labels, self.groups, size=size,
                                feature_names=self.feature_names)

    def __repr__(self) -> str:
        target = "a regression target" if self.num_labels == 1 else f"{self.num_labels} labels"
        return (f"Stream({self.name!r}, {len(self):,} rows, {self.num_features} features, "
                f"{target}, {self.num_groups} groups)")
