"""What a model does with one chunk of the stream, as one compiled program: learn, score, take note.

A chunk either is learned as a whole, or changes nothing: if the model diverges on the way, every variable is
put back. How rows are learned is the subclass's affair.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import keras
import tensorflow as tf

from aranyani_tf.errors import DivergedError
from aranyani_tf.evaluation.binary_metrics import checked_metrics, fitting
from aranyani_tf.evaluation.prequential import Latest, Mean
from aranyani_tf.labels import is_informative, is_labelled, missing_label
from aranyani_tf.learning.losses import losses
from aranyani_tf.model.progress import Progress, prequential_metric
from aranyani_tf.model.shared_model import SharedModel


class Programs:
    """What was compiled, by method, and by what else it depends on.

    An object of its own, since TensorFlow would try to export a dict of a model.
    """

    def __init__(self) -> None:
        self.known: dict[tuple, Callable] = {}

    def of(self, method: Callable, variant: tuple, jit_compile: bool, any_shape: bool = False) -> Callable:
        key = (method.__name__, *variant)
        if key not in self.known:
            self.known[key] = tf.function(method, jit_compile=jit_compile, autograph=False,
                                          reduce_retracing=any_shape)
        return self.known[key]


class ChunkModel(SharedModel):
    """Base class of `OnlineModel`: the compiled side of learning, and the metrics.

    A subclass has `learn_rows`, `moving` and `penalty_now`.

    Args:
        num_labels, num_groups: 1 label is regression.
        positive_label: whose equal opportunity is reported.
    """

    def __init__(self, *, num_labels: int, num_groups: int, positive_label: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.num_labels, self.num_groups, self.positive_label = num_labels, num_groups, positive_label
        told = (num_labels, num_groups, positive_label)
        self.prequential, self.progress = prequential_metric(*told), Progress(*told)
        self.task_loss, self.fairness_penalty = Mean("task_loss"), Latest("fairness_penalty")
        self.programs, self.all_known = Programs(), False
        self.has_further_metrics = False  # given to `compile`

    def learn_rows(self, features: tf.Tensor, labels: tf.Tensor, groups: tf.Tensor, num_rows: tf.Tensor,
                   *row_weights: tf.Tensor) -> tf.Tensor:
        """Learns from the first `num_rows` rows in order; returns what was predicted for each before, (row, label).

        `row_weights` is one array, or none if each row weighs 1.
        """
        raise NotImplementedError

    def moving(self) -> list[Any]:
        """Every variable that learning moves."""
        raise NotImplementedError

    def penalty_now(self) -> tf.Tensor:
        """The fairness term as it stands."""
        raise NotImplementedError

    def make_train_function(self, force: bool = False) -> None:
        """As Keras's, but rows are waited for outside the lock: whoever brings them may save or predict meanwhile."""
        if self.train_function is not None and not force:
            return

        def take_then_move(iterator: Iterator[tuple]) -> dict:
            data = self.rows_of(next(iterator))
            self.require_own_state()
            with self.state:
                return self.program(self.train_step)(data)

        self.train_function = take_then_move

    def rows_of(self, element: Any) -> tuple:
        """The chunk that an element of `fit`'s dataset stands for; a subclass may be given less than the rows."""
        return element

    def make_test_function(self, force: bool = False) -> None:
        """As Keras's, by the same programs."""
        if self.test_function is None or force:
            self.test_function = lambda iterator: self.program(self.test_step)(next(iterator))

    def program(self, method: Callable) -> Callable:
        """A method compiled for rows that are complete or not, unless the user wants it eager."""
        if self.run_eagerly:
            return method
        return self.programs.of(method, self.variant(), bool(self.jit_compile))

    def variant(self) -> tuple:
        """What a program depends on beside the shapes of its rows: those that are all complete have a faster one."""
        return (self.all_known,)

    def train_step(self, data: tuple) -> dict:
        inputs, labels, *row_weights = data
        features, groups = inputs["features"], inputs["group"]
        progress, size = self.progress, tf.shape(labels)[0]
        if not self.all_known:
            learned = tf.range(size) < tf.cast(tf.minimum(progress.to_skip, tf.int32.max), tf.int32)
            labels, groups = hidden(learned, labels, groups)
        skipped = tf.minimum(progress.to_skip, tf.cast(size, tf.int64))
        progress.to_skip.assign_sub(skipped)
        progress.epoch_rows.assign_add(tf.cast(size, tf.int64) - skipped)
        self.learn_and_score(features, labels, groups, last_informative_row(labels, groups), *row_weights)
        return self.get_metrics_result()

    def test_step(self, data: tuple) -> dict:
        inputs, labels = data
        self.score(labels, inputs["group"], self(inputs["features"], training=False))
        self.fairness_penalty.update_state(self.penalty_now())
        return self.get_metrics_result()

    def train_on_batch(self, *arguments: Any, **kwargs: Any) -> NoReturn:
        """Not for a stream: a batch of it has groups, and comes with what was said before it was learned."""
        raise NotImplementedError("use predict_then_learn(x, y, a), which learns from rows as they arrive")

    def test_on_batch(self, *arguments: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError("use evaluate({'features': x, 'group': a}, y)")

    def learn_and_score(self, features: tf.Tensor, labels: tf.Tensor, groups: tf.Tensor, num_rows: tf.Tensor,
                        *row_weights: tf.Tensor) -> tf.Tensor:
        """Learns from a chunk, unless the model diverges on the way: then everything is as it was before."""
        progress = self.progress
        outputs, good = self.unless_it_diverges(
            lambda: self.learn_rows(features, labels, groups, num_rows, *row_weights), ~progress.diverged)
        progress.diverged.assign(~good)
        labels, groups = hidden(~good, labels, groups)
        outputs = tf.where(good, outputs, tf.zeros_like(outputs))
        progress.add(labels, groups, *self.score(labels, groups, outputs))
        return outputs

    def unless_it_diverges(self, learn: Callable[[], tf.Tensor],
                           allowed: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """What `learn` gives, and whether all went well; if not, or if it was not allowed, everything is put back."""
        moving = [*self.moving(), *self.fairness_penalty.variables]
        before = [tf.identity(variable.value) for variable in moving]
        outputs = learn()
        # The optimizer's too: an infinite velocity would stop a weight for good, without a word.
        finite = [tf.reduce_all(tf.math.is_finite(variable.value)) for variable in moving
                  if tf.as_dtype(variable.dtype).is_floating]
        good = allowed & tf.reduce_all(tf.math.is_finite(outputs)) & tf.reduce_all(finite)
        for variable, old in zip(moving, before, strict=True):
            variable.assign(tf.where(good, variable.value, old))
        return outputs, good

    def after_chunk(self, told: str = "this chunk") -> None:
        """Looks after a chunk whether it went well; a subclass may keep what it noted."""
        if self.progress.diverged.numpy():
            self.progress.diverged.assign(False)
            raise DivergedError(
                f"the model has diverged in {told}: its answers or weights are no longer numbers. It was left as it "
                f"was before. Try a smaller learning rate (now {float(self.optimizer.learning_rate):g}) or "
                f"{self.other_remedies()}, and features of a moderate size")

    def other_remedies(self) -> str:
        """What may help a model that diverges, beside a smaller learning rate."""
        return "smaller weights"

    def warn(self, at_once: bool) -> None:
        """Tells what the metrics so far show about the stream; in calls of a few rows only now and then."""
        for sentence in self.progress.sentences(at_once):
            warnings.warn(sentence, stacklevel=4)

    def score(self, labels: tf.Tensor, groups: tf.Tensor,
              outputs: tf.Tensor) -> tuple[tuple[tf.Tensor, ...], tf.Tensor, tf.Tensor]:
        """Adds rows to the prequential metrics, and to any metric given to `compile`.

        Gives what they added, their task losses, and which of them have a label.
        """
        increments = self.prequential.increments(labels, groups, outputs)
        task, known = losses(outputs, labels), tf.cast(is_labelled(labels), outputs.dtype)
        self.prequential.absorb(increments)
        self.task_loss.update_state(task, known)
        if self.has_further_metrics:
            self.compute_metrics(None, tf.where(is_labelled(labels), labels, tf.zeros_like(labels)), outputs, known)
        return increments, task, known

    def get_metrics_result(self) -> dict:
        """The metrics so far; the loss is the mean task loss and the penalty as it stands."""
        results = super().get_metrics_result()
        return results | {"loss": results["task_loss"] + results["fairness_penalty"]}

    def so_far(self) -> dict[str, float]:
        """The metrics of all rows that the model has learned from, in all calls, also before it was saved.

        >>> import aranyani_tf as ar
        >>> stream = ar.datasets.load("synthetic", num_rows=100)
        >>> model = ar.Aranyani(num_trees=1, height=2, seed=0)
        >>> said = model.predict_then_learn(stream.features, stream.labels, stream.groups)
        >>> model.so_far()["rows"]
        100
        """
        with self.settled(), self.state:
            return self.progress.results()

    def fitting_metrics(self, metrics: Sequence[str | keras.metrics.Metric] | None) -> list:
        return [fitting(metric, self.num_labels, self.positive_label) for metric in checked_metrics(metrics)]


def hidden(where: tf.Tensor, labels: tf.Tensor, groups: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Labels and groups, missing where they are not to be seen."""
    return tf.where(where, tf.constant(missing_label(labels), labels.dtype), labels), tf.where(where, -1, groups)


def last_informative_row(labels: tf.Tensor, groups: tf.Tensor) -> tf.Tensor:
    """How many rows there are before the padding begins."""
    return tf.reduce_max(tf.where(is_informative(labels, groups), tf.range(1, tf.shape(labels)[0] + 1), 0))
