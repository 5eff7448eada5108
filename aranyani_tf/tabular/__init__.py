"""A model and the form of its table as one: rows of a table in, labels by name out."""

from aranyani_tf.tabular.tabular_model import TabularModel

__all__ = ["TabularModel"]
