"""What a method tells of itself for the field, and whether the field could use it."""

import inspect
from collections.abc import Callable
from typing import Any

from aranyani_tf.errors import ArgumentError

GROUP_NEEDED = ("never", "to learn", "to predict")
NOTIONS = ("demographic_parity", "equalized_odds")  # that the field measures by, and that a method may be told
TARGETS = (0.1, 0.05, 0.02)  # gaps that the field asks for
LEARNING_RATE = "learning_rate"  # the knob of all that learns by gradients
ADAM_RATES = (2e-3, 1e-3, 5e-3, 1e-2)  # the paper's, and others
KnobValues = tuple[Any, ...] | Callable[[str | None], tuple[Any, ...]]


def require_contender(name: str, learner: Callable[..., Any] | None, steered: bool, notions: tuple[str, ...],
                      group_needed: str) -> None:
    """Raises about what a method says of itself that the field could not use."""
    if group_needed not in GROUP_NEEDED:
        raise ArgumentError(f"{name}: group_needed must be one of {', '.join(map(repr, GROUP_NEEDED))}, got "
                            f"{group_needed!r}")
    if isinstance(notions, str) or set(notions) - set(NOTIONS):
        raise ArgumentError(f"{name}: notions must be a tuple of {', '.join(map(repr, NOTIONS))} or some of them, got "
                            f"{notions!r}")
    if steered and learner is None:
        raise ArgumentError(f"{name}: steered=True needs a learner, a function of the seed and the target gap")


def require_knob(name: str, learner: Callable[..., Any] | None, notions: tuple[str, ...], knob: str | None,
                 values: KnobValues) -> None:
    """Raises about a knob that could not be turned, and about a learner that does not take what it will be given."""
    if bool(knob) != bool(values) or (isinstance(values, tuple) and len(set(values)) < len(values)):
        raise ArgumentError(f"{name}: a knob has a name and different values, got knob={knob!r}, "
                            f"knob_values={values!r}")
    if learner is None:
        if knob not in (None, LEARNING_RATE):
            raise ArgumentError(f"{name}: without a learner the knob can only be {LEARNING_RATE!r}, got {knob!r}")
        return
    if not (notions or knob):
        return
    told = inspect.signature(learner)
    given = dict.fromkeys([*(["stream"] if "stream" in told.parameters else []), *([knob] if knob else [])])
    try:
        told.bind(0, 0.0, *notions[:1], **given)
    except TypeError as error:
        wanted = ["the seed", "λ", *(["the notion"] if notions else []), *([knob] if knob else [])]
        raise ArgumentError(f"{name}: the learner must be a function of {', '.join(wanted[:-1])} and {wanted[-1]}; "
                            f"it takes {told}") from error
