"""Numbers at the edge, a few rows of each extreme, by both engines."""

import numpy as np
import pytest

import aranyani_tf as ar
from trials.extremes import tried
from trials.extremes_cases import EXTREMES, SMALL, Extreme, Run, people

# TensorFlow's step takes a second to trace each; tests/engine/test_extremes.py has it beside the engine for more.
BY_TENSORFLOW = ("features of 1e30", "constant features", "10⁸ rows in each cell")


@pytest.mark.parametrize(("name", "engine"), [(name, "numba") for name in EXTREMES] + [
    (name, "xla") for name in BY_TENSORFLOW])
def test_an_extreme_is_finite_and_sensible(name, engine):
    found = tried(EXTREMES[name], engine, EXTREMES[name].few)
    assert found["finite"] and found["sensible"], found


def test_what_is_not_sensible_is_told():
    assert not tried(Extreme("never", people, 20, lambda run: False), "numba", 20)["sensible"]
    assert not tried(Extreme("refused", people, 20, refused=True), "numba", 20)["sensible"]


@pytest.mark.parametrize("may_diverge", [True, False])
def test_a_model_that_diverged_is_sensible_only_where_it_may(may_diverge, monkeypatch):
    def diverge(*_):
        raise ar.errors.DivergedError("the loss is no number")

    monkeypatch.setattr(ar.Aranyani, "predict_then_learn", diverge)
    found = tried(Extreme("learned", people, 20, may_diverge=may_diverge), "numba", 20)
    assert (found["outcome"], found["sensible"]) == ("diverged", may_diverge)


def test_what_is_asked_for_can_fail():
    """A model that has learned nothing, beside what it should have learned."""
    def idle(name, **settings):
        rows = EXTREMES[name].rows(6000)
        model = ar.Aranyani(**SMALL | settings)
        model.build_for(6)
        said = np.eye(2)[rows[1]]  # right answers, so that nothing else is wrong
        model.so_far = lambda: {"demographic_parity": 0.3}
        return EXTREMES[name].sensible(Run(said, rows, model))

    assert not idle("λ = 10⁶") and not idle("10⁸ rows in each cell") and not idle("10⁸ rows in each cell, decay")
    assert idle("constant features")
    rows = people(100)
    model = ar.Aranyani(**SMALL)
    said = model.predict_then_learn(*rows)
    assert not EXTREMES["constant features"].sensible(Run(np.eye(2)[rows[1]], rows, model)), said
