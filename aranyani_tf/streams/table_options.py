"""How a table is read, and what its columns become: every option, its default, its check and its meaning.

`Stream.from_dataframe` and its siblings take them; whoever reads or encodes a table is given a `TableOptions`.
"""

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self, TypeVar

import numpy as np

from aranyani_tf.arguments import require_choice, require_flags, require_whole
from aranyani_tf.errors import ArgumentError

WAYS = ("released", "standardized", "one_hot", "online")  # of preprocessing, see `streams.encoding`
ON_EMPTY_CELLS = ("raise", "skip", "fill")
LISTS = ("exclude", "categorical", "empty")  # options that are names

Function = TypeVar("Function", bound=Callable)


@dataclass(frozen=True)
class TableOptions:
    """Options that a stream keeps for further rows.

    Args:
        label, group: names of the columns that hold y and the protected attribute. Their values
            become 0, 1, … in sorted order, and empty cells −1 (NaN in regression).
        preprocessing: "one_hot" (the default), "standardized" ("released" is the same) or "online"; see
            `aranyani_tf.streams.encoding`.
        exclude: columns that are not features.
        categorical: columns of numbers that are categories in truth; texts are so anyway.
        drop_group: True leaves the group's column out of the features.
        scale: False leaves numbers as they are.
        num_labels, num_groups: how many values those columns have, 2 by default. More than are there leave
            room for some that come later; None takes what comes, and num_labels=1 is regression. At least two
            values must be there already, since with one there is nothing to tell apart.
        on_empty_cells: "raise"; "skip" to leave out the rows that have one; or "fill" for the mean of the
            column (no category, if one-hot). "raise" is about features only.
        unknown: what to do with a category in later rows that was not there at first: "ignore" it (all zeros
            if one-hot, else the column's mean; "online" gives it a code) or "raise".
        max_categories: 1000; of a column with more, the most frequent are kept and the others become one.
        separator, decimal: of CSV files, "," and "." unless told otherwise.
        empty: words of a CSV file that stand for an empty cell, such as "NA".

    >>> TableOptions.of(label="hired", group="sex", exclude="name").exclude
    ('name',)
    >>> TableOptions.of(label="hired", group="sex", proprocessing="online")
    Traceback (most recent call last):
    aranyani_tf.errors.ArgumentError: no option 'proprocessing' for a table; there are: label, group, preprocessing, ...
    """

    label: str
    group: str
    preprocessing: str = "one_hot"
    exclude: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    drop_group: bool = False
    scale: bool = True
    num_labels: int | None = 2
    num_groups: int | None = 2
    on_empty_cells: str = "raise"
    unknown: str = "ignore"
    max_categories: int = 1000
    separator: str = ","
    decimal: str = "."
    empty: tuple[str, ...] = ()

    @classmethod
    def of(cls, label: Any, group: Any, **given: Any) -> Self:
        """Options as a user gives them."""
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise ArgumentError(f"no option {name!r} for a table; there are: {', '.join(known)}")
        return cls(str(label), str(group), **with_lists(given))

    def __post_init__(self) -> None:
        require_choice("preprocessing", self.preprocessing, WAYS)
        require_choice("on_empty_cells", self.on_empty_cells, ON_EMPTY_CELLS)
        require_choice("unknown", self.unknown, ("ignore", "raise"))
        require_choice("decimal", self.decimal, (".", ","))
        if not isinstance(self.separator, str) or not self.separator:
            raise ArgumentError(f"separator must be a text such as ';', got {self.separator!r}")
        require_flags(drop_group=self.drop_group, scale=self.scale)
        require_whole("max_categories", self.max_categories, 2)
        for name, low in (("num_labels", 1), ("num_groups", 2)):
            if getattr(self, name) is not None:
                require_whole(name, getattr(self, name), low)
        if self.label == self.group:
            raise ArgumentError(f"label and group are both column {self.label!r}")
        if self.unknown == "raise" and self.preprocessing == "online":
            raise ArgumentError("preprocessing='online' has codes for new categories, so unknown='raise' cannot be")

    def contents(self) -> dict[str, Any]:
        """What a file keeps of it: lists, texts and numbers of Python's own."""
        return {name: list(value) if name in LISTS else value.item() if isinstance(value, np.generic) else value
                for name, value in asdict(self).items()}

    def changed(self, **given: Any) -> Self:
        """These options, with those that are not None in place of their own."""
        given = {name: value for name, value in given.items() if value is not None}
        return replace(self, **with_lists(given))


def with_lists(given: dict[str, Any]) -> dict[str, Any]:
    return given | {name: names(name, given[name]) for name in LISTS if name in given}


def names(option: str, given: Any) -> tuple[str, ...]:
    """One name or several, as texts."""
    try:
        return (given,) if isinstance(given, str) else tuple(map(str, given))
    except TypeError:
        raise ArgumentError(f"{option} must be a name or a list of names, got {given!r}") from None


def explains_options(function: Function) -> Function:
    """Puts what the options mean behind a docstring's line "options: …", so that `help` tells all of them."""
    told = inspect.cleandoc(TableOptions.__doc__ or "").partition("Args:\n")[2].partition("\n\n")[0]
    lines = []
    for line in (function.__doc__ or "").splitlines():
        lines.append(line)
        if line.lstrip().startswith("options: "):
            indent = " " * (len(line) - len(line.lstrip()))
            lines.append(textwrap.indent(textwrap.dedent(told), indent))
    function.__doc__ = "\n".join(lines) or None
    return function
