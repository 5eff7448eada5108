"""Aranyani as a Keras model: Equation 5 and Algorithm 1 of the paper.

A Keras "batch" is a chunk of the stream, and `train_step` walks it sample by sample inside one
compiled loop: predict, score, then learn. So `model.fit` is the online learner.
"""

from types import SimpleNamespace

import keras
import numpy as np
import tensorflow as tf

from aranyani_tf import constraints, notions, penalties
from aranyani_tf.forest import ObliqueForest, get_activation, require_choice, require_whole
from aranyani_tf.gradient_record import GradientRecord
from aranyani_tf.learners import ForestLearner, KerasLearner, is_labelled
from aranyani_tf.metrics import Prequential, RegressionPrequential
from aranyani_tf.online import ON_BAD_ROWS, OnlineModel
from aranyani_tf.statistics import CellStatistics
from aranyani_tf.step import Step, missing_label


@keras.saving.register_keras_serializable("aranyani_tf")
class Aranyani(OnlineModel):
    """A fair oblique forest that learns from a stream.

    Args:
        num_labels: number of labels; 1 is regression with squared error.
        num_trees, height: of the forest.
        fairness_weight: λ. It may be changed at any time, `model.fairness_weight = 0.3`.
        notion: "demographic_parity", "equal_opportunity", "equalized_odds",
            "representation_parity", or an object of a `Notion` subclass.
        constraint: "node" (the paper's method), "leaf" or "output". None is "node", or "output"
            where nothing else is possible (a predictor, representation parity).
        penalty: an object such as `Huber(delta=0.01)` or `L2()`, or "huber", "l2".
        num_groups: number of groups.
        activation, routing: of the forest, see `ObliqueForest`.
        predictor: a Keras model that gives probabilities, in the forest's place.
        encoder: a Keras model or layer in front of the forest; it learns from the task alone.
        samples_per_step: how many samples share one update.
        online: False takes the group means over each step's samples alone (Section 3.2).
        update_when: "always", or "predicted_positive": the label and the group of a sample
            are revealed only where label 1 was predicted.
        wait_for_all_groups: hold back updates until every group was seen (for λ > 0), as the
            authors' released code does.
        decay: forgetting rate of the running means, e.g. 0.01; None is the plain mean.
        record_gradients: keep the norms of the gradients in `model.gradient_norms`.
        on_bad_rows: "raise" or "skip".
        seed: of the initial weights.

    >>> import aranyani_tf as ar
    >>> stream = ar.datasets.load("synthetic", num_rows=2000, seed=0)
    >>> model = ar.Aranyani(fairness_weight=0.1, seed=0)
    >>> history = model.fit(stream.chunks(1000), verbose=0)
    >>> sorted(history.history)  # doctest: +NORMALIZE_WHITESPACE
    ['accuracy', 'demographic_parity', 'equal_opportunity', 'equalized_odds', 'fairness_penalty',
     'loss', 'soft_demographic_parity', 'task_loss']
    """

    def __init__(self, num_labels=2, num_trees=3, height=4, *, fairness_weight=0.1,
                 notion="demographic_parity", constraint=None, penalty=None, num_groups=2,
                 activation="sigmoid", routing="levels", predictor=None, encoder=None,
                 samples_per_step=1, online=True, update_when="always", wait_for_all_groups=False,
                 decay=None, record_gradients=False, on_bad_rows="raise", seed=None, **kwargs):
        super().__init__(**kwargs)
        require_whole("num_labels", num_labels, 1)
        require_whole("num_groups", num_groups, 2)
        require_whole("samples_per_step", samples_per_step, 1)
        require_choice("update_when", update_when, ("always", "predicted_positive"))
        require_choice("on_bad_rows", on_bad_rows, ON_BAD_ROWS)
        if decay is not None and not 0 < decay < 1:
            raise ValueError(f"decay must be between 0 and 1, or None; got {decay!r}")
        if predictor is not None and encoder is not None:
            raise ValueError("give predictor=keras.Sequential([encoder, predictor]) instead of both")
        if update_when == "predicted_positive" and num_labels == 1:
            raise ValueError("update_when='predicted_positive' needs labels; num_labels=1 is regression")
        self.num_labels, self.num_trees, self.height = num_labels, num_trees, height
        self.notion, self.penalty = notions.get(notion), penalties.get(penalty)
        only_output = predictor is not None or self.notion.compares_loss
        self.level = constraint or ("output" if only_output else "node")
        require_choice("constraint", self.level, constraints.LEVELS)
        if only_output and self.level != "output":
            reason = "a predictor" if predictor is not None else type(self.notion).__name__
            raise ValueError(f"{reason} goes with constraint='output', got {constraint!r}")
        self.num_groups, self.seed = num_groups, seed
        self.predictor, self.encoder = predictor, encoder
        self.samples_per_step, self.online = samples_per_step, online
        self.update_when, self.wait_for_all_groups, self.decay = update_when, wait_for_all_groups, decay
        self.record_gradients, self.on_bad_rows = record_gradients, on_bad_rows
        self.forest = None if predictor is not None else ObliqueForest(
            num_trees, height, num_labels, activation, routing, seed, name="forest",
            dtype=self.dtype_policy)
        self.activation, self.routing = get_activation(activation), routing
        regression = num_labels == 1
        self.prequential = (RegressionPrequential(num_groups) if regression
                            else Prequential(num_labels, num_groups))
        self.task_loss = keras.metrics.Mean("task_loss")
        self.fairness_penalty = keras.metrics.Mean("fairness_penalty")
        # What Keras should neither save nor count as weights.
        self.loop = SimpleNamespace(
            fairness_weight=tf.Variable(0.0, dtype=self.compute_dtype, trainable=False),
            all_known=False, learner=None, constraint=None, learn_functions={}, train_functions={})
        self.gradient_record = GradientRecord()
        self.fairness_weight = fairness_weight

    @property
    def fairness_weight(self):
        """λ; changing it does not compile anything again."""
        return float(self.loop.fairness_weight.numpy())

    @fairness_weight.setter
    def fairness_weight(self, value):
        if not (np.isfinite(value) and value >= 0):
            raise ValueError(f"fairness_weight must be a finite number of at least 0, got {value!r}")
        self.loop.fairness_weight.assign(value)

    def build(self, input_shape):
        if self.built:
            return
        if isinstance(input_shape, dict):
            input_shape = input_shape["features"]
        self.num_features = width = int(input_shape[-1])
        if self.encoder is not None:
            if not self.encoder.built:
                self.encoder.build((None, width))
            width = int(self.encoder.compute_output_shape((None, width))[-1])
        if self.forest is not None:
            self.forest.build((None, width))
            self.loop.learner = ForestLearner(self.forest, self.encoder)
        else:
            if not self.predictor.built:
                self.predictor.build((None, width))
            self.loop.learner = KerasLearner(self.predictor)
        self.loop.constraint = constraints.get(
            self.level, self.loop.learner, num_features=width, num_labels=self.num_labels,
            notion=self.notion)
        self.statistics = CellStatistics(
            self.notion.num_cells(self.num_labels, self.num_groups), self.num_groups,
            self.loop.constraint, name="statistics", dtype=self.dtype_policy)
        self.statistics.build()
        self.gradient_record.names = self.make_step().norm_names()
        self.built = True
        if self.compiled:
            self.optimizer.build(self.loop.learner.variables)

    def compile(self, optimizer=None, *, jit_compile=True, loss=None, metrics=None,
                weighted_metrics=None, **kwargs):
        """As Keras's; the default is Adam(2e-3), compiled by XLA. The loss is the model's own."""
        if loss is not None:
            raise ValueError("the loss is cross-entropy (squared error for num_labels=1); leave it out")
        # Rows without a label have weight 0, so that every metric must be a weighted one.
        super().compile(optimizer=keras.optimizers.Adam(2e-3) if optimizer is None else optimizer,
                        jit_compile=jit_compile,
                        weighted_metrics=[*(metrics or []), *(weighted_metrics or [])] or None, **kwargs)
        self.loop.learn_functions, self.loop.train_functions = {}, {}
        if self.built:
            self.optimizer.build(self.loop.learner.variables)

    def compile_from_config(self, config):
        self.compile(**keras.saving.deserialize_keras_object(config))

    def call(self, inputs, training=False):
        """Probabilities (batch, label); `inputs` may be plain features or {"features", "group"}."""
        features = inputs["features"] if isinstance(inputs, dict) else inputs
        if self.predictor is not None:
            return self.predictor(features, training=training)
        if self.encoder is not None:
            features = self.encoder(features, training=training)
        return self.forest(features)

    def make_step(self):
        return Step(
            learner=self.loop.learner, constraint=self.loop.constraint, notion=self.notion,
            penalty=self.penalty, num_labels=self.num_labels, num_groups=self.num_groups,
            online=self.online, update_when=self.update_when,
            wait_for_all_groups=self.wait_for_all_groups, decay=self.decay,
            record_gradients=self.record_gradients, all_known=self.loop.all_known)

    def learn_rows(self, features, labels, groups, num_rows):
        """Walks the first `num_rows` rows, a step at a time; returns the predictions (row, label)."""
        step, k = self.make_step(), self.samples_per_step
        learner = step.learner
        inputs, labels, groups = (
            in_steps(array, k, filler)
            for array, filler in ((learner.prepare(features), 0), (labels, missing_label(labels)), (groups, -1)))
        num_steps = (num_rows + k - 1) // k
        size = tf.shape(labels)[0]

        def body(index, memory, outputs, records):
            outcome = step(
                [variable.value for variable in learner.variables],
                [variable.value for variable in learner.state], memory, self.loop.fairness_weight,
                *(tf.gather(array, index) for array in (inputs, labels, groups)))
            self.move(learner.variables, outcome.gradients, outcome.update)
            for variable, value in zip(learner.state, outcome.state, strict=True):
                variable.assign(value)
            record = tf.concat([[outcome.task_loss, outcome.penalty], outcome.norms], axis=0)
            return (index + 1, outcome.memory, outputs.write(index, outcome.outputs),
                    records.write(index, record))

        learner.load()
        num_records = 2 + self.record_gradients * 2 * len(learner.names)
        _, memory, outputs, records = tf.while_loop(
            lambda index, *_: index < num_steps, body,
            (tf.constant(0), self.statistics.read(),
             tf.TensorArray(inputs.dtype, size, element_shape=(k, self.num_labels)),
             tf.TensorArray(inputs.dtype, size, element_shape=(num_records,))))
        learner.store()
        self.statistics.write(memory)
        self.report(records.stack(), labels, num_steps)
        return tf.reshape(outputs.stack(), (-1, self.num_labels))

    def move(self, variables, gradients, update):
        """The optimizer's step, undone where there should be none."""
        if tf.get_static_value(update):
            self.optimizer.apply(gradients, variables)
            return
        touched = [*variables, *self.optimizer.variables]
        before = [tf.identity(variable.value) for variable in touched]
        self.optimizer.apply(gradients, variables)
        for variable, old in zip(touched, before, strict=True):
            variable.assign(tf.where(update, variable.value, old))

    def report(self, records, labels, num_steps):
        """Adds a chunk's losses to the metrics; `records` is (step, record)."""
        num_labelled = tf.reduce_sum(tf.cast(is_labelled(labels), records.dtype))
        steps = tf.cast(num_steps, records.dtype)
        task_loss, penalty = tf.reduce_sum(records[:, 0]), tf.reduce_sum(records[:, 1])
        self.task_loss.update_state(tf.math.divide_no_nan(task_loss, num_labelled), num_labelled)
        self.fairness_penalty.update_state(tf.math.divide_no_nan(penalty, steps), steps)
        if self.record_gradients:
            self.gradient_record.write(records[:, 2:], num_steps)

    def get_metrics_result(self):
        results = super().get_metrics_result()
        return results | {"loss": results["task_loss"] + results["fairness_penalty"]}

    @property
    def gradient_norms(self):
        """Norms of the gradients, one row a step (`record_gradients=True`), as a DataFrame."""
        return self.gradient_record.frame()

    def set_all_known(self, all_known):
        """Tells the loop whether labels or groups may be missing, which costs it a little."""
        if self.loop.all_known != all_known:
            kept = self.loop.train_functions
            kept[self.loop.all_known], self.loop.all_known = self.train_function, all_known
            self.train_function = kept.get(all_known)

    def get_config(self):
        names = ("num_labels", "num_trees", "height", "fairness_weight", "num_groups", "routing",
                 "samples_per_step", "online", "update_when", "wait_for_all_groups", "decay",
                 "record_gradients", "on_bad_rows", "seed")
        parts = {name: keras.saving.serialize_keras_object(getattr(self, name))
                 for name in ("notion", "penalty", "predictor", "encoder")}
        return super().get_config() | {name: getattr(self, name) for name in names} | parts | {
            "constraint": self.level, "activation": keras.activations.serialize(self.activation)}

    @classmethod
    def from_config(cls, config):
        parts = {name: keras.saving.deserialize_keras_object(config[name])
                 for name in ("notion", "penalty", "predictor", "encoder")}
        return cls(**(config | parts))

    def get_build_config(self):
        return {"input_shape": (None, self.num_features)} if self.built else None


def in_steps(array, samples_per_step, filler):
    """(row, …) → (step, sample, …), filled up to a whole number of steps."""
    if samples_per_step > 1:
        missing = -tf.shape(array)[0] % samples_per_step
        array = tf.pad(array, [[0, missing]] + [[0, 0]] * (array.shape.rank - 1), constant_values=filler)
    return tf.reshape(array, (-1, samples_per_step, *array.shape[1:]))
