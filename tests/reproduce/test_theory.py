"""`reproduce/theory.py` on a few rows: what it leaves, and that nothing is above a bound that should hold."""

import json
from pathlib import Path

import keras
import numpy as np
import pandas as pd
import pytest

import aranyani_tf as ar
import forked
from harness import theory_descent, theory_measures

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("theory")
    done = forked.python(ROOT / "reproduce" / "theory.py", "--rows", "600", "--results", folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_a_run_leaves_records_a_picture_and_a_reading(results):
    assert (results / "theory.png").stat().st_size > 50_000 and (results / "theory.pdf").is_file()
    reading = (results / "README.md").read_text(encoding="utf-8")
    assert "## theory" in reading and "nan" not in reading and "Numbers above a corrected bound: 0." in reading
    (run,) = json.loads((results / "environment.json").read_text(encoding="utf-8"))
    assert run["made"] == ["theory"] and run["rows"] == 600


def test_the_records_are_tidy_and_below_the_bounds_that_hold(results):
    found = pd.read_csv(results / "theory.csv")
    assert list(found.columns) == ["panel", "height", "seed", "step", "node", "quantity", "value", "bound_printed",
                                   "bound_corrected", "bound_of_data"]
    assert set(found["panel"]) == set("abcd") and found["value"].notna().all()
    assert not found.duplicated(["panel", "height", "seed", "step", "node", "quantity"]).any()
    assert set(found.loc[found["panel"] == "a", "height"]) == set(range(2, 7))
    nodes = found[(found["panel"] == "b") & (found["step"] == 600)].groupby(["height", "quantity"])["node"].nunique()
    assert all(count == 2**height - 1 for (height, _), count in nodes.items())
    for column in ("bound_corrected", "bound_of_data"):
        assert not (found["value"] > found[column]).any()


def test_what_the_model_holds_are_the_means_while_its_weights_stay():
    """Without steps, the running means are those of all rows at the present weights: the error is rounding."""
    stream = ar.datasets.load("adult")[:200]
    model = ar.Aranyani(num_trees=1, height=3, fairness_weight=0.1, seed=1)
    model.compile(optimizer=keras.optimizers.SGD(0.0))
    model.predict_then_learn(stream.features, stream.labels, stream.groups)
    weights, _ = theory_measures.tree_of(model)
    exact = theory_measures.gaps.node_gaps(weights, theory_measures.with_ones(stream.features), stream.groups)
    for held, now in zip(theory_measures.held_gaps(model), exact, strict=True):
        np.testing.assert_allclose(held, now, atol=1e-5)


def test_the_exact_gradient_is_that_of_the_objective_s_central_differences():
    stream, rng = ar.datasets.load("adult")[:100], np.random.default_rng(0)
    rows = theory_descent.Rows(theory_measures.with_ones(stream.features), stream.labels, stream.groups)
    weights, logits = rng.standard_normal((3, 15)), rng.standard_normal((4, 2))
    found, variance = theory_descent.exact_gradient(weights, logits, rows)
    direction = rng.standard_normal(found.size)
    by_node, by_leaf = direction[:45].reshape(3, 15), direction[45:].reshape(4, 2)
    ahead, behind = (theory_descent.objective(weights + step * by_node, logits + step * by_leaf, rows)
                     for step in (1e-6, -1e-6))
    assert found @ direction == pytest.approx((ahead - behind) / 2e-6, rel=1e-6)
    assert variance > 0
