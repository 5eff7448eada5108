"""What can be wrong, by whose it is to mend. All are ValueErrors, so `except ValueError` catches every one.

>>> from aranyani_tf import errors
>>> issubclass(errors.RowError, ValueError)
True
"""


class AranyaniError(ValueError):
    """Base class of all errors that this package raises about what it was given."""


class ArgumentError(AranyaniError):
    """A setting, or a combination of settings, that cannot be."""


class RowError(AranyaniError):
    """Features, labels or groups that a model cannot take."""


class TableError(AranyaniError):
    """A table, or a column or cell of one, that cannot become rows."""


class DamagedFileError(AranyaniError):
    """A file that is not what was written: cut short, changed, or put together from two moments."""


class DivergedError(AranyaniError):
    """A model whose answers are no longer numbers; it was left as it was before the rows at hand."""


class InUseError(AranyaniError):
    """A model whose state is owned by a live session, a session that is over, or a file that another run writes."""
