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
    if type(notion) not in NOTIONS.values():
        return reason_against_notion(notion, objective.num_labels, objective.num_groups)
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
    for name in UNKNOWN_TO_IT:
        if getattr(optimizer, name, None):
            return f"it knows nothing of the optimizer's {name}"
    if not hasattr(optimizer.learning_rate, "assign"):
        return "the learning rate has a schedule"
    return None


def reason_against_notion(notion: Notion, num_labels: int, num_groups: int) -> str | None:
    """Why what a sample counts for does not follow from its label and group alone, by the graph of `membership`."""
    name, label_type = type(notion).__name__, tf.float32 if num_labels == 1 else tf.int32
    try:
        graph = tf.function(
            lambda labels, groups, outputs: notion.membership(labels, groups, outputs, num_labels=num_labels,
                                                              num_groups=num_groups), autograph=False
        ).get_concrete_function(tf.TensorSpec((1,), label_type), tf.TensorSpec((1,), tf.int32),
                                tf.TensorSpec((1, num_labels), tf.float32)).graph
    except Exception as error:  # whatever a notion of the user's may raise; TensorFlow's step will tell it in its place
        return f"{name} cannot be asked beforehand: {error}"
    if graph.captures or any(op.op_def is not None and op.op_def.is_stateful for op in graph.get_operations()):
        return f"{name} may change its mind: it has state or chance in it"
    seen, waiting = set(), [tensor.op for tensor in graph.outputs]
    while waiting:
        op = waiting.pop()
        if op.name not in seen:
            seen.add(op.name)
            waiting += [tensor.op for tensor in op.inputs] + list(op.control_inputs)
    return f"{name} looks at what the model said" if graph.inputs[2].op.name in seen else None
