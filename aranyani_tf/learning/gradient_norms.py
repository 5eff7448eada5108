"""Gradient norms along the stream, for the paper's convergence figures."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import tensorflow as tf


class GradientRecord:
    """Collects the norms of every step.

    The compiled loop cannot append to a Python list, so it leaves a chunk's norms in a buffer, and
    `keep` takes them out when the chunk is done. Chunks of every size have a buffer of their own.
    """

    def __init__(self, weight_names: Sequence[str] = (), dtype: str = "float32",
                 samples_per_step: int = 1) -> None:
        self.names, self.dtype, self.samples_per_step = norm_names(weight_names), dtype, samples_per_step
        self.rows: list[np.ndarray] = []  # norms
        self.steps: list[np.ndarray] = []  # how many samples were seen after each step
        self.num_samples = 0
        # Rows of a chunk → norms, how many rows count.
        self.buffers: dict[int, tuple[tf.Variable, tf.Variable]] = {}

    def prepare(self, chunk_size: int) -> None:
        """Makes sure of a buffer for chunks of so many rows, before a program is compiled for them."""
        if chunk_size not in self.buffers:
            norms = tf.zeros((chunk_size // self.samples_per_step, len(self.names)), self.dtype)
            self.buffers[chunk_size] = tf.Variable(norms, trainable=False), tf.Variable(0, trainable=False)

    def write(self, norms: tf.Tensor, num_samples: tf.Tensor, chunk_size: int) -> None:
        buffer, used = self.buffers[chunk_size]
        buffer.assign(norms)
        used.assign(num_samples)

    def keep(self, chunk_size: int) -> None:
        buffer, used = self.buffers[chunk_size]
        num_samples = int(used.numpy())
        self.add(buffer.numpy()[: len(step_ends(num_samples, self.samples_per_step))], num_samples)

    def add(self, norms: np.ndarray, num_samples: int, ends: np.ndarray | None = None) -> None:
        """Norms that come as an array, (step, norm); `ends` is where steps end, if not after every so many samples."""
        self.rows.append(norms)
        self.steps.append(self.num_samples + (step_ends(num_samples, self.samples_per_step) if ends is None else ends))
        self.num_samples += num_samples

    def frame(self) -> pd.DataFrame:
        """One row a step: `step`, how many samples were seen after it, then the norm of each gradient."""
        if not self.rows:
            return norm_frame(np.zeros((0, len(self.names))), np.zeros(0, int), self.names)
        return norm_frame(np.concatenate(self.rows), np.concatenate(self.steps), self.names)


def step_ends(num_samples: int, samples_per_step: int) -> np.ndarray:
    """Where each step over so many samples ends; the last one may be short.

    >>> step_ends(25, 10).tolist()
    [10, 20, 25]
    """
    count = -(-num_samples // samples_per_step)
    return np.minimum(np.arange(1, count + 1) * samples_per_step, num_samples)


def norm_names(weight_names: Sequence[str]) -> list[str]:
    """In the order in which a step gives the norms."""
    return [f"{part}_{name}" for part in ("task", "fairness", "total") for name in weight_names]


def norm_frame(rows: np.ndarray, steps: np.ndarray, names: Sequence[str]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=names)
    frame.insert(0, "step", steps)
    return frame
