"""Weights of rows through every way in: `fit`, `predict_then_learn`, `live`; files; and what is refused."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import aranyani_tf as ar
from aranyani_tf.baselines.fermi import Fermi
from aranyani_tf.baselines.reservoir import Reservoir
from aranyani_tf.errors import ArgumentError, DivergedError, RowError
from aranyani_tf.fairness.forest_levels import NodeConstraint
from engine_rows import SMALL, learned, pieces, rows, same
from rewind import Rewindable

WEIGHTS = np.random.default_rng(3).choice([0.0, 0.3, 1.0, 5.0], 150)
STREAM = rows(150, missing=0.05)


def model_of(engine="numba", **settings):
    model = ar.Aranyani(**(SMALL | settings))
    model.compile(engine=engine, metrics=["AUC"])
    return model


@pytest.mark.parametrize("settings", [{"constraint": "node"}, {"constraint": "leaf"}, {"constraint": "output"},
                                      {"fairness_weight": ar.ParityTarget(0.05, every=40)},
                                      {"num_labels": 1, "decay": 0.01}], ids=str)
def test_row_by_row_equals_chunks_to_the_last_bit(settings):
    stream = rows(150, num_labels=1) if settings.get("num_labels") == 1 else STREAM
    x, y, a = stream
    models = [ar.Aranyani(**SMALL, **settings) for _ in range(4)]
    models[0].fit({"features": x, "group": a}, y, sample_weight=WEIGHTS, batch_size=64, verbose=0)
    models[1].fit(ar.Stream(*stream), sample_weight=WEIGHTS, verbose=0)
    said = np.concatenate([models[2].predict_then_learn(*piece) for piece in pieces((*stream, WEIGHTS), 7)])
    with models[3].live() as live:
        along = [live.predict_then_learn(*row) for row in zip(*stream, WEIGHTS, strict=True)]
    assert np.array_equal(np.stack(along), said)
    for model in models[1:]:
        assert same(learned(model), learned(models[0]))
    assert models[3].so_far()["rows"] == models[0].so_far()["rows"]


def test_chunks_of_any_size_learn_the_same_by_tensorflows_step():
    x, y, a = STREAM
    model = model_of("xla")
    rewindable, ends = Rewindable(model, x.shape[1]), []
    for learn in (lambda: model.fit({"features": x, "group": a}, y, sample_weight=WEIGHTS, batch_size=64, verbose=0),
                  lambda: model.fit(ar.Stream(*STREAM), sample_weight=WEIGHTS, verbose=0),
                  lambda: model.predict_then_learn(*STREAM, WEIGHTS)):
        rewindable.rewind()
        learn()
        ends.append(learned(model))
    for end in ends[1:]:
        for ours, theirs in zip(end, ends[0], strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5)


@pytest.mark.parametrize("engine", ["numba", "xla"])
def test_a_saved_model_goes_on_as_if_nothing_had_happened(engine, tmp_path):
    (first, second), model = pieces((*STREAM, WEIGHTS), 75), model_of(engine)
    rewindable = Rewindable(model, STREAM[0].shape[1])
    model.predict_then_learn(*first)
    model.predict_then_learn(*second)
    whole, so_far, counts = learned(model), model.so_far(), model.statistics.cell_count.numpy()
    rewindable.rewind().predict_then_learn(*first)
    model.save(tmp_path / "model.keras")
    resumed = keras.saving.load_model(tmp_path / "model.keras")
    resumed.predict_then_learn(*second)
    assert same(learned(resumed), whole) and resumed.so_far() == so_far
    assert not np.array_equal(counts, np.round(counts))


def test_metrics_count_rows_and_not_weights():
    x, y, a = rows(150)
    weights = np.where(WEIGHTS == 0, 2.0, WEIGHTS)
    model = model_of()
    said = model.predict_then_learn(x, y, a, weights)
    found = model.so_far()
    assert found["rows"] == 150
    assert found["accuracy"] == pytest.approx((said.argmax(1) == y).mean(), abs=1e-6)


BAD = [(np.nan, "row 4: sample_weight is nan"), (np.inf, "row 4: sample_weight is inf"),
       (-0.5, r"row 4: sample_weight is -0\.5, must be finite, at least 0")]


@pytest.mark.parametrize("engine", ["numba", "xla"])
def test_bad_weights_are_refused_and_change_nothing(engine):
    x, y, a = rows(20)
    model = model_of(engine)
    model.predict_then_learn(x, y, a)
    before, seen = learned(model), model.so_far()
    for value, sentence in BAD:
        weights = np.ones(20)
        weights[4] = value
        with pytest.raises(RowError, match=sentence):
            model.predict_then_learn(x, y, a, weights)
        with pytest.raises(RowError, match=sentence):
            model.fit({"features": x, "group": a}, y, sample_weight=weights, verbose=0)
        with model.live() as live, pytest.raises(RowError, match="sample_weight is"):
            live.learn(x[0], y[0], a[0], value)
    for wrong in (2.0, np.ones(19), np.ones((20, 2))):
        with pytest.raises(RowError, match=r"sample_weight must have shape \(20,\)"):
            model.predict_then_learn(x, y, a, wrong)
    with pytest.raises(RowError, match="sample_weight must be numbers"):
        model.fit({"features": x, "group": a}, y, sample_weight=["much"] * 20, verbose=0)
    assert same(learned(model), before) and model.so_far() == seen


@pytest.mark.parametrize("engine", ["numba", "xla"])
def test_rows_of_bad_weights_can_be_skipped(engine):
    x, y, a = rows(20)
    bad = np.arange(20) % 5 == 2
    model = model_of(engine, on_bad_rows="skip")
    rewindable = Rewindable(model, x.shape[1])
    with pytest.warns(UserWarning, match="skipped 4 of 20 rows; the first: row 2: sample_weight is -1"):
        said = model.predict_then_learn(x, y, a, np.where(bad, -1.0, 2.0))
    with pytest.warns(UserWarning, match="skipped 4 of 20"):  # rows that go through a generator
        model.fit({"features": x, "group": a}, y, sample_weight=np.where(bad, -1.0, 2.0), verbose=0)
    skipped = learned(model)
    expected = rewindable.rewind().predict_then_learn(x[~bad], y[~bad], a[~bad], np.full(16, 2.0))
    assert np.array_equal(said[~bad], expected) and np.isnan(said[bad]).all()
    model.fit({"features": x[~bad], "group": a[~bad]}, y[~bad], sample_weight=np.full(16, 2.0), verbose=0)
    assert same(skipped, learned(model))


@pytest.mark.parametrize("way", ["live", "chunk"])
def test_a_weight_that_makes_the_model_diverge_changes_nothing(way):
    x, y, a = rows(20, num_labels=1)
    model = ar.Aranyani(**SMALL, num_labels=1, scale_target=False)
    model.predict_then_learn(x, y, a)
    before = learned(model)
    model.predict_then_learn(x[:1], [1e10], a[:1])  # by itself it is learned
    assert not same(learned(model), before)
    before = learned(model)
    if way == "chunk":
        with pytest.raises(DivergedError):
            model.predict_then_learn(x[:1], [1e10], a[:1], [1e14])
    else:
        with model.live() as live, pytest.raises(DivergedError):
            live.learn(x[0], 1e10, int(a[0]), 1e14)
    assert same(learned(model), before)


class Unweighted(NodeConstraint):
    def remember(self, memory, trace, membership, labels, groups):
        return super().remember(memory, trace, membership, labels, groups)


class Plain(ar.Aranyani):
    def make_constraint(self, objective, num_features):
        return Unweighted(self.learner, objective, num_features)


@pytest.mark.parametrize(("model", "named"), [
    (Fermi(**SMALL), "Dependence"), (Reservoir(**SMALL, capacity=20), "StoredSamples"), (Plain(**SMALL), "Unweighted")])
def test_what_has_no_use_for_weights_says_so_before_it_learns(model, named):
    x, y, a = rows(20)
    told = f"{named} cannot learn from rows that have weights, its remember takes no row_weights"
    for learn in (lambda: model.predict_then_learn(x, y, a, np.ones(20)),
                  lambda: model.fit({"features": x, "group": a}, y, sample_weight=np.ones(20), verbose=0)):
        with pytest.raises(ArgumentError, match=told):
            learn()
    assert model.so_far()["rows"] == 0
    model.predict_then_learn(x, y, a)


def test_a_datasets_rows_take_no_weights():
    x, y, a = rows(20)
    batches = tf.data.Dataset.from_tensor_slices(({"features": x, "group": a}, y)).batch(5)
    with pytest.raises(ArgumentError, match="sample_weight goes with rows in memory"):
        ar.Aranyani(**SMALL).fit(batches, sample_weight=np.ones(20), verbose=0)
    with pytest.raises(RowError, match="a batch must be"):
        ar.Aranyani(**SMALL).fit(batches.map(lambda inputs, labels: (inputs, labels, labels)), verbose=0)
