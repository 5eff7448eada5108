"""What a model remembers of its own stream: how it did so far, and how far `fit` has come.

Keras's metrics begin anew with every epoch, and with every `evaluate`. These do not: they go on from call to
call, and are saved with the model. They are no Keras weights, so that copying weights does not copy a past.
"""

from collections.abc import Callable, Mapping

import keras
import numpy as np
import tensorflow as tf

from aranyani_tf.evaluation.prequential import Mean, Prequential, RegressionPrequential
from aranyani_tf.evaluation.row_tallies import Scored
from aranyani_tf.evaluation.sentences import FEW, told_signs, told_small_groups
from aranyani_tf.labels import is_informative


def prequential_metric(num_labels: int, num_groups: int,
                       positive_label: int) -> Prequential | RegressionPrequential:
    if num_labels == 1:
        return RegressionPrequential(num_groups)
    return Prequential(num_labels, num_groups, positive_label)


class Progress:
    """Metrics of all rows that were learned, and the place in the epoch under way.

    Args:
        num_labels, num_groups, positive_label: those of the model.
    """

    def __init__(self, num_labels: int, num_groups: int, positive_label: int) -> None:
        self.prequential = prequential_metric(num_labels, num_groups, positive_label)
        self.task_loss = Mean("task_loss")
        integer = {"dtype": tf.int64, "trainable": False}
        self.num_rows = tf.Variable(0, **integer)  # that were learned from, all in all
        self.epoch_rows = tf.Variable(0, **integer)  # of the epoch that `fit` is in
        self.to_skip = tf.Variable(0, **integer)  # rows at the head of the epoch that a restored model has learned
        self.diverged = tf.Variable(False, trainable=False)
        self.saved = {f"{part.name}_{index}": variable for part in (self.prequential, self.task_loss)
                      for index, variable in enumerate(part.variables)}
        self.is_classifier, self.knows_label_0 = num_labels > 1, False
        self.next_look = 10 * FEW
        self.told: set[str] = set()
        self.saved |= {"num_rows": self.num_rows, "epoch_rows": self.epoch_rows}

    def add(self, labels: tf.Tensor, groups: tf.Tensor, increments: tuple[tf.Tensor, ...], losses: tf.Tensor,
            known: tf.Tensor) -> None:
        """Takes note of rows that were learned, by what they add to the metrics."""
        self.prequential.absorb(increments)
        self.task_loss.update_state(losses, known)
        self.num_rows.assign_add(tf.reduce_sum(tf.cast(is_informative(labels, groups), tf.int64)))

    def add_scored(self, scored: Scored) -> None:
        """The same of arrays."""
        self.prequential.absorb(scored.increments)
        self.task_loss.absorb((scored.loss, float(scored.num_labelled)))
        self.num_rows.assign_add(scored.num_informative)

    def results(self) -> dict[str, float]:
        """The metrics so far as plain numbers; NaN for those that cannot be known yet."""
        found = {"rows": int(self.num_rows.numpy()), "task_loss": float(self.task_loss.result())}
        return found | {name: float(value) for name, value in self.prequential.result().items()}

    def has_seen_label_0(self) -> bool:
        """Whether rows with label 0 were learned from; a regression has no such label."""
        if not self.knows_label_0 and self.is_classifier:
            self.knows_label_0 = bool(self.prequential.counts.numpy()[0].any())
        return self.knows_label_0

    def sentences(self, at_once: bool) -> list[str]:
        """What users should know of their stream, each sentence once; looked for at once, or ever more seldom."""
        num_rows = int(self.num_rows.numpy())
        if not self.is_classifier or not (at_once or num_rows >= self.next_look):
            return []
        self.next_look = max(2 * num_rows, self.next_look)
        counts = self.prequential.counts.numpy()
        found = {"groups": told_small_groups(counts), "labels": told_signs(counts)}
        new = {name: sentence for name, sentence in found.items() if sentence and name not in self.told}
        self.told |= set(new)
        return list(new.values())

    def store(self) -> dict[str, np.ndarray]:
        return {name: variable.numpy() for name, variable in self.saved.items()}

    def load(self, values: Mapping[str, np.ndarray]) -> None:
        """What `store` gave; a file of an earlier version may have none of it."""
        for name, variable in self.saved.items():
            if name in values:
                variable.assign(values[name])


class FitProgress(keras.callbacks.Callback):
    """Follows `fit` from chunk to chunk: rows that a restored model knows already, norms, divergence.

    Args:
        after_chunk: called with what to call the chunk.
        on_restored: called if a backup was restored in the middle of an epoch.
    """

    def __init__(self, progress: Progress, after_chunk: Callable[[str], None],
                 on_restored: Callable[[], None]) -> None:
        super().__init__()
        self.progress, self.after_chunk, self.on_restored = progress, after_chunk, on_restored
        self.begun = False

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        # Zero when `fit` begins, so whatever is there now came with a backup that a callback restored.
        learned = 0 if self.begun else int(self.progress.epoch_rows.numpy())
        self.begun = True
        self.progress.to_skip.assign(learned)
        if learned:
            self.on_restored()

    def on_train_batch_end(self, batch: int, logs: dict | None = None) -> None:
        self.after_chunk(f"chunk {batch:,}")

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        self.progress.epoch_rows.assign(0)
