"""How a table is read, and what its columns become: the options of `Stream.from_dataframe` and its siblings."""

from dataclasses import dataclass, fields, replace

from aranyani_tf.arguments import require_choice, require_flags, require_whole
from aranyani_tf.errors import ArgumentError

ON_EMPTY_CELLS = ("raise", "skip", "fill")


@dataclass(frozen=True)
class TableOptions:
    """Options that a stream keeps for further rows; `Stream.from_dataframe` explains them.

    >>> TableOptions.of(label="hired", group="sex", exclude="name").exclude
    ('name',)
    >>> TableOptions.of(label="hired", group="sex", proprocessing="online")
    Traceback (most recent call last):
    aranyani_tf.errors.ArgumentError: no option 'proprocessing' for a table; there are: label, group, preprocessing, ...
    """

    label: str
    group: str
    preprocessing: str = "one_hot"
    exclude: tuple = ()
    categorical: tuple = ()
    drop_group: bool = False
    scale: bool = True
    num_labels: int | None = 2
    num_groups: int | None = 2
    on_empty_cells: str = "raise"
    unknown: str = "ignore"
    max_categories: int = 1000
    separator: str = ","
    decimal: str = "."
    empty: tuple = ()

    @classmethod
    def of(cls, label, group, **given):
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise ArgumentError(f"no option {name!r} for a table; there are: {', '.join(known)}")
        lists = {name: names(name, given[name]) for name in ("exclude", "categorical", "empty") if name in given}
        return cls(str(label), str(group), **{**given, **lists})

    def __post_init__(self):
        require_choice("on_empty_cells", self.on_empty_cells, ON_EMPTY_CELLS)
        require_choice("decimal", self.decimal, (".", ","))
        require_flags(drop_group=self.drop_group, scale=self.scale)
        for name, low in (("num_labels", 1), ("num_groups", 2)):
            if getattr(self, name) is not None:
                require_whole(name, getattr(self, name), low)
        if self.label == self.group:
            raise ArgumentError(f"label and group are both column {self.label!r}")

    def changed(self, **given):
        """These options, with those that are not None in place of their own."""
        given = {name: value for name, value in given.items() if value is not None}
        if "empty" in given:
            given["empty"] = names("empty", given["empty"])
        return replace(self, **given)


def names(option, given):
    """One name or several, as texts."""
    try:
        return (given,) if isinstance(given, str) else tuple(map(str, given))
    except TypeError:
        raise ArgumentError(f"{option} must be a name or a list of names, got {given!r}") from None
