"""Arrays into whatever takes rows: streams, models, live sessions, thresholds, monitors."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import hypothesis.strategies as st
import numpy as np

import aranyani_tf as ar
from trials.fuzz_arrays import mutated, rows
from trials.fuzz_cases import Case, Surface, state_of
from trials.fuzz_values import ANYTHING, ARRAYS, odd, told

SMALL = {"num_trees": 1, "height": 2, "seed": 0}


class Targets:
    """Everything that rows can be given to, ready to learn, and the bytes of what each has learned."""

    def __init__(self) -> None:
        self.model = ar.Aranyani(**SMALL, on_bad_rows="raise")
        self.model.predict_then_learn(*rows())
        self.regression = ar.Aranyani(**SMALL, num_labels=1)
        self.regression.predict_then_learn(*rows())
        self.fair = ar.GroupThresholds(self.model, target=0.05)
        self.monitor = ar.FairnessMonitor(limit=0.1)
        self.live = ar.Aranyani(**SMALL).live()
        self.live.__enter__()
        self.live.predict_then_learn(*rows())

    def of_model(self) -> bytes:
        return state_of(self.model)

    def of_live(self) -> bytes:
        return state_of(self.live.model)

    def of_thresholds(self) -> bytes:
        return b"".join(each.tobytes() for each in self.fair.get_state().values()) + self.of_model()

    def into(self) -> dict[str, tuple[Callable[..., Any], Callable[[], bytes] | None]]:
        """Name → what takes features, labels and groups, and what they may change."""
        model, live, fair, monitor = self.model, self.live, self.fair, self.monitor
        return {
            "Stream": (streamed, None),
            "predict": (lambda x, y, a: model.predict(x, verbose=0), self.of_model),
            "predict_then_learn": (model.predict_then_learn, self.of_model),
            "sample_weight": (lambda x, y, a: model.predict_then_learn(*rows(), y), self.of_model),
            "regression": (self.regression.predict_then_learn, lambda: state_of(self.regression)),
            "fit": (lambda x, y, a: fitted(model, {"features": x, "group": a}, y), self.of_model),
            "fit by batches": (lambda x, y, a: fitted(model, [({"features": x, "group": a}, y)]), self.of_model),
            "fit of a stream": (lambda x, y, a: fitted(model, ar.Stream(x, y, a)), self.of_model),
            "evaluate": (lambda x, y, a: model.evaluate({"features": x, "group": a}, y, verbose=0), self.of_model),
            "live.predict": (lambda x, y, a: live.predict(x), self.of_live),
            "live.predict_then_learn": (live.predict_then_learn, self.of_live),
            "live.learn, a row": (lambda x, y, a: live.learn(first(x), first(y), first(a)), self.of_live),
            "GroupThresholds": (fair.predict_then_learn, self.of_thresholds),
            "GroupThresholds.decide_then_learn": (lambda x, y, a: fair.decide_then_learn(x, y, a), self.of_thresholds),
            "GroupThresholds.learn": (lambda x, y, a: fair.learn(x, y, a), self.of_thresholds),
            "GroupThresholds.decide": (lambda x, y, a: fair.decide(y, a), self.of_thresholds),
            "FairnessMonitor.add": (lambda x, y, a: monitor.add(y, a, y), lambda: monitor.to_json().encode()),
            "FairnessMonitor.add_labels": (lambda x, y, a: monitor.add_labels(y, a, y),
                                           lambda: monitor.to_json().encode())}


def fitted(model: Any, x: Any, y: Any = None) -> None:
    model.fit(x, y, verbose=0)


def streamed(x: Any, y: Any, a: Any) -> None:
    """A stream, and what one does with it."""
    stream = ar.Stream(x, y, a)
    repr(stream), stream[:1], stream[-1], list(stream.chunks(4))
    stream.shuffled(0)


def first(rows_given: Any) -> Any:
    """The first row of whatever has one."""
    has_rows = np.ndim(rows_given) > 0 if isinstance(rows_given, np.ndarray) else isinstance(rows_given, (list, tuple))
    return rows_given[0] if has_rows and len(rows_given) else rows_given


def by_structure(folder: Path) -> Callable[[Random], Case]:
    into = Targets().into()

    def draw(random: Random) -> Case:
        name = random.choice(tuple(into))
        function, state = into[name]
        mutation, given, where = mutated(random)
        return Case(f"{name}: {mutation}", lambda: function(*given), state, f"{name} with {where}")

    return draw


def by_hypothesis(folder: Path) -> st.SearchStrategy[Case]:
    into = Targets().into()

    def case(name: str, *given: Any) -> Case:
        function, state = into[name]
        return Case(name, lambda: function(*given), state, f"{name}{told(given)}")

    x, y, a = rows(4)
    return st.builds(case, st.sampled_from(sorted(into)), st.one_of(ARRAYS, st.just(x)),
                     st.one_of(ARRAYS, st.just(y)), st.one_of(ARRAYS, st.just(a)))


def of_calls(folder: Path) -> Callable[[Random], Case]:
    """Right rows, and arguments beside them that are wrong."""
    targets = Targets()
    model, (x, y, a) = targets.model, rows()
    stream = ar.Stream(x, y, a)
    calls: dict[str, Callable[[Any], Any]] = {
        "fit(x)": lambda value: fitted(model, value),
        "fit(x, y)": lambda value: fitted(model, value, y),
        "fit(batch_size)": lambda value: model.fit(stream, batch_size=value, verbose=0),
        "fit(on_bad_rows)": lambda value: model.fit(stream, on_bad_rows=value, verbose=0),
        "fit(sample_weight)": lambda value: model.fit(stream, sample_weight=value, verbose=0),
        "fit(validation_data)": lambda value: model.fit(stream, validation_data=value, verbose=0),
        "fit(class_weight)": lambda value: model.fit(stream, class_weight=value, verbose=0),
        "predict(on_bad_rows)": lambda value: model.predict(x, on_bad_rows=value, verbose=0),
        "predict_then_learn(sample_weight)": lambda value: model.predict_then_learn(x, y, a, value),
        "predict_then_learn(on_bad_rows)": lambda value: model.predict_then_learn(x, y, a, on_bad_rows=value),
        "fairness_weight": lambda value: setattr(model, "fairness_weight", value),
        "Stream.chunks": lambda value: list(stream.chunks(value)),
        "Stream[...]": lambda value: stream[value],
        "Stream.fraction": lambda value: stream.fraction(value),
        "Stream.held_out": lambda value: stream.held_out(value),
        "Stream.shuffled": lambda value: stream.shuffled(value),
        "Stream.adversarial": lambda value: stream.adversarial(value),
        "Stream(feature_names)": lambda value: repr(ar.Stream(x, y, a, feature_names=value)),
        "Stream(label_names)": lambda value: repr(ar.Stream(x, y, a, label_names=value)),
        "Stream(group_names)": lambda value: repr(ar.Stream(x, y, a, group_names=value)),
        "GroupThresholds.set_state": lambda value: targets.fair.set_state(value),
        "learn_stream(learner)": lambda value: ar.learn_stream(value, stream),
        "learn_stream(stream)": lambda value: ar.learn_stream(model, value),
        "learn_stream(checkpoints)": lambda value: ar.learn_stream(model, stream, checkpoints=value)}

    def draw(random: Random) -> Case:
        name, value = random.choice(tuple(calls)), odd(random)
        return Case(name, lambda: calls[name](value), targets.of_thresholds, f"{name} = {told(value)}")

    return draw


def settings_of_state(folder: Path) -> st.SearchStrategy[Case]:
    """What hypothesis would set λ and a state to."""
    targets = Targets()
    state = targets.fair.get_state()

    def case(name: str, value: Any) -> Case:
        return Case(f"set_state({name})", lambda: targets.fair.set_state(state | {name: value}), targets.of_thresholds,
                    f"set_state of {name} = {told(value)}")

    return st.builds(case, st.sampled_from(["prices", "counts", "seen", "other"]), st.one_of(ARRAYS, ANYTHING))


SURFACES = (Surface("rows", 0.2, by_structure), Surface("rows, by hypothesis", 0.12, by_hypothesis),
            Surface("calls", 0.06, of_calls), Surface("states, by hypothesis", 0.02, settings_of_state))
