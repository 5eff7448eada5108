"""Every argument of every class, with values that it cannot have; what is made has to work."""

import inspect
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import hypothesis.strategies as st
import keras

import aranyani_tf as ar
from trials.fuzz_arrays import WIDTH, rows
from trials.fuzz_cases import Case, Surface
from trials.fuzz_tables import people
from trials.fuzz_values import ANYTHING, kind_of, odd, told

SMALL = {"num_trees": 1, "height": 1, "seed": 0}
MANY = 10_000  # weights that a case may take the time for
# Values that settings may have, so that combinations of right ones are met, too.
RIGHT: dict[str, tuple[Any, ...]] = {
    "num_labels": (1, 2, 3), "num_trees": (1, 2), "height": (1, 2), "fairness_weight": (0, 1.5, ar.ParityTarget(0.1)),
    "notion": ("demographic_parity", "equal_opportunity", "equalized_odds", "representation_parity",
               ar.EqualOpportunity(0)),
    "constraint": ("node", "leaf", "output", "summed_output", None), "penalty": ("huber", "l2", ar.Huber(0.1)),
    "num_groups": (2, 3), "activation": ("sigmoid", "smootherstep", "hard_sigmoid"), "routing": ("levels", "mask"),
    "samples_per_step": (1, 5), "online": (True, False), "update_when": ("always", "predicted_positive"),
    "wait_for_all_groups": (True, False), "decay": (None, 0.01), "forget": (None, "rows", "time"), "chance": (0.0, 2),
    "scale_target": (True, False), "record_gradients": (True, False), "on_bad_rows": ("raise", "skip"),
    "seed": (0, None), "predictor": (None,), "encoder": (None,), "dtype": ("float32", "float64"), "name": ("a",)}


def aranyani(**settings: Any) -> Any:
    return learned(ar.Aranyani(**SMALL | settings))


def learned(model: Any) -> Any:
    """What a model says to a few rows; only built if it is large."""
    if model.num_trees * 2**model.height * (WIDTH + model.num_labels) * model.num_groups > MANY:
        model.build_for(WIDTH)
        return None
    x, y, a = rows(4)
    return model.predict_then_learn(x, y, a)


def optimized(**settings: Any) -> Any:
    model = ar.Aranyani(**SMALL)
    model.compile(**settings)
    return learned(model)


def grove(**settings: Any) -> None:
    inner = settings.pop("setting", {})
    given = {"model_settings": SMALL_GROVE | (inner if isinstance(inner, dict) else {}), "fairness_weights": [0.1],
             "seeds": [0]} | settings
    x, y, a = rows(8)
    ar.Grove(given.pop("model_settings"), **given).fit(ar.Stream(x, y, a), verbose=0)


def grove_fit(**arguments: Any) -> None:
    x, y, a = rows(8)
    stream = arguments.pop("stream", ar.Stream(x, y, a))
    ar.Grove(SMALL_GROVE, fairness_weights=[0.1], seeds=[0]).fit(stream, **{"verbose": 0} | arguments)


def parity_target(**settings: Any) -> Any:
    return learned(ar.Aranyani(**SMALL, fairness_weight=ar.ParityTarget(**{"target": 0.1} | settings)))


def thresholds(**settings: Any) -> None:
    fair = ar.GroupThresholds(**{"target": 0.1} | settings)
    fair.decide_then_learn([0.2, 0.7], [0, 1], [0, 1])


def monitor(**settings: Any) -> None:
    made = ar.FairnessMonitor(**settings)
    if made.settings.num_labels**2 * made.settings.num_groups < MANY:
        made.add([1, 0, 1], [0, 1, 1], [1, 1, 0])
        made.report().frame(), made.prometheus(model="a"), ar.FairnessMonitor.from_json(made.to_json())


def tabular(**settings: Any) -> None:
    stream = ar.Stream.from_dataframe(people(), label="hired", group="sex")
    model = settings.pop("model", None) or ar.Aranyani(**SMALL)
    ar.TabularModel(**{"model": model, "form": stream.form} | settings).predict(people())


def forest(**settings: Any) -> Any:
    layer = ar.ObliqueForest(**SMALL | settings)
    return None if layer.num_trees * layer.num_leaves * layer.num_labels > MANY else layer(rows(4)[0]).numpy()


def penalty(**settings: Any) -> Any:
    return learned(ar.Aranyani(**SMALL, penalty=ar.Huber(**settings)))


def notion(**settings: Any) -> Any:
    return learned(ar.Aranyani(**SMALL, notion=ar.EqualOpportunity(**settings)))


def recommended(**settings: Any) -> None:
    x, y, a = rows(8)
    ar.recommended(**{"stream": ar.Stream(x, y, a)} | settings)


def dataset(name: Any, **options: Any) -> None:
    """By name; those that are quick to load, or refuse at once."""
    ar.datasets.load(name, **options)


def synthetic(**options: Any) -> None:
    ar.datasets.load("synthetic", **{"num_rows": 20} | options)


def rate_jumps(**options: Any) -> None:
    ar.datasets.load("rate_jumps", **{"num_rows": 20} | options)


def loaded(path: Any) -> None:
    ar.load_model(path)


SMALL_GROVE = {"num_trees": 1, "height": 1}
MADE: dict[str, tuple[Callable[..., Any], Any]] = {
    "Aranyani": (aranyani, ar.Aranyani), "compile": (optimized, ar.Aranyani.compile), "Grove": (grove, ar.Grove),
    "Grove.fit": (grove_fit, ar.Grove.fit), "ParityTarget": (parity_target, ar.ParityTarget),
    "GroupThresholds": (thresholds, ar.GroupThresholds), "FairnessMonitor": (monitor, ar.FairnessMonitor),
    "TabularModel": (tabular, ar.TabularModel), "ObliqueForest": (forest, ar.ObliqueForest),
    "Huber": (penalty, ar.Huber), "EqualOpportunity": (notion, ar.EqualOpportunity),
    "recommended": (recommended, ar.recommended),
    "load('synthetic')": (synthetic, ar.datasets.synthetic), "load('rate_jumps')": (rate_jumps, ar.datasets.rate_jumps),
    "load": (dataset, dataset), "load_model": (loaded, loaded)}
LEFT_OUT = {"self", "kwargs", "settings", "options", "on_alarm", "run", "model_class", "jit_compile", "on_chunk"}


def arguments_of(thing: Any) -> list[str]:
    function = thing.__init__ if isinstance(thing, type) else thing
    return [name for name in inspect.signature(function).parameters if name not in LEFT_OUT]


ARGUMENTS = {name: arguments_of(thing) for name, (_, thing) in MADE.items()}


def too_large(given: dict[str, Any]) -> bool:
    """Whether a right setting would take minutes, which is no bug: a million rows, features, groups or trees."""
    sizes = [value for value in given.values() if isinstance(value, int) and not isinstance(value, bool)]
    return any(1000 < value < 2**31 for value in sizes)


def by_structure(folder: Path) -> Callable[[Random], Case]:
    def draw(random: Random) -> Case:
        name = random.choice(("Aranyani", "Aranyani", *MADE))
        argument = random.choice(ARGUMENTS[name])
        given = {} if name != "Aranyani" else {
            other: random.choice(RIGHT[other]) for other in random.sample(sorted(RIGHT), random.choice((0, 1, 3)))}
        right = random.random() < 0.15 and argument in RIGHT
        given[argument] = random.choice(RIGHT[argument]) if right else odd(random)
        if too_large(given):
            given[argument] = None
        if name == "Aranyani" and random.random() < 0.05:
            given["predictor"] = keras.Sequential([keras.layers.Dense(random.choice((1, 2, 3)), random.choice((
                "softmax", "linear")))])
        return Case(f"{name}: {kind_of(given[argument])}", lambda: MADE[name][0](**given), None,
                    f"{name}({told(given)})")

    return draw


def by_hypothesis(folder: Path) -> st.SearchStrategy[Case]:
    pairs = [(name, argument) for name, arguments in ARGUMENTS.items() for argument in arguments]

    def case(pair: tuple[str, str], value: Any) -> Case:
        name, argument = pair
        value = None if too_large({argument: value}) else value
        return Case(name, lambda: MADE[name][0](**{argument: value}), None, f"{name}({argument}={told(value)})")

    return st.builds(case, st.sampled_from(pairs), ANYTHING)


SURFACES = (Surface("settings", 0.06, by_structure), Surface("settings, by hypothesis", 0.05, by_hypothesis))
