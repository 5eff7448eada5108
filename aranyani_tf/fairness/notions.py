"""Notions of group fairness as cells and contrasts: Section 3.1 and Appendix C of the paper.

A *cell* is what a running mean is conditioned on, and a notion is two things over cells: which of
them a sample belongs to, and a contrast matrix whose rows are the gaps that should be zero,

    F_c = Σ_cell contrast[c, cell] · mean[cell].

Cells come as condition × group. Demographic parity has one condition that always holds, equal
opportunity the condition y = 1, equalized odds one condition for each label; a condition may also look at
what the model said, as that of predictive parity does. Two groups give one
contrast (1, −1) per condition. More groups add a cell for everybody, and a contrast
everybody − group k for each group (Appendix C.2).
"""

import inspect
from typing import Any, Self

import keras
import numpy as np
import tensorflow as tf

from aranyani_tf.arguments import require_whole
from aranyani_tf.errors import ArgumentError
from aranyani_tf.labels import is_labelled


class Notion:
    """Base class, with one condition that always holds; a subclass says what else there is.

    A model with a notion of your own can be saved if its class is decorated with
    `@keras.saving.register_keras_serializable()`.
    """

    compares_loss = False  # True: the loss is averaged instead of decisions or outputs
    needs_classes = False  # True: conditions name labels, which a regression target does not have
    positive_label = 1  # whose equal opportunity is reported

    def check(self, num_labels: int) -> None:
        """Raises if the notion has no meaning for so many labels."""
        if self.needs_classes and num_labels == 1:
            raise ArgumentError(f"{type(self).__name__} needs labels; num_labels=1 is regression")
        try:
            inspect.signature(self.conditions).bind(None, None, None)
        except TypeError as error:  # it had no outputs in version 0.1
            raise ArgumentError(
                f"{type(self).__name__}.conditions must take (self, labels, outputs, num_labels)") from error

    def num_conditions(self, num_labels: int) -> int:
        return 1

    def conditions(self, labels: tf.Tensor, outputs: tf.Tensor, num_labels: int) -> tf.Tensor:
        """(batch,) labels and (batch, label) outputs → (batch, condition), true where a sample meets the condition."""
        return tf.ones_like(labels, tf.bool)[:, None]

    def against_everybody(self, num_groups: int) -> bool:
        """Whether groups are compared with everybody rather than with each other."""
        return num_groups > 2

    def num_cells(self, num_labels: int, num_groups: int) -> int:
        return self.num_conditions(num_labels) * (num_groups + self.against_everybody(num_groups))

    def contrasts(self, num_labels: int, num_groups: int) -> np.ndarray:
        """The contrast matrix, (constraint, cell)."""
        if self.against_everybody(num_groups):
            one_condition = np.hstack([-np.eye(num_groups), np.ones((num_groups, 1))])
        else:
            one_condition = np.array([[1.0, -1.0]])
        return np.kron(np.eye(self.num_conditions(num_labels)), one_condition)

    def membership(self, labels: tf.Tensor, groups: tf.Tensor, outputs: tf.Tensor, *, num_labels: int,
                   num_groups: int, dtype: str = "float32") -> tf.Tensor:
        """(batch, cell), 1 where the sample counts for the cell; a group of −1 is in none."""
        in_group = tf.one_hot(groups, num_groups, dtype=dtype)  # (batch, group)
        if self.against_everybody(num_groups):
            in_group = tf.concat([in_group, tf.reduce_sum(in_group, -1, keepdims=True)], -1)
        meets = tf.cast(self.conditions(labels, outputs, num_labels), dtype)  # (batch, condition)
        cells = meets[:, :, None] * in_group[:, None, :]
        return tf.reshape(cells, (-1, cells.shape[1] * cells.shape[2]))

    def get_config(self) -> dict[str, Any]:
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        return cls(**config)


@keras.saving.register_keras_serializable("aranyani_tf")
class DemographicParity(Notion):
    """E[f | a=0] = E[f | a=1].

    >>> DemographicParity().contrasts(num_labels=2, num_groups=2)
    array([[ 1., -1.]])
    """


@keras.saving.register_keras_serializable("aranyani_tf")
class EqualOpportunity(Notion):
    """E[f | y=1, a=0] = E[f | y=1, a=1], for the label that counts as the good one."""

    needs_classes = True

    def __init__(self, positive_label: int = 1) -> None:
        self.positive_label = positive_label

    def check(self, num_labels: int) -> None:
        super().check(num_labels)
        require_whole("positive_label", self.positive_label, 0, num_labels - 1)

    def conditions(self, labels: tf.Tensor, outputs: tf.Tensor, num_labels: int) -> tf.Tensor:
        return tf.equal(labels, self.positive_label)[:, None]

    def get_config(self) -> dict[str, Any]:
        return {"positive_label": self.positive_label}


@keras.saving.register_keras_serializable("aranyani_tf")
class EqualizedOdds(Notion):
    """E[f | y=c, a=0] = E[f | y=c, a=1] for every label c (Appendix C.1).

    >>> EqualizedOdds().contrasts(num_labels=2, num_groups=2)
    array([[ 1., -1.,  0., -0.],
           [ 0., -0.,  1., -1.]])
    """

    needs_classes = True

    def num_conditions(self, num_labels: int) -> int:
        return num_labels

    def conditions(self, labels: tf.Tensor, outputs: tf.Tensor, num_labels: int) -> tf.Tensor:
        return tf.one_hot(labels, num_labels)


@keras.saving.register_keras_serializable("aranyani_tf")
class RepresentationParity(Notion):
    """E[loss] = E[loss | a=k] for every group: nobody is served worse than the average.

    A loss exists only for the whole prediction, so this notion goes with `constraint="output"`.
    """

    compares_loss = True

    def against_everybody(self, num_groups: int) -> bool:
        return True

    def conditions(self, labels: tf.Tensor, outputs: tf.Tensor, num_labels: int) -> tf.Tensor:
        return is_labelled(labels)[:, None]


NOTIONS = {
    "demographic_parity": DemographicParity, "equal_opportunity": EqualOpportunity,
    "equalized_odds": EqualizedOdds, "representation_parity": RepresentationParity}


def get(notion: str | Notion) -> Notion:
    """A notion by name, or the object itself."""
    if isinstance(notion, Notion):
        return notion
    if not isinstance(notion, str) or notion not in NOTIONS:
        raise ArgumentError(f"unknown notion {notion!r}; known are {', '.join(NOTIONS)}, "
                            "or pass an object of a Notion subclass")
    return NOTIONS[notion]()
