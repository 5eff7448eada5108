"""Aranyani as a Keras model: Equation 5 and Algorithm 1 of the paper.

A Keras "batch" is a chunk of the stream, and `train_step` walks it sample by sample inside one
compiled loop: predict, score, then learn. So `model.fit` is the online learner.
"""

from typing import Any, Self

import keras
import tensorflow as tf

from aranyani_tf.control import parity_target
from aranyani_tf.control.parity_target import ParityTarget
from aranyani_tf.errors import ArgumentError
from aranyani_tf.fairness import notions, penalties
from aranyani_tf.fairness.constraints import MAKERS
from aranyani_tf.fairness.notions import Notion
from aranyani_tf.fairness.objective import Objective
from aranyani_tf.forest.oblique_forest import ObliqueForest, get_activation
from aranyani_tf.interfaces import Constraint, Learner, Penalty
from aranyani_tf.learning.forest_learner import ForestLearner
from aranyani_tf.learning.keras_learner import KerasLearner, output_width
from aranyani_tf.model.chunk_model import Programs
from aranyani_tf.model.engine_model import EngineModel
from aranyani_tf.model.settings import FOREST, require_optimizer, require_settings, with_training
from aranyani_tf.streams.row_rules import require_width

PLAIN = ("num_labels", "num_trees", "height", "num_groups", "routing", "samples_per_step", "online",
         "update_when", "wait_for_all_groups", "decay", "forget", "chance", "scale_target", "record_gradients",
         "on_bad_rows", "seed")  # settings that a file keeps as they are
OBJECTS = ("notion", "penalty", "predictor", "encoder")  # and those that Keras serializes


@keras.saving.register_keras_serializable("aranyani_tf")
class Aranyani(EngineModel):
    """A fair oblique forest that learns from a stream.

    Args:
        num_labels: number of labels; 1 is regression with squared error.
        num_trees, height: of the forest.
        fairness_weight: λ; or the gap that may not be exceeded, `ParityTarget(0.05)`, by which λ moves. It may be
            changed at any time, `model.fairness_weight = 30`. How much it takes depends on the penalty: with the
            paper's, which is the default, 10 to 1000; with `Huber(linear_slope=1.0)` 0.1 to 10. On Adult the
            default takes the gap from 0.19 to 0.12, for 0.7 points of accuracy.
        notion: "demographic_parity", "equal_opportunity", "equalized_odds",
            "representation_parity", or an object of a `Notion` subclass.
        constraint: "node" (the paper's method), "leaf", "output", or a name that was registered
            (`register_constraint`). None is "node", or "output" where nothing else is possible (a predictor,
            representation parity). "summed_output" is a slip of the authors' released baselines, whose
            fairness gradient is zero.
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
            longer past than a large one's; "time": all cells forget with every sample. None is "rows", or
            "time" with a `ParityTarget`.
        chance: how many standard errors of a gap count as chance: it is that much shorter before the penalty
            sees it, and a group of a few samples moves nothing. 0.0 is the paper's rule; 2.0 is a good
            choice.
        scale_target: for regression: learns the target's mean and deviation along the stream, so that any
            unit will do; predictions are in that unit.
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

    def __init__(self, num_labels: int = 2, num_trees: int = 3, height: int = 4, *,
                 fairness_weight: float | ParityTarget = 10.0, notion: str | Notion = "demographic_parity",
                 constraint: str | None = None, penalty: str | Penalty | None = None, num_groups: int = 2,
                 activation: Any = "sigmoid", routing: str = "levels",
                 predictor: keras.layers.Layer | None = None, encoder: keras.layers.Layer | None = None,
                 samples_per_step: int = 1, online: bool = True, update_when: str = "always",
                 wait_for_all_groups: bool = False, decay: float | None = None, forget: str | None = None,
                 chance: float = 0.0, scale_target: bool = True, record_gradients: bool = False,
                 on_bad_rows: str = "raise", seed: int | None = None, **kwargs: Any) -> None:
        if isinstance(fairness_weight, ParityTarget):
            parity_target.require_all_groups(update_when)
            constraint, penalty, decay, forget = parity_target.with_defaults(constraint, penalty, decay, forget, online)
        forget = forget or "rows"
        require_settings(
            num_labels=num_labels, num_groups=num_groups, samples_per_step=samples_per_step, online=online,
            update_when=update_when, wait_for_all_groups=wait_for_all_groups, decay=decay, forget=forget,
            chance=chance, scale_target=scale_target, record_gradients=record_gradients, on_bad_rows=on_bad_rows,
            seed=seed, constraint=constraint, predictor=predictor, encoder=encoder, further=kwargs,
            forest={"num_trees": num_trees, "height": height, "activation": activation, "routing": routing})
        notion = notions.get(notion)
        notion.check(num_labels)
        only_output = predictor is not None or notion.compares_loss
        level = constraint or ("output" if only_output else "node")
        if only_output and getattr(MAKERS[level], "needs_forest", True):
            reason = "a predictor" if predictor is not None else type(notion).__name__
            raise ArgumentError(f"{reason} goes with constraint='output', got {constraint!r}")
        super().__init__(num_labels=num_labels, num_groups=num_groups, positive_label=notion.positive_label,
                         fairness_weight=fairness_weight, notion=notion, level=level,
                         samples_per_step=samples_per_step, update_when=update_when,
                         wait_for_all_groups=wait_for_all_groups, record_gradients=record_gradients,
                         scale_target=scale_target, on_bad_rows=on_bad_rows,
                         gives_probabilities=predictor is None or num_labels == 1, **kwargs)
        if self.compute_dtype != self.variable_dtype:
            raise ArgumentError(f"mixed precision ({self.dtype_policy.name}) is not possible; use float32 or float64")
        self.num_trees, self.height, self.seed = num_trees, height, seed
        self.penalty = penalties.get(penalty)
        self.predictor, self.encoder = with_training(predictor), with_training(encoder)
        self.online, self.decay, self.forget, self.chance = online, decay, forget, chance
        self.forest = None if predictor is not None else ObliqueForest(
            num_trees, height, num_labels, activation, routing, seed, name="forest",
            dtype=self.dtype_policy)
        self.activation, self.routing = get_activation(activation), routing

    def make_learner(self) -> tuple[Learner, int]:
        if self.forest is None:
            output_width("predictor", self.predictor, self.num_features, self.compute_dtype, self.num_labels)
            return KerasLearner(self.predictor), self.num_features
        width = self.num_features if self.encoder is None else output_width(
            "encoder", self.encoder, self.num_features, self.compute_dtype)
        self.forest.build((None, width))
        return ForestLearner(self.forest, self.encoder), width

    def make_objective(self) -> Objective:
        return Objective(self.notion, self.penalty, self.num_labels, self.num_groups, online=self.online,
                         decay=self.decay, forget=self.forget, chance=self.chance, offsets=self.offsets)

    def make_constraint(self, objective: Objective, num_features: int) -> Constraint:
        """By its name; a subclass may keep something else."""
        return MAKERS[self.level](self.learner, objective, num_features)

    def constraint_class(self) -> Any:
        return MAKERS[self.level]

    def compile(self, optimizer: Any = None, *, engine: str = "auto", jit_compile: bool = True, loss: None = None,
                metrics: list | None = None, weighted_metrics: list | None = None, **kwargs: Any) -> None:
        """As Keras's; the default is Adam(2e-3). The loss is the model's own.

        Args:
            engine: who learns: "numba" is a function over rows for forests; "xla" TensorFlow's step in a loop,
                which takes every model; "auto" is the first where that is possible. `model.engine` tells.
            jit_compile: whether XLA compiles TensorFlow's step.
        """
        self.require_own_state()
        optimizer = require_optimizer(optimizer, loss=loss, **kwargs)
        self.choose_engine(engine, optimizer, bool(kwargs.get("run_eagerly")))
        # Rows without a label have weight 0, so that every metric must be a weighted one.
        further = self.fitting_metrics(metrics) + self.fitting_metrics(weighted_metrics)
        self.has_further_metrics = bool(further)
        super().compile(optimizer=optimizer, jit_compile=jit_compile and not kwargs.get("run_eagerly"),
                        weighted_metrics=further or None, **kwargs)
        self.programs = Programs()
        self.seal = None  # another optimizer than that of a loaded file
        if self.built:
            self.learner.gather()
            self.optimizer.build(self.learner.variables)

    def get_compile_config(self) -> dict:
        return super().get_compile_config() | ({} if self.wanted_engine == "auto" else {"engine": self.wanted_engine})

    def compile_from_config(self, config: dict) -> None:
        self.compile(**keras.saving.deserialize_keras_object(config))

    def call(self, inputs: Any, training: bool = False) -> tf.Tensor:
        """Probabilities (batch, label); `inputs` may be plain features or {"features", "group"}."""
        features = tf.convert_to_tensor(inputs["features"] if isinstance(inputs, dict) else inputs)
        require_width(features.shape, self.num_features)
        if self.encoder is not None:
            features = self.encoder(features, training=training)
        outputs = (self.forest(features) if self.forest is not None
                   else self.predictor(features, training=training))
        return outputs if self.target_scale is None else self.target_scale(outputs)

    def get_config(self) -> dict[str, Any]:
        parts = {name: keras.saving.serialize_keras_object(getattr(self, name)) for name in OBJECTS}
        return super().get_config() | {name: getattr(self, name) for name in PLAIN} | parts | {
            "fairness_weight": self.fairness_weight if self.parity_target is None else (
                keras.saving.serialize_keras_object(self.parity_target)),
            "constraint": self.level, "activation": keras.activations.serialize(self.activation)}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        parts = {name: keras.saving.deserialize_keras_object(config[name]) for name in OBJECTS}
        if isinstance(config["fairness_weight"], dict):
            parts["fairness_weight"] = keras.saving.deserialize_keras_object(config["fairness_weight"])
        # What files of the first version do not say: their targets were not scaled, and a predictor had a
        # forest's settings beside it.
        config = {"scale_target": False, **config} | parts
        if not config.get("online", True):
            config["decay"] = None  # which had no effect
        return cls(**(config | (FOREST if parts["predictor"] is not None else {})))

    def get_build_config(self) -> dict[str, Any] | None:
        return {"input_shape": (None, self.num_features)} if self.built else None
