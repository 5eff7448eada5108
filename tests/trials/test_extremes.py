"""Numbers at the edge, a few rows of each extreme, by both engines."""

import pytest

from trials.extremes import tried
from trials.extremes_cases import EXTREMES, Extreme, people

# TensorFlow's step takes a second to trace each; tests/engine/test_extremes.py has it beside the engine for more.
BY_TENSORFLOW = ("features of 1e30", "constant features", "10⁸ rows in each cell", "10⁸ rows in each cell, decay")


@pytest.mark.parametrize(("name", "engine"), [(name, "numba") for name in EXTREMES] + [
    (name, "xla") for name in BY_TENSORFLOW])
def test_an_extreme_is_finite_and_sensible(name, engine):
    found = tried(EXTREMES[name], engine, EXTREMES[name].few)
    assert found["finite"] and found["sensible"], found


def test_what_is_not_sensible_is_told():
    assert not tried(Extreme("never", people, 20, lambda run: False), "numba", 20)["sensible"]
    assert not tried(Extreme("refused", people, 20, refused=True), "numba", 20)["sensible"]
