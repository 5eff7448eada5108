"""Arguments that cannot be, of models and what is around them: refused by name, before anything is changed."""

import numpy as np
import pandas as pd
import pytest

import aranyani_tf as ar
from engine_rows import SMALL, learned, rows, same


@pytest.fixture(scope="module")
def model():
    made = ar.Aranyani(**SMALL)
    made.predict_then_learn(*rows())
    return made


@pytest.mark.parametrize("held_out", [memoryview(b"ab"), [1, 2], (), (1, 2, 3), [({"features": [[1.0]]}, [0])]],
                         ids=["bytes", "numbers", "nothing", "three", "a list"])
def test_validation_data_is_looked_at_before_anything_is_learned(held_out, model):
    x, y, a = rows()
    before = learned(model)
    with pytest.raises(ar.errors.RowError):
        model.fit({"features": x, "group": a}, y, validation_data=held_out, verbose=0)
    assert same(before, learned(model))


def test_rows_without_a_shape_are_refused_by_a_live_session(model):
    with model.live() as live:
        for row in ([None, [1.0, 2.0, 3.0]], [[1.0], [1.0, 2.0]], object()):
            for call in (lambda row=row: live.predict(row), lambda row=row: live.learn(row, 0, 1)):
                with pytest.raises(ar.errors.RowError, match="features"):
                    call()


@pytest.mark.parametrize("arguments", [
    {"optimizer": -2}, {"optimizer": "a"}, {"optimizer": {}}, {"metrics": 3}, {"metrics": "auc"},
    {"metrics": ["no_metric"]}, {"weighted_metrics": [{}]}], ids=str)
def test_optimizers_and_metrics_that_keras_does_not_know_are_refused(arguments):
    with pytest.raises(ar.errors.ArgumentError):
        ar.Aranyani(**SMALL).compile(**arguments)


def test_a_metric_by_its_name_is_still_keras_own():
    made = ar.Aranyani(**SMALL)
    made.compile(metrics=["AUC", "sparse_categorical_crossentropy"])
    x, y, a = rows()
    history = made.fit({"features": x, "group": a}, y, verbose=0).history
    assert any(name.startswith("auc") for name in history) and "sparse_categorical_crossentropy" in history


@pytest.mark.parametrize("settings", [
    {"num_labels": 2**31}, {"num_groups": 2**40}, {"num_trees": 2**40}, {"num_trees": 10**400},
    {"samples_per_step": 2**31}, {"fairness_weight": np.timedelta64(1, "D")}, {"num_trees": np.timedelta64(1, "D")}],
                         ids=lambda settings: str(settings)[:40])
def test_sizes_that_no_machine_has_room_for_are_refused(settings):
    with pytest.raises(ar.errors.ArgumentError):
        ar.Aranyani(**SMALL | settings).build_for(4)


@pytest.mark.parametrize("call", [
    lambda model: model.predict(rows()[0], on_bad_rows=pd.NA), lambda model: model.predict(rows()[0], on_bad_rows="no"),
    lambda model: model.predict_then_learn(*rows(), on_bad_rows=""), lambda model: ar.recommended(3),
    lambda model: ar.recommended(ar.Stream(*rows()), group_decides="yes"), lambda model: ar.learn_stream(model, 3),
    lambda model: ar.learn_stream(3, ar.Stream(*rows())), lambda model: ar.datasets.load({}),
    lambda model: ar.learn_stream(model, ar.Stream(*rows()), checkpoints=1.5), lambda model: ar.Grove(
        "nan", fairness_weights=[0.1], seeds=[0]), lambda model: ar.datasets.load("synthetic", bias="-1"),
    lambda model: ar.datasets.load("synthetic", num_rows=2**62), lambda model: ar.datasets.load("rate_jumps", rates=3),
    lambda model: ar.datasets.load("rate_jumps", minority=None), lambda model: ar.datasets.load("synthetic", seed="a"),
    lambda model: ar.FairnessMonitor(group_names=2.5), lambda model: ar.FairnessMonitor(num_labels=2**40)])
def test_other_arguments_that_cannot_be_are_refused_by_name(call, model):
    with pytest.raises(ar.errors.ArgumentError):
        call(model)
