"""Notions, penalties, constraints and metrics of one's own: what docs/extending.md says works, word for word."""

import re
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

import aranyani_tf as ar
from aranyani_tf.evaluation import metrics
from aranyani_tf.fairness import constraints
from aranyani_tf.interfaces import Constraint

PAGE = (Path(__file__).parents[1] / "docs" / "extending.md").read_text(encoding="utf-8")


def code_of(heading):
    """The first block of Python under a heading of the page."""
    section = re.search(rf"^## {re.escape(heading)}$(.*?)(?=^## |\Z)", PAGE, flags=re.MULTILINE | re.DOTALL)[1]
    return re.search(r"```python\n(.*?)```", section, flags=re.DOTALL)[1]


def defined_by(heading):
    code = code_of(heading)
    assert len(code.splitlines()) <= 35  # some twenty lines each
    found = {"__name__": "extending"}
    exec(compile(code, heading, "exec"), found)
    return found


@pytest.fixture
def registries(monkeypatch):
    """What a test registers is gone after it."""
    monkeypatch.setattr(metrics, "REGISTERED", dict(metrics.REGISTERED))
    monkeypatch.setattr(constraints, "MAKERS", dict(constraints.MAKERS))
    monkeypatch.setattr("aranyani_tf.model.aranyani.MAKERS", constraints.MAKERS)
    monkeypatch.setattr("aranyani_tf.model.settings.MAKERS", constraints.MAKERS)


@pytest.fixture(scope="module")
def stream():
    return ar.datasets.load("synthetic", num_rows=3000, num_features=4, seed=0)


def learned(stream, num_rows=None, **settings):
    model = ar.Aranyani(num_trees=1, height=2, seed=0, **settings)
    model.predict_then_learn(*(array[:num_rows] for array in (stream.features, stream.labels, stream.groups)))
    return model


def test_predictive_parity_is_a_notion_that_looks_at_what_was_said(stream, tmp_path):
    notion = defined_by("A notion of your own")["PredictiveParity"]()
    model = learned(stream, 200, notion=notion, constraint="output")
    said = learned(stream, 200, fairness_weight=0.0, constraint="output").predict(stream.features[:1], verbose=0)
    assert said.shape == (1, 2)
    # The cells hold the rows that were answered by label 1, and nobody else.
    again = ar.Aranyani(num_trees=1, height=2, seed=0, notion=notion, constraint="output")
    said = again.predict_then_learn(stream.features[:200], stream.labels[:200], stream.groups[:200])
    positive = said.argmax(axis=1) == 1
    assert 0 < positive.sum() < 200
    counted = [(positive & (stream.groups[:200] == group)).sum() for group in (0, 1)]
    np.testing.assert_array_equal(again.statistics.cell_count.numpy()[:2], counted)
    model.save(tmp_path / "own.keras")
    assert type(keras.saving.load_model(tmp_path / "own.keras").notion) is type(notion)


def test_a_notion_whose_conditions_do_not_take_the_outputs_is_refused_with_the_way_out():
    class Older(ar.Notion):
        def conditions(self, labels, num_labels):
            return (labels >= 0)[:, None]

    with pytest.raises(ar.errors.ArgumentError, match=r"Older.conditions must take \(self, labels, outputs"):
        ar.Aranyani(notion=Older())


def test_a_penalty_of_one_s_own_trains_and_is_saved(stream, tmp_path):
    penalty = defined_by("A penalty of your own")["Deadband"](width=0.02)
    gaps = tf.constant([-0.5, -0.01, 0.0, 0.01, 0.3], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(gaps)
        value = penalty.value(gaps)
    np.testing.assert_allclose(tape.gradient(value, gaps), penalty.gradient(gaps), atol=1e-12)
    model = learned(stream, penalty=penalty, fairness_weight=1.0)
    assert any((a != b).any() for a, b in zip(
        model.forest.get_weights(), learned(stream, fairness_weight=0.0).forest.get_weights(), strict=True))
    model.save(tmp_path / "own.keras")
    assert keras.saving.load_model(tmp_path / "own.keras").penalty.width == 0.02


def test_a_constraint_of_one_s_own_has_a_name_its_statistics_and_an_effect(stream, tmp_path, registries):
    found = defined_by("A constraint of your own")
    model = learned(stream, constraint="root", fairness_weight=1.0, penalty=ar.Huber(linear_slope=1.0))
    assert isinstance(model.statistics.constraint, found["RootConstraint"])
    assert model.statistics.root_mean.shape == (2, 1)
    decisions = []
    for weight in (0.0, 1.0):
        taught = learned(stream, constraint="root", fairness_weight=weight, penalty=ar.Huber(linear_slope=1.0))
        means = taught.statistics.root_mean.numpy()[:, 0]
        decisions.append(abs(means[0] - means[1]))
    assert decisions[1] < decisions[0] / 2  # the gap at the root
    model.save(tmp_path / "own.keras")
    loaded = keras.saving.load_model(tmp_path / "own.keras")
    np.testing.assert_array_equal(loaded.statistics.root_mean, model.statistics.root_mean)
    with pytest.raises(ar.errors.ArgumentError, match="there is a constraint 'root' already"):
        ar.register_constraint("root", object)
    with pytest.raises(ar.errors.ArgumentError, match="goes with constraint='output'"):
        ar.Aranyani(predictor=keras.Sequential([keras.layers.Dense(2, "softmax")]), constraint="root")


def test_an_unknown_constraint_is_refused_with_those_that_are_known():
    with pytest.raises(ar.errors.ArgumentError, match="'node', 'leaf', 'output'"):
        ar.Aranyani(constraint="roots")


def test_a_metric_of_one_s_own_is_in_fit_in_so_far_and_in_the_records(stream, registries):
    defined_by("A metric of your own")
    model = ar.Aranyani(num_trees=1, height=2, seed=0)
    history = model.fit(stream, verbose=0).history
    records = ar.learn_stream(ar.Aranyani(num_trees=1, height=2, seed=0), stream)
    assert history["precision_gap"][0] == pytest.approx(model.so_far()["precision_gap"], abs=1e-6)
    assert history["precision_gap"][0] == pytest.approx(records["precision_gap"].iloc[-1], abs=1e-5)
    twin = ar.Aranyani(num_trees=1, height=2, seed=0)
    said = twin.predict_then_learn(stream.features, stream.labels, stream.groups).argmax(axis=1)
    rates = [stream.labels[(said == 1) & (stream.groups == group)].mean() for group in (0, 1)]
    assert history["precision_gap"][0] == pytest.approx(abs(rates[0] - rates[1]), abs=1e-6)
    with pytest.raises(ar.errors.ArgumentError, match="there is a metric 'accuracy' already"):
        ar.register_metric("accuracy", lambda tables: 0.0)
    for taken in ("rows", "step", "task_loss", "recent_accuracy", "held_out_precision"):
        with pytest.raises(ar.errors.ArgumentError, match=f"cannot be called '{taken}'"):
            ar.register_metric(taken, lambda tables: 0.0)


@pytest.mark.parametrize("register", [ar.register_metric, ar.register_constraint])
def test_a_notebook_s_cell_may_be_run_twice(register, registries):
    for _ in range(2):
        cell = {"__name__": "notebook"}
        exec("def own(*arguments): ...", cell)
        register("own_thing", cell["own"])
    with pytest.raises(ar.errors.ArgumentError, match="'own_thing' already, of notebook"):
        register("own_thing", print)
    for wrong in ("two words", 5, None):
        with pytest.raises(ar.errors.ArgumentError, match="name must be a word"):
            register(wrong, print)


@pytest.mark.parametrize("name", ["node", "leaf", "output", "summed_output"])
def test_the_constraints_of_the_package_have_every_method_of_the_interface(name):
    wanted = {method for method in vars(Constraint) if not method.startswith("_")}
    assert wanted <= set(dir(constraints.MAKERS[name]))
