"""The methods and rules of the comparison by name; each is registered by a file of its own.

Those of this repository are in `reproduce/methods/`, anybody's own in `reproduce/extensions/`. The files are read
when a name is first asked for: they import this module, so this one cannot import them.
"""

import quiet  # noqa: F401

import importlib
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from matplotlib.colors import is_color_like
from matplotlib.markers import MarkerStyle

import aranyani_tf as ar
from aranyani_tf.arguments import require_fairness_weight
from aranyani_tf.errors import ArgumentError
from harness.contenders import GROUP_NEEDED, NOTIONS, TARGETS, KnobValues, require_contender, require_knob
from harness.settings import OF_MODEL, Settings

FOLDERS = ("methods", "extensions")
IGNORED_BY_LEARNERS = ("rule", *OF_MODEL, "held_out")
COLORS = ("#882255", "#44AA99", "#999933", "#332288", "#DDCC77", "#AA4499")  # for those that name none
_METHODS: dict[str, "Method"] = {}
_RULES: dict[str, "Rule"] = {}


@dataclass(frozen=True)
class Method:
    """How a method learns: either a model that a Grove trains, or a function that makes a learner; and how it is drawn.

    Args:
        name: in the records.
        label, marker, color: in the pictures, as Matplotlib takes them.
        module: where it was registered.
        fairness_weights: its λ where no figure asks for others.
        learner: function of (seed, fairness_weight), gives an object with `predict_then_learn(x, y, a)`. With
            `notions` it is told one of them as its third argument; and one that has a parameter `stream` is given the
            rows that it will be asked about, in their order: for their width, and for the number of groups. With a
            `knob` it is given the knob's value by that name.
        model: the class that a Grove trains where there is no such function.
        settings: function of (stream, height), gives settings of the model.
        alone: the model is trained by itself, and timed beside a plain Aranyani.
        own_settings: names of settings that a plain Aranyani does not have.
        ignores: names of an experiment's settings that have no effect here.
        nanoseconds: rough time per sample and weight, or per sample and feature of a `learner`: for the progress
            bar, and for the order in which experiments are run.
        group_needed: when the group of a row has to be known: "never", "to learn" or "to predict".
        steered: `fairness_weight` is the gap itself that may not be exceeded.
        notions: of `NOTIONS`, those that it can be told; without any it knows one way only.
        knob: the name of one further setting that the field may choose, beside λ; of a method without `learner` it is
            the learning rate.
        knob_values: those that it is chosen from. The first is what everybody else has; a function of a dataset's name
            (None for no dataset in particular) gives those for that dataset.
        num_groups: how many groups it can tell apart; None for any number, or what its learner says of itself.
        field: whether it takes part in `make field`.
    """

    name: str
    label: str
    marker: str
    color: str
    module: str
    fairness_weights: tuple[float, ...] = (0.0,)
    learner: Callable[..., Any] | None = None
    model: type = ar.Aranyani
    settings: Callable[[ar.Stream, int], dict] = lambda stream, height: {}
    alone: bool = False
    own_settings: tuple[str, ...] = ()
    ignores: tuple[str, ...] = ()
    nanoseconds: int = 3
    group_needed: str = "to learn"
    steered: bool = False
    notions: tuple[str, ...] = ()
    knob: str | None = None
    knob_values: KnobValues = ()
    num_groups: int | None = None
    field: bool = True

    @property
    def rule(self) -> str:
        """The rule of its records where no figure asks for another."""
        return "none" if "rule" in self.ignores else "released"

    def make(self, stream: ar.Stream, seed: int, fairness_weight: float, notion: str = NOTIONS[0],
             knob_value: Any = None) -> Any:
        """The learner of one λ and seed, not trained yet; a knob that nobody asks for has its first value."""
        assert self.learner is not None
        wanted: dict[str, Any] = {"stream": stream} if "stream" in inspect.signature(self.learner).parameters else {}
        if self.knob:
            wanted[self.knob] = self.values_for(None)[0] if knob_value is None else knob_value
        return self.learner(seed, fairness_weight, *([notion] if self.notions else []), **wanted)

    def values_for(self, dataset: str | None) -> tuple[Any, ...]:
        """What its knob may be on a dataset; nothing without a knob."""
        return self.knob_values(dataset) if callable(self.knob_values) else self.knob_values

    @property
    def is_added(self) -> bool:
        """Whether it is not of this repository: then it joins Figure 2."""
        return not self.module.startswith("methods.")


@dataclass(frozen=True)
class Rule:
    """Settings of `ar.Aranyani` under one name, and the module that gave it."""

    settings: dict[str, Any]
    module: str


def register_method(name: str, *, label: str, marker: str, color: str | None = None,
                    fairness_weights: tuple[float, ...] = (0.0,), learner: Callable[..., Any] | None = None,
                    ignores: tuple[str, ...] = (), steered: bool = False, notions: tuple[str, ...] = (),
                    knob: str | None = None, knob_values: KnobValues = (), **how: Any) -> None:
    """Adds a method to those that experiments and sweeps know by name; see `Method` for the arguments.

    A learner whose only λ is 0 has no use for λ: another is refused. So are the settings of a forest. What is steered
    has the field's targets where it names none.
    """
    module = sys._getframe(1).f_globals["__name__"]
    if not isinstance(name, str) or not name.isidentifier() or name == "majority":
        raise ArgumentError(f"a method's name must be a word of letters, digits and _, and not 'majority', which comes "
                            f"with Aranyani's runs; got {name!r}")
    if name in _METHODS:
        raise ArgumentError(f"there is a method {name!r} already, of {_METHODS[name].module}; choose another name")
    if not is_color_like(color or "black"):
        raise ArgumentError(f"{name}: color must be one of Matplotlib's, got {color!r}")
    try:
        MarkerStyle(marker)
    except ValueError as error:
        raise ArgumentError(f"{name}: marker must be one of Matplotlib's, got {marker!r}") from error
    if learner is not None and not callable(learner):
        raise ArgumentError(f"{name}: learner must be a function of the seed and λ, got {learner!r}")
    weights = tuple(map(float, fairness_weights))
    for weight in weights:
        require_fairness_weight(weight)
    require_contender(name, learner, steered, notions, how.get("group_needed", GROUP_NEEDED[1]))
    require_knob(name, learner, notions, knob, knob_values)
    if steered and weights == (0.0,):
        weights = TARGETS
    if learner is not None:
        told = ("notion",) if notions else ()
        ignores = (*(each for each in IGNORED_BY_LEARNERS if each not in told),
                   *(("fairness_weights",) if weights == (0.0,) else ()), *ignores)
        how = {"nanoseconds": 10_000} | how
    unknown = set(ignores) - {field.name for field in fields(Settings)}
    if unknown:
        raise ArgumentError(f"{name}: ignores has {', '.join(sorted(unknown))}, which no experiment has")
    unused = [each for each in COLORS if each not in {other.color for other in _METHODS.values()}]
    color = color or (unused or COLORS)[0]
    _METHODS[name] = Method(name, label, marker, color, module, weights, learner, ignores=ignores, steered=steered,
                            notions=tuple(notions), knob=knob, knob_values=knob_values, **how)


def register_rule(name: str, **settings: Any) -> None:
    """Adds a rule: settings of `ar.Aranyani` that an experiment has by `rule=name`, such as the penalty."""
    if not isinstance(name, str) or not name.isidentifier():
        raise ArgumentError(f"a rule's name must be a word of letters, digits and _, got {name!r}")
    unknown = set(settings) - set(inspect.signature(ar.Aranyani).parameters)
    if unknown:
        raise ArgumentError(f"the rule {name!r} has {', '.join(sorted(unknown))}, which ar.Aranyani does not take")
    if name in _RULES:
        raise ArgumentError(f"there is a rule {name!r} already, of {_RULES[name].module}; choose another name")
    for setting in {*OF_MODEL, "fairness_weight", "seed", "num_groups"} & set(settings):
        raise ArgumentError(f"the rule {name!r} cannot have {setting}, which an experiment sets itself")
    _RULES[name] = Rule(settings, sys._getframe(1).f_globals["__name__"])


def methods() -> dict[str, Method]:
    """Every method there is."""
    load_all()
    return _METHODS


def rules() -> dict[str, Rule]:
    """Every rule there is."""
    load_all()
    return _RULES


def method(name: str) -> Method:
    if name not in methods():
        raise ArgumentError(f"unknown method {name!r}; known are {', '.join(methods())}. One's own are registered by a "
                            "file in reproduce/extensions/, so that every process finds them")
    return methods()[name]


@cache
def load_all() -> None:
    """Reads the files that register methods, rules and datasets, once a process."""
    for folder in FOLDERS:
        for path in sorted((Path(__file__).parents[1] / folder).glob("[!_.]*.py")):
            importlib.import_module(f"{folder}.{path.stem}")


register_rule("released", penalty=ar.Huber(linear_slope=1.0), wait_for_all_groups=True)
register_rule("paper", penalty=ar.Huber())
register_rule("l2", penalty=ar.L2(), wait_for_all_groups=True)
register_rule("none")  # for methods that have no such penalty
