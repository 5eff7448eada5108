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
        self.names, self.dtype = norm_names(weight_names), dtype
        self.rows, self.steps = [], []  # norms, and the number of samples seen after each step
        self.num_samples = 0
        self.buffers = {}  # steps of a chunk → their norms; how many samples they are of, and how many share a step
        self.current = None  # the buffer of the chunk under way

    def prepare(self, num_steps):
        """Makes sure of a buffer for chunks of so many steps: a compiled function has that of its own size."""
        if num_steps not in self.buffers:
            norms = tf.zeros((num_steps, len(self.names)), self.dtype)
            self.buffers[num_steps] = tf.Variable(norms, trainable=False), tf.Variable([0, 1], trainable=False)
        self.current = self.buffers[num_steps]

    def write(self, norms, num_samples, samples_per_step):
        buffer, used = self.current
        buffer.assign(norms)
        used.assign([num_samples, samples_per_step])

    def keep(self):
        buffer, used = self.current
        ends = step_ends(*map(int, used.numpy()))
        self.rows.append(buffer.numpy()[: len(ends)])
        self.steps.append(self.num_samples + ends)
        self.num_samples += int(used.numpy()[0])

    def frame(self):
        """One row a step: `step`, how many samples were seen after it, then the norm of each gradient."""
        if not self.rows:
            return norm_frame(np.zeros((0, len(self.names))), np.zeros(0, int), self.names)
        return norm_frame(np.concatenate(self.rows), np.concatenate(self.steps), self.names)


def step_ends(num_samples, samples_per_step):
    """Where each step over so many samples ends; the last one may be short.

    >>> step_ends(25, 10).tolist()
    [10, 20, 25]
    """
    count = -(-num_samples // samples_per_step)
    return np.minimum(np.arange(1, count + 1) * samples_per_step, num_samples)


def norm_names(weight_names):
    """In the order in which a step gives the norms."""
    return [f"{part}_{name}" for part in ("task", "fairness", "total") for name in weight_names]


def norm_frame(rows, steps, names):
    frame = pd.DataFrame(rows, columns=names)
    frame.insert(0, "step", steps)
    return frame
