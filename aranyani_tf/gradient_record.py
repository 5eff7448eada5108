"""Gradient norms along the stream, for the paper's convergence figures."""

import numpy as np
import pandas as pd
import tensorflow as tf


class GradientRecord:
    """Collects the norms of every step.

    The compiled loop cannot append to a Python list, so it leaves a chunk's norms in a buffer, and
    `keep` takes them out when the chunk is done.
    """

    def __init__(self, weight_names=(), dtype="float32"):
        self.names, self.dtype, self.rows = norm_names(weight_names), dtype, []
        self.buffers = {}  # steps of a chunk → their norms, and how many of them are used
        self.current = None  # the buffer of the chunk under way

    def prepare(self, num_steps):
        """Makes sure of a buffer for chunks of so many steps: a compiled function has that of its own size."""
        if num_steps not in self.buffers:
            norms = tf.zeros((num_steps, len(self.names)), self.dtype)
            self.buffers[num_steps] = tf.Variable(norms, trainable=False), tf.Variable(0, trainable=False)
        self.current = self.buffers[num_steps]

    def write(self, norms, num_steps):
        buffer, used = self.current
        buffer.assign(norms)
        used.assign(num_steps)

    def keep(self):
        buffer, used = self.current
        self.rows.append(buffer.numpy()[: int(used.numpy())])

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
