"""What thresholds by group are given and cannot use: refused before anything has learned from it."""

import numpy as np
import pandas as pd
import pytest

import aranyani_tf as ar
from engine_rows import SMALL, learned, rows, same


@pytest.mark.parametrize("values", ["[0 1]", [0.2, None], np.array([1j]), [[0.1], [0.1, 0.2]], np.datetime64(1, "D")],
                         ids=str)
def test_what_are_no_probabilities_labels_or_groups_is_refused(values):
    fair = ar.GroupThresholds(target=0.05)
    for call in (lambda: fair.decide(values, [0, 1]), lambda: fair.decide([0.1, 0.2], values),
                 lambda: fair.decide_then_learn([0.1, 0.2], values, [0, 1]),
                 lambda: fair.learn([0, 1], values, [0, 1])):
        with pytest.raises(ar.errors.RowError):
            call()
    assert not fair.seen.any()


def test_the_learner_has_not_learned_from_rows_that_are_refused():
    model = ar.Aranyani(**SMALL, num_labels=2)
    x, y, a = rows()
    model.predict_then_learn(x, y, a)
    fair, before = ar.GroupThresholds(model, target=0.05), learned(model)
    with pytest.raises(ar.errors.RowError, match="label is 2"):
        fair.predict_then_learn(x, np.where(y == 1, 2, y), a)
    assert same(before, learned(model))
    with pytest.raises(ar.errors.ArgumentError, match="pass num_groups=3"):
        ar.GroupThresholds(ar.Aranyani(num_groups=3), target=0.05)


def test_rows_that_the_learner_skips_are_not_decided():
    x, y, a = rows(20)
    x[3] = np.nan
    with pytest.warns(UserWarning, match="skipped 1 of 20"):
        said = ar.GroupThresholds(ar.Aranyani(**SMALL, on_bad_rows="skip"), target=0.05).predict_then_learn(x, y, a)
    assert np.isnan(said[3]).all() and np.isfinite(np.delete(said, 3, axis=0)).all()


@pytest.mark.parametrize("state", [None, 3, {"prices": "a"}, {"other": 1}, {"seen": [np.nan, 0]}, {"seen": [1]}, pd.NA],
                         ids=str)
def test_a_state_that_cannot_be_is_refused_as_a_whole(state):
    fair = ar.GroupThresholds(target=0.05)
    fair.decide_then_learn([0.2, 0.7], [0, 1], [0, 1])
    before = fair.get_state()
    with pytest.raises(ar.errors.AranyaniError):
        fair.set_state(state if not isinstance(state, dict) else {"counts": before["counts"] + 1} | state)
    assert all(np.array_equal(before[name], value) for name, value in fair.get_state().items())
