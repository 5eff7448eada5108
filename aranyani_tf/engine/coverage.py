"""What the engine can take, and why not the rest, which TensorFlow's step takes."""

from typing import Any

import keras
import tensorflow as tf

from aranyani_tf.fairness.forest_levels import LeafConstraint, NodeConstraint
from aranyani_tf.fairness.notions import NOTIONS, Notion
from aranyani_tf.fairness.objective import Objective
from aranyani_tf.fairness.output_level import OutputConstraint
from aranyani_tf.fairness.penalties import L2, Huber
from aranyani_tf.forest.oblique_forest import ObliqueForest, smootherstep

LEVELS = (NodeConstraint, LeafConstraint, OutputConstraint)
ACTIVATIONS = (keras.activations.sigmoid, smootherstep)
# Of Keras's optimizers: what the engine does not know how to do.
UNKNOWN_TO_IT = ("weight_decay", "clipnorm", "global_clipnorm", "clipvalue", "use_ema", "loss_scale_factor",
                 "gradient_accumulation_steps", "amsgrad")


def reason_against(forest: Any, encoder: Any, constraint: Any, objective: Objective) -> str | None:
    """Why the engine cannot learn this model; None if it can.

    Args:
        constraint: its class.
    """
    notion, penalty = objective.notion, objective.penalty
    if (reason := reason_against_forest(forest, encoder)) is not None:
        return reason
    if constraint not in LEVELS:
        return f"it knows nothing of the constraint {getattr(constraint, '__name__', constraint)}"
    if type(penalty) not in (Huber, L2):
        return f"it knows nothing of the penalty {type(penalty).__name__}"
    if type(notion) not in NOTIONS.values() and sees_outputs(notion, objective.num_labels,
                                                                     objective.num_groups):
        return f"{type(notion).__name__} looks at what the model said"
    return None


def reason_against_forest(forest: Any, encoder: Any = None) -> str | None:
    """Why the engine cannot predict for this model; None if it can."""
    if type(forest) is not ObliqueForest:
        return "it serves forests, not predictors"
    if encoder is not None:
        return "there is an encoder in front of the forest"
    if forest.activation not in ACTIVATIONS:
        return f"it knows nothing of the activation {getattr(forest.activation, '__name__', forest.activation)}"
    if forest.routing != "levels":
        return f"it routes by levels, not by {forest.routing!r}"
    return None


def reason_against_optimizer(optimizer: keras.Optimizer) -> str | None:
    """Why the engine cannot do what this optimizer does; None if it can."""
    if type(optimizer) not in (keras.optimizers.Adam, keras.optimizers.SGD):
        return f"it knows nothing of the optimizer {type(optimizer).__name__}"
    settings = optimizer.get_config()
    for name in UNKNOWN_TO_IT:
        if settings.get(name):
            return f"it knows nothing of the optimizer's {name}"
    if not isinstance(settings["learning_rate"], float):
        return "the learning rate has a schedule"
    return None


def sees_outputs(notion: Notion, num_labels: int, num_groups: int) -> bool:
    """Whether a sample's cells depend on what the model said, by the graph of `membership`."""
    label_type = tf.float32 if num_labels == 1 else tf.int32
    graph = tf.function(
        lambda labels, groups, outputs: notion.membership(labels, groups, outputs, num_labels=num_labels,
                                                          num_groups=num_groups), autograph=False
    ).get_concrete_function(tf.TensorSpec((None,), label_type), tf.TensorSpec((None,), tf.int32),
                            tf.TensorSpec((None, num_labels), tf.float32)).graph
    seen, waiting = set(), [tensor.op for tensor in graph.outputs]
    while waiting:
        op = waiting.pop()
        if op.name not in seen:
            seen.add(op.name)
            waiting += [tensor.op for tensor in op.inputs] + list(op.control_inputs)
    return graph.inputs[2].op.name in seen
