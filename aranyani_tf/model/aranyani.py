"""Aranyani as a Keras model: Equation 5 and Algorithm 1 of the paper.

A Keras "batch" is a chunk of the stream, and `train_step` walks it sample by sample inside one
compiled loop: predict, score, then learn. So `model.fit` is the online learner.
"""

import keras
import tensorflow as tf

from aranyani_tf.arguments import require_fairness_weight
from aranyani_tf.errors import ArgumentError
from aranyani_tf.evaluation.prequential import Latest, Mean
from aranyani_tf.fairness import constraints, notions, penalties
from aranyani_tf.fairness.statistics import CellStatistics
from aranyani_tf.forest.oblique_forest import ObliqueForest, get_activation
from aranyani_tf.learning.chunk_walk import TrainingLoop
from aranyani_tf.learning.forest_learner import ForestLearner
from aranyani_tf.learning.gradient_norms import GradientRecord
from aranyani_tf.learning.keras_learner import KerasLearner, output_width
from aranyani_tf.learning.step import Step
from aranyani_tf.model.online_model import OnlineModel
from aranyani_tf.model.progress import Progress, prequential_metric
from aranyani_tf.model.settings import FOREST, require_settings, with_training
from aranyani_tf.model.target_scale import TargetScale, in_unit
from aranyani_tf.streams.row_rules import require_width


@keras.saving.register_keras_serializable("aranyani_tf")
class Aranyani(OnlineModel):
    """A fair oblique forest that learns from a stream.

    Args:
        num_labels: number of labels; 1 is regression with squared error.
        num_trees, height: of the forest.
        fairness_weight: λ. It may be changed at any time, `model.fairness_weight = 30`. How much it takes
            depends on the penalty: with the paper's, which is the default, 10 to 1000; with
            `Huber(linear_slope=1.0)` 0.1 to 10. On Adult the default takes the gap from 0.19 to 0.12, for 0.7
            points of accuracy.
        notion: "demographic_parity", "equal_opportunity", "equalized_odds",
            "representation_parity", or an object of a `Notion` subclass.
        constraint: "node" (the paper's method), "leaf" or "output". None is "node", or "output"
            where nothing else is possible (a predictor, representation parity). "summed_output" is a
            slip of the authors' released baselines, whose fairness gradient is zero.
        penalty: an object such as `Huber(delta=0.01)` or `L2()`, or "huber", "l2".
        num_groups: number of groups.
        activation, routing: of the forest, see `ObliqueForest`.
        predictor: a Keras model that gives probabilities, in the forest's place.
        encoder: a Keras model or layer in front of the forest; it learns from the task alone. Neither
            should normalise a batch: a step has one sample.
        samples_per_step: how many samples share one update.
        online: False takes the group means over each step's samples alone (Section 3.2), of which there
            must be some.
        update_when: "always", or "predicted_positive": the label and the group of a sample
            are revealed only where label 1 was predicted.
        wait_for_all_groups: hold back updates until every group was seen (for λ > 0), as the
            authors' released code does.
        decay: forgetting rate of the running means, e.g. 0.001; None is the plain mean.
        forget: "rows": a cell forgets with each of its own samples, so that a small group's mean covers a
            longer past than a large one's; "time": all cells forget with every sample.
        chance: how many standard errors of a gap count as chance: it is that much shorter before the penalty
            sees it, and a group of a few samples moves nothing. 0.0 is the paper's rule; 2.0 is a good choice.
        scale_target: for regression: learns the target's mean and deviation along the stream, so that any unit will
            do; predictions are in that unit.
        record_gradients: keep the norms of the gradients in `model.gradient_norms`.
        on_bad_rows: "raise" or "skip".
        seed: of the initial weights.

    >>> import aranyani_tf as ar
    >>> stream = ar.datasets.load("synthetic", num_rows=2000, seed=0)
    >>> model = ar.Aranyani(seed=0)
    >>> history = model.fit(stream.chunks(1000), verbose=0)
    >>> sorted(history.history)
    ['accuracy', 'demographic_parity', 'equal_opportunity', 'equalized_odds', 'fairness_penalty',
     'loss', 'recent_accuracy', 'recent_demographic_parity', 'soft_demographic_parity', 'task_loss']
    """

    step_class = Step

    def __init__(self, num_labels=2, num_trees=3, height=4, *, fairness_weight=10.0,
                 notion="demographic_parity", constraint=None, penalty=None, num_groups=2,
                 activation="sigmoid", routing="levels", predictor=None, encoder=None,
                 samples_per_step=1, online=True, update_when="always", wait_for_all_groups=False,
                 decay=None, forget="rows", chance=0.0, scale_target=True, record_gradients=False,
                 on_bad_rows="raise", seed=None, **kwargs):
        require_settings(
            num_labels=num_labels, num_groups=num_groups, samples_per_step=samples_per_step, online=online,
            update_when=update_when, wait_for_all_groups=wait_for_all_groups, decay=decay, forget=forget,
            chance=chance, scale_target=scale_target, record_gradients=record_gradients, on_bad_rows=on_bad_rows,
            seed=seed, constraint=constraint, predictor=predictor, encoder=encoder, further=kwargs,
            forest={"num_trees": num_trees, "height": height, "activation": activation, "routing": routing})
        super().__init__(**kwargs)
        if self.compute_dtype != self.variable_dtype:
            raise ArgumentError(f"mixed precision ({self.dtype_policy.name}) is not possible; use float32 or float64")
        self.num_labels, self.num_trees, self.height = num_labels, num_trees, height
        self.notion, self.penalty = notions.get(notion), penalties.get(penalty)
        self.notion.check(num_labels)
        only_output = predictor is not None or self.notion.compares_loss
        self.level = constraint or ("output" if only_output else "node")
        if only_output and not self.level.endswith("output"):
            reason = "a predictor" if predictor is not None else type(self.notion).__name__
            raise ArgumentError(f"{reason} goes with constraint='output', got {constraint!r}")
        self.num_groups, self.seed = num_groups, seed
        self.predictor, self.encoder = with_training(predictor), with_training(encoder)
        self.checked_probabilities = self.predictor is None or num_labels == 1
        self.scale_target, self.target_scale = scale_target, None
        self.samples_per_step, self.online = samples_per_step, online
        self.update_when, self.wait_for_all_groups = update_when, wait_for_all_groups
        self.decay, self.forget, self.chance = decay, forget, chance
        self.record_gradients, self.on_bad_rows = record_gradients, on_bad_rows
        self.forest = None if predictor is not None else ObliqueForest(
            num_trees, height, num_labels, activation, routing, seed, name="forest",
            dtype=self.dtype_policy)
        self.activation, self.routing = get_activation(activation), routing
        told = (num_labels, num_groups, self.notion.positive_label)
        self.prequential, self.progress = prequential_metric(*told), Progress(*told)
        self.task_loss = Mean("task_loss")
        self.fairness_penalty = Latest("fairness_penalty")
        # Not a Keras weight, so that copying weights between models does not copy λ.
        self._fairness_weight = tf.Variable(0.0, dtype=self.compute_dtype, trainable=False)
        self.fairness_weight = fairness_weight

    @property
    def fairness_weight(self):
        """λ; changing it does not compile anything again."""
        return self._fairness_weight_set

    @fairness_weight.setter
    def fairness_weight(self, value):
        require_fairness_weight(value, self.compute_dtype)
        self._fairness_weight_set = float(value)
        self._fairness_weight.assign(value)

    @property
    def positive_label(self):
        """Whose equal opportunity is reported."""
        return self.notion.positive_label

    def build(self, input_shape):
        if self.built:
            return
        shape = input_shape["features"] if isinstance(input_shape, dict) else input_shape
        self.num_features = int(shape[-1])
        with tf.init_scope():  # the first call may be `predict`, which is compiled
            self.build_parts()
            if self.compiled:
                self.optimizer.build(self.learner.variables)
        self.built = True

    def build_parts(self):
        if self.forest is None:
            output_width("predictor", self.predictor, self.num_features, self.compute_dtype, self.num_labels)
            self.learner, width = KerasLearner(self.predictor), self.num_features
        else:
            width = self.num_features if self.encoder is None else output_width(
                "encoder", self.encoder, self.num_features, self.compute_dtype)
            self.forest.build((None, width))
            self.learner = ForestLearner(self.forest, self.encoder)
        self.statistics = CellStatistics(
            self.notion.num_cells(self.num_labels, self.num_groups), self.num_groups, self.make_constraint(width),
            keep_squares=self.chance > 0, name="statistics", dtype=self.dtype_policy)
        self.statistics.build()
        if self.num_labels == 1 and self.scale_target:
            self.target_scale = TargetScale(name="target_scale")
            self.target_scale.build()
        self.gradient_record = GradientRecord(self.learner.names, self.compute_dtype)

    def make_constraint(self, num_features):
        """What is averaged; a subclass may keep something else."""
        return constraints.get(
            self.level, self.learner, num_features=num_features, num_labels=self.num_labels, notion=self.notion)

    def compile(self, optimizer=None, *, jit_compile=True, loss=None, metrics=None,
                weighted_metrics=None, **kwargs):
        """As Keras's; the default is Adam(2e-3), compiled by XLA. The loss is the model's own."""
        if loss is not None:
            raise ArgumentError("the loss is cross-entropy (squared error for num_labels=1); leave it out")
        if kwargs.get("steps_per_execution", 1) != 1:
            raise ArgumentError("steps_per_execution has no use here: a chunk, thousands of samples, is one execution "
                                "already; take larger chunks, stream.chunks(16_384)")
        optimizer = keras.optimizers.get(keras.optimizers.Adam(2e-3) if optimizer is None else optimizer)
        if optimizer.use_ema:
            raise ArgumentError("use_ema=True is not possible: the optimizer sees the forest's weights packed as one")
        # Rows without a label have weight 0, so that every metric must be a weighted one.
        super().compile(optimizer=optimizer, jit_compile=jit_compile and not kwargs.get("run_eagerly"),
                        weighted_metrics=self.fitting_metrics([*(metrics or []), *(weighted_metrics or [])]) or None,
                        **kwargs)
        self.forget_functions()
        self.seal = None  # another optimizer than that of a loaded file
        if self.built:
            self.learner.gather()
            self.optimizer.build(self.learner.variables)

    def compile_from_config(self, config):
        self.compile(**keras.saving.deserialize_keras_object(config))

    def call(self, inputs, training=False):
        """Probabilities (batch, label); `inputs` may be plain features or {"features", "group"}."""
        features = tf.convert_to_tensor(inputs["features"] if isinstance(inputs, dict) else inputs)
        require_width(features.shape, self.num_features)
        if self.encoder is not None:
            features = self.encoder(features, training=training)
        outputs = (self.forest(features) if self.predictor is None
                   else self.predictor(features, training=training))
        return outputs if self.target_scale is None else self.target_scale(outputs)

    @property
    def step(self):
        """Algorithm 1 with this model's settings, as a pure function."""
        return self.step_class(
            learner=self.learner, constraint=self.statistics.constraint, notion=self.notion,
            penalty=self.penalty, num_labels=self.num_labels, num_groups=self.num_groups,
            online=self.online, update_when=self.update_when,
            wait_for_all_groups=self.wait_for_all_groups, decay=self.decay, forget=self.forget,
            chance=self.chance, record_gradients=self.record_gradients, all_known=self.functions.all_known)

    def learn_rows(self, features, labels, groups, num_rows):
        """Walks the first `num_rows` rows and reports; returns the predictions (row, label)."""
        before = None
        if self.target_scale is not None:
            labels, before = self.target_scale.scaled(labels)
        loop = TrainingLoop(self.step, self.statistics, self.samples_per_step)
        outputs, norms, penalty = loop.walk(
            self.optimizer, self._fairness_weight, features, labels, groups, num_rows)
        self.fairness_penalty.update_state(penalty)
        if self.record_gradients:
            self.gradient_record.write(norms, num_rows, self.samples_per_step)
        return outputs if before is None else in_unit(outputs, *before)

    def get_metrics_result(self):
        """The metrics so far; the loss is the mean task loss and the penalty as it stands."""
        results = super().get_metrics_result()
        return results | {"loss": results["task_loss"] + results["fairness_penalty"]}

    @property
    def gradient_norms(self):
        """Norms of the gradients, one row a step (`record_gradients=True`), as a DataFrame."""
        return (self.gradient_record if self.built else GradientRecord()).frame()

    def get_config(self):
        names = ("num_labels", "num_trees", "height", "fairness_weight", "num_groups", "routing",
                 "samples_per_step", "online", "update_when", "wait_for_all_groups", "decay", "forget", "chance",
                 "scale_target", "record_gradients", "on_bad_rows", "seed")
        parts = {name: keras.saving.serialize_keras_object(getattr(self, name))
                 for name in ("notion", "penalty", "predictor", "encoder")}
        return super().get_config() | {name: getattr(self, name) for name in names} | parts | {
            "constraint": self.level, "activation": keras.activations.serialize(self.activation)}

    @classmethod
    def from_config(cls, config):
        parts = {name: keras.saving.deserialize_keras_object(config[name])
                 for name in ("notion", "penalty", "predictor", "encoder")}
        # What files of the first version do not say: their targets were not scaled, and a predictor had a forest's
        # settings beside it.
        config = {"scale_target": False, **config} | parts
        if not config.get("online", True):
            config["decay"] = None  # which had no effect
        return cls(**(config | (FOREST if parts["predictor"] is not None else {})))

    def get_build_config(self):
        return {"input_shape": (None, self.num_features)} if self.built else None
