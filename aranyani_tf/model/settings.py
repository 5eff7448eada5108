"""Which settings of a model can be, alone and together; whatever would have no effect is refused."""

import inspect
from collections.abc import Callable
from typing import Any

import keras
import numpy as np

from aranyani_tf import arguments as check
from aranyani_tf.errors import ArgumentError
from aranyani_tf.fairness.constraints import MAKERS
from aranyani_tf.streams.row_rules import ON_BAD_ROWS

FOREST = {"num_trees": 3, "height": 4, "activation": "sigmoid", "routing": "levels"}  # of no use to a predictor
KERAS = {"name", "dtype", "trainable", "autocast"}  # what keras.Model takes
TOLERANCE = 1e-3  # how far the sum of probabilities may be from 1


def require_settings(*, num_labels: Any, num_groups: Any, samples_per_step: Any, online: Any,
                     update_when: Any, wait_for_all_groups: Any, decay: Any, forget: Any, chance: Any,
                     scale_target: Any, record_gradients: Any, on_bad_rows: Any, seed: Any, constraint: Any,
                     predictor: Any, encoder: Any, forest: dict[str, Any], further: dict[str, Any]) -> None:
    """Raises an `ArgumentError` about the first setting of `Aranyani` that cannot be."""
    check.require_whole("num_labels", num_labels, 1)
    check.require_whole("num_groups", num_groups, 2)
    check.require_room("the counts by label, group and answer", num_labels * (num_labels + 1) * (num_groups + 1), 2**28)
    check.require_whole("samples_per_step", samples_per_step, 1, 2**20)
    check.require_choice("update_when", update_when, ("always", "predicted_positive"))
    check.require_choice("on_bad_rows", on_bad_rows, ON_BAD_ROWS)
    check.require_choice("forget", forget, ("rows", "time"))
    check.require_flags(online=online, wait_for_all_groups=wait_for_all_groups, record_gradients=record_gradients,
                        scale_target=scale_target)
    check.require_number("chance", chance, 0)
    check.require_seed(seed)
    if decay is not None:
        check.require_number("decay", decay, 0, 1, above=True, below=True)
    if constraint is not None:
        check.require_choice("constraint", constraint, tuple(MAKERS))
    for name, part in (("predictor", predictor), ("encoder", encoder)):
        if part is not None and not isinstance(part, keras.layers.Layer):
            raise ArgumentError(f"{name} must be a Keras model or layer, got {part!r}")
    unknown = set(further) - KERAS
    if unknown:
        raise ArgumentError(f"unknown setting {', '.join(sorted(unknown))}")

    if forget == "time" and decay is None:
        raise ArgumentError("forget='time' says how to forget, decay how fast: pass decay=0.001, say")
    if not online and samples_per_step == 1:
        raise ArgumentError("online=False compares the groups within a step, which has one sample; pass "
                            "samples_per_step=100, say")
    if not online and decay is not None:
        raise ArgumentError("decay has no effect with online=False, where each step's samples are all that counts")
    if predictor is not None and encoder is not None:
        raise ArgumentError("give predictor=keras.Sequential([encoder, predictor]) instead of both")
    if update_when == "predicted_positive" and num_labels == 1:
        raise ArgumentError("update_when='predicted_positive' needs labels; num_labels=1 is regression")
    given = {} if predictor is None else forest
    ignored = [name for name, value in given.items() if value != FOREST[name]]
    if ignored:
        raise ArgumentError(f"{', '.join(ignored)} are the forest's, and a predictor is in its place: leave them out")


def require_optimizer(optimizer: Any, *, loss: Any, steps_per_execution: int = 1,
                      **others: Any) -> keras.Optimizer:
    """The optimizer by name, object or default, if it and the other arguments of `compile` can be."""
    if loss is not None:
        raise ArgumentError("the loss is cross-entropy (squared error for num_labels=1); leave it out")
    if steps_per_execution != 1:
        raise ArgumentError("steps_per_execution has no use here: a chunk, thousands of samples, is one execution "
                            "already; take larger chunks, stream.chunks(16_384)")
    try:
        optimizer = keras.optimizers.get(keras.optimizers.Adam(2e-3) if optimizer is None else optimizer)
    except (ValueError, TypeError, KeyError) as error:
        raise ArgumentError(f"optimizer must be one of Keras's, or its name, got {optimizer!r}: {error}") from error
    require_numbers_of(optimizer)
    if optimizer.use_ema:
        raise ArgumentError("use_ema=True is not possible: the optimizer sees the forest's weights packed as one")
    return optimizer


def require_numbers_of(optimizer: keras.Optimizer) -> None:
    """Raises unless what Keras's own optimizers are set to are numbers: they look at it with the first row only."""
    own = type(optimizer).__module__.startswith("keras.")
    for name, value in optimizer.get_config().items() if own else ():
        if name not in ("name", "learning_rate") and not isinstance(value, (int, float, np.number, type(None))):
            raise ArgumentError(f"the optimizer's {name} must be a number, True, False or None, got {value!r}")


def require_probabilities(answers: Any) -> None:
    """Raises unless every row of (row, label) is a distribution over the labels."""
    answers = np.asarray(answers)
    inside = (answers >= -TOLERANCE) & (answers <= 1 + TOLERANCE)
    if not inside.all() or (np.abs(answers.sum(axis=1) - 1) > TOLERANCE).any():
        raise ArgumentError("the predictor must give probabilities that sum to 1, a softmax over the labels; for the "
                            f"first row it gives {np.array2string(answers[0], precision=3)}")


def require_weights_taken(*methods: Callable) -> None:
    """Raises unless each of these has a use for what rows weigh."""
    for method in methods:
        if "row_weights" not in inspect.signature(method).parameters:
            owner = type(getattr(method, "__self__", method)).__name__
            raise ArgumentError(f"{owner} cannot learn from rows that have weights, its {method.__name__} takes no "
                                "row_weights: leave sample_weight out")


def with_training(part: Any) -> Any:
    """A layer that can be told whether it learns: one whose `call` has no such argument goes into a model."""
    if part is None or part._call_has_training_arg:
        return part
    return keras.Sequential([part])

