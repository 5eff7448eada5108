"""How a table becomes rows, settled once and kept: labels and groups as codes, columns as features.

`table_rows` makes it of a table. It encodes further rows, all at once or one by one, and is kept as a JSON file.
"""

import copy
import os
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import pandas as pd

from aranyani_tf.arguments import require_choice
from aranyani_tf.checked_json import Kind
from aranyani_tf.errors import TableError
from aranyani_tf.streams.cells import READERS
from aranyani_tf.streams.column_kinds import CATEGORIES, TIMES
from aranyani_tf.streams.encoding import TableEncoder, Unknown, warn_of_unknown
from aranyani_tf.streams.form_check import require_consistent
from aranyani_tf.streams.label_codes import Codes
from aranyani_tf.streams.row_encoder import RowEncoder
from aranyani_tf.streams.table_options import TableOptions
from aranyani_tf.streams.table_reader import Table

FORM = Kind("form of a table", 1, TableError, "write one from the table with stream.form.save(path)")


class TableForm:
    """How the columns of a table become labels, groups and features, and so do further rows.

    It holds no rows. `save` writes it to a JSON file beside a model, and `load` reads it again; a `TabularModel` has it
    in its own file.

    Args:
        options: those that the table was read with.
        kinds: dict from columns to kinds.
        encoder: of the features.
        labels, groups: codes of both columns; None for labels that are numbers.

    >>> from aranyani_tf import Stream
    >>> people = pd.DataFrame({"age": [30, 50, 40], "sex": ["f", "m", "f"], "hired": ["no", "yes", "yes"]})
    >>> form = Stream.from_dataframe(people, label="hired", group="sex").form
    >>> form.encode_row({"age": 45, "sex": "m"})
    array([0.5, 0. , 1. ], dtype=float32)
    >>> form.label_of("yes"), form.group_of(None), TableForm.from_json(form.to_json()).label_names
    (1, -1, ('no', 'yes'))
    """

    def __init__(self, options: TableOptions, kinds: Mapping[str, str], encoder: TableEncoder, labels: Codes | None,
                 groups: Codes) -> None:
        self.options, self.kinds, self.encoder, self.labels, self.groups = options, kinds, encoder, labels, groups
        self.row_encoder: RowEncoder | None = None  # made when it is needed

    @classmethod
    def of_table(cls, table: Table, options: TableOptions) -> Self:
        """The form of a table that has not been looked through yet: `learn` does that."""
        label, group = options.label, options.group
        table.require([label, group, *options.exclude, *options.categorical])
        left_out = {label, *options.exclude, *([group] if options.drop_group else [])}
        columns = [name for name in table.columns if name not in left_out]
        if not columns:
            raise TableError(f"{table.source} has no column left for the features")
        kinds = table.kinds(dict.fromkeys([*columns, group, label]), options.categorical)
        groups = Codes("group", group, options.num_groups)
        labels = None if options.num_labels == 1 else Codes("label", label, options.num_labels)
        for codes in (groups, labels):
            if codes is not None and kinds[codes.column] == TIMES:  # its values are names
                kinds[codes.column] = CATEGORIES
        if labels is None and kinds[label] == CATEGORIES:
            raise TableError(f"label column {label!r} must hold numbers for regression (num_labels=1)")
        categories = [name for name in columns if kinds[name] == CATEGORIES]
        return cls(options, kinds, TableEncoder(options, columns=columns, categories=categories), labels, groups)

    def to_json(self) -> dict[str, Any]:
        """All of it as lists, dicts, texts and numbers, with a version and a check sum."""
        return FORM.sealed(self.contents())

    def contents(self) -> dict[str, Any]:
        return {"options": self.options.contents(), "kinds": dict(self.kinds), "encoder": self.encoder.contents(),
                "labels": None if self.labels is None else list(self.labels.values), "groups": list(self.groups.values)}

    @classmethod
    def from_json(cls, document: dict[str, Any] | str, source: str = "this document") -> Self:
        """What `to_json` gave, or that as a text; messages call it `source`."""
        return cls.of_contents(FORM.opened(document, source), source)

    def save(self, path: str | os.PathLike) -> None:
        """Writes a JSON file that is whole or not there, such as people.form.json."""
        FORM.write(self.contents(), path)

    @classmethod
    def load(cls, path: str | os.PathLike) -> Self:
        """What `save` wrote; an `online` form goes on where it stood."""
        return cls.of_contents(FORM.read(path), str(path))

    @classmethod
    def of_contents(cls, contents: Mapping[str, Any], source: str) -> Self:
        try:
            options = TableOptions.of(**contents["options"])
            kinds, encoder = contents["kinds"], TableEncoder.of_contents(options, contents["encoder"])
            labels = None if contents["labels"] is None else Codes.of_values(
                "label", options.label, options.num_labels, contents["labels"])
            groups = Codes.of_values("group", options.group, options.num_groups, contents["groups"])
            require_consistent(kinds, encoder, labels, groups, options.num_labels)
            return cls(options, kinds, encoder, labels, groups)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise FORM.damaged(source, f"{type(error).__name__}: {error}") from error

    @property
    def coded(self) -> list[Codes]:
        """The columns that become codes; a label that is a number is none of them."""
        return [codes for codes in (self.labels, self.groups) if codes is not None]

    @property
    def num_labels(self) -> int:
        return 1 if self.labels is None else self.labels.count

    @property
    def num_groups(self) -> int:
        return self.groups.count

    @property
    def label_names(self) -> tuple[str, ...] | None:
        """By code; None for labels that are numbers."""
        return None if self.labels is None else self.labels.names

    @property
    def group_names(self) -> tuple[str, ...]:
        return self.groups.names

    def label_of(self, value: Any) -> Any:
        """The code of a label, as training has it; in regression the number itself.

        An empty one (None, NaN, "") is −1, or NaN in regression. A new one gets the next code while `num_labels`
        leaves room, and is remembered; or else it raises.
        """
        if self.labels is None:
            return READERS[self.kinds[self.options.label]](value, self.options.label)
        return self.labels.take(self.cell(self.labels, value))

    def group_of(self, value: Any) -> int:
        """The code of a group, by the same rule as `label_of`."""
        return self.groups.take(self.cell(self.groups, value))

    def peek(self, label: Any, group: Any) -> tuple[Any, int]:
        """What `label_of` and `group_of` would give; nothing is remembered."""
        target = self.label_of(label) if self.labels is None else self.labels.code_of(self.cell(self.labels, label))
        return target, self.groups.code_of(self.cell(self.groups, group))

    def cell(self, codes: Codes, value: Any) -> Any:
        return READERS[self.kinds[codes.column]](value, codes.column)

    def encode(self, frame: pd.DataFrame, on_empty_cells: str | None = None) -> np.ndarray:
        """Features (row, feature) that further rows would have; only the columns of features are needed.

        Args:
            on_empty_cells: "raise", or "fill" for the mean of the column (no category, if one-hot); None does
                what the stream did, and raises where that left out rows.
        """
        fill = self.fills(on_empty_cells)
        table = Table.of_frame(frame, "the data frame")
        table.require(self.encoder.columns)
        kinds = {name: self.kinds[name] for name in self.encoder.columns}
        # An online encoder moves with the rows; these have not arrived yet.
        encoder = copy.deepcopy(self.encoder) if self.encoder.online else self.encoder
        unknown: Unknown = {}
        features = [encoder.encode(piece, unknown) for piece in table.pieces(
            kinds, on_empty_cells="fill" if fill else "raise", optional=[self.options.group], may_skip=False)]
        warn_of_unknown(unknown, table.source, stacklevel=3)
        return np.concatenate(features)

    def fills(self, on_empty_cells: str | None) -> bool:
        """Whether empty cells of features are filled, and not refused."""
        if on_empty_cells is None:
            return self.options.on_empty_cells == "fill"
        require_choice("on_empty_cells", on_empty_cells, ("raise", "fill"))
        return on_empty_cells == "fill"

    def encode_row(self, row: Mapping[str, Any], *, learn: bool = False,
                   on_empty_cells: str | None = None) -> np.ndarray:
        """Features (feature,) of one row, a dict from columns to cells, in microseconds: those that `encode` gives.

        Columns that are no features are not looked at. A category that was not there before is told once.

        Args:
            learn: whether the row has arrived. `preprocessing="online"` scales a row by those before it and by
                itself; to predict, it does so as if the row came next, and stays where it is; to learn, it goes on.
                Other ways of preprocessing do not move.
            on_empty_cells: as in `encode`.
        """
        encoder = self.for_rows()
        return encoder.features(encoder.cells(row, self.fills(on_empty_cells)), learn)

    def for_rows(self) -> RowEncoder:
        if self.row_encoder is None or self.row_encoder.encoder is not self.encoder:
            self.row_encoder = RowEncoder(self.encoder, self.kinds, [self.options.group])
        return self.row_encoder
