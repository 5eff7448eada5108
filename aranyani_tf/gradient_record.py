"""Gradient norms along the stream, for the paper's convergence figures."""

import numpy as np
import pandas as pd
import tensorflow as tf


class GradientRecord:
    """Collects the norms of every step.

    The compiled loop cannot append to a Python list, so it leaves a chunk's norms in a buffer, and
    `keep` takes them out when the chunk is done.
    """

    def __init__(self):
        self.names, self.rows, self.buffer = [], [], None

    def prepare(self, num_steps, weight_names, dtype):
        """Makes a buffer for chunks of so many steps."""
        self.names = norm_names(weight_names)
        shape = (num_steps, len(self.names))
        if self.buffer is None or self.buffer.shape != shape:
            self.buffer = tf.Variable(tf.zeros(shape, dtype), trainable=False)
            self.used = tf.Variable(0, trainable=False)

    def write(self, norms, num_steps):
        self.buffer.assign(norms)
        self.used.assign(num_steps)

    def keep(self):
        self.rows.append(self.buffer.numpy()[: int(self.used.numpy())])

    def frame(self):
        """One row a step: `step` from 1, then the norm of each gradient."""
        rows = np.concatenate(self.rows) if self.rows else np.zeros((0, len(self.names)))
        return norm_frame(rows, self.names)


def norm_names(weight_names):
    """In the order in which a step gives the norms."""
    return [f"{part}_{name}" for part in ("task", "fairness", "total") for name in weight_names]


def norm_frame(rows, names):
    frame = pd.DataFrame(rows, columns=names)
    frame.insert(0, "step", np.arange(1, len(frame) + 1))
    return frame
