"""The datasets as tables: columns and cells as their sources have them, before anything is encoded."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from aranyani_tf.datasets.acs_employment import NOT_FEATURES, acs_employment_table
from aranyani_tf.datasets.adult import adult_table
from aranyani_tf.datasets.bank import bank_table
from aranyani_tf.datasets.census import census_table
from aranyani_tf.datasets.compas import compas_table
from aranyani_tf.datasets.credit import LABEL as CREDIT_LABEL
from aranyani_tf.datasets.credit import credit_table
from aranyani_tf.datasets.law import law_table
from aranyani_tf.datasets.rate_jumps import rate_jumps
from aranyani_tf.datasets.synthetic import synthetic
from aranyani_tf.datasets.wiki_toxicity import wiki_toxicity
from aranyani_tf.errors import ArgumentError
from aranyani_tf.streams.stream import Stream


class NamedTable(NamedTuple):
    """A table, and what its columns are for."""

    frame: pd.DataFrame
    label: str
    group: str
    exclude: tuple[str, ...] = ()  # columns that are no features
    drop_group: bool = False  # the group's column is none


TABLES: dict[str, Callable[[], NamedTable]] = {
    "acs_employment": lambda: NamedTable(acs_employment_table(), "employed", "RAC1P", NOT_FEATURES),
    "adult": lambda: NamedTable(adult_table(), "income", "gender"),
    "bank": lambda: NamedTable(bank_table(), "y", "age_group", ("duration",), True),
    "census": lambda: NamedTable(census_table(), "income", "sex", ("instance_weight",)),
    "compas": lambda: NamedTable(compas_table(), "is_recid", "race"),
    "credit": lambda: NamedTable(credit_table(), CREDIT_LABEL, "SEX", ("ID",)),
    "law": lambda: NamedTable(law_table(), "first_pf", "race_group", drop_group=True),
    "rate_jumps": lambda: of_stream(rate_jumps()),
    "synthetic": lambda: of_stream(synthetic()),
    "wiki_toxicity": lambda: of_stream(wiki_toxicity()),
}


def table(name: str) -> NamedTable:
    """A dataset as a table, by name.

    >>> table("adult").frame.shape, table("adult").label
    ((32561, 15), 'income')
    """
    if name not in TABLES:
        raise ArgumentError(f"there is no table {name!r} among the datasets; there are: {', '.join(TABLES)}")
    return TABLES[name]()


def of_stream(stream: Stream) -> NamedTable:
    """A stream that never was a table: features by name or number, labels and groups by name if they have any."""
    features = stream.feature_names or tuple(f"x{number}" for number in range(stream.num_features))
    frame = pd.DataFrame(stream.features, columns=list(features))
    frame["group"] = by_name(stream.groups, stream.group_names)
    frame["label"] = by_name(stream.labels, stream.label_names)
    return NamedTable(frame, "label", "group", drop_group=True)


def by_name(codes: np.ndarray, names: tuple[str, ...] | None) -> np.ndarray:
    return codes if names is None else np.array(names, object)[codes]
