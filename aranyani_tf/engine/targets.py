"""A regression's target in its own scale, row by row: what `learning.target_scale` does for a chunk at once.

One after the other (Welford), so that it makes no difference how a stream is cut.
"""

import numpy as np

from aranyani_tf.engine.compiler import compiled


@compiled(_nrt=False)
def scale_along(labels: np.ndarray, moments: np.ndarray, learned: np.ndarray, units: np.ndarray) -> None:
    """Fills the labels as they are learned, (n,), and (center, spread) before each, (n, 2); moves the moments.

    Args:
        labels: (n,), NaN where missing.
        moments: (3,), count, mean and sum of squared deviations of the labels so far.
    """
    for i in range(labels.size):
        for after in range(2):
            if after and labels[i] == labels[i]:
                moments[0] += 1
                away = labels[i] - moments[1]
                moments[1] += away / moments[0]
                moments[2] += away * (labels[i] - moments[1])
            spread = np.sqrt(max(moments[2], 0.0) / max(moments[0], 1.0))
            if not spread > 0:
                spread = 1.0
            if after:
                learned[i] = (labels[i] - moments[1]) / spread
            else:
                units[i, 0] = moments[1]
                units[i, 1] = spread


class TargetUnit:
    """The scale of a target that a walk learns along its way; without moments, labels and answers are as they come."""

    def __init__(self, moments: np.ndarray | None) -> None:
        self.moments = moments

    def scaled(self, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Labels as they are learned, and (center, spread) before each, (row, 2); moves the moments."""
        if self.moments is None:
            return labels, None
        learned, units = np.empty(len(labels)), np.empty((len(labels), 2))
        scale_along(np.require(labels, "float64", ["C", "A", "W"]), self.moments, learned, units)
        return learned, units

    def now(self) -> np.ndarray | None:
        """(center, spread) as they stand, (1, 2)."""
        return None if self.moments is None else TargetUnit(self.moments.copy()).scaled(np.array([np.nan]))[1]


def in_unit(outputs: np.ndarray, units: np.ndarray | None) -> np.ndarray:
    """Answers in the target's unit."""
    return outputs if units is None else (outputs * units[:, 1:] + units[:, :1]).astype(outputs.dtype)
