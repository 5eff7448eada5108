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


def unit_of_moments(moments: np.ndarray) -> tuple[float, float]:
    """(center, spread) as they stand."""
    spread = np.sqrt(max(moments[2], 0.0) / max(moments[0], 1.0))
    return float(moments[1]), float(spread) if spread > 0 else 1.0
