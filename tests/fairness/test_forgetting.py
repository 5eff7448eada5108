"""Forgetting in time, gaps that may be chance, and groups that are too small."""

import warnings

import keras
import numpy as np
import pytest

import aranyani_tf as ar
from aranyani_tf.evaluation.sentences import told_small_groups

RELEASED = {"penalty": ar.Huber(linear_slope=1.0), "num_trees": 2, "height": 3, "seed": 0}


def jumping_rates(num_rows=8000, minority=0.02, seed=0):
    """Both groups have the same label rate, and that rate jumps half-way: there is no unfairness to find."""
    random = np.random.default_rng(seed)
    groups = (random.random(num_rows) < minority).astype(int)
    late = np.arange(num_rows) >= num_rows // 2
    features = random.normal(size=(num_rows, 6)).astype("float32")
    features[:, 0] = late + 0.1 * features[:, 0]
    features[:, 1] = groups
    labels = (random.random(num_rows) < np.where(late, 0.7, 0.2)).astype(int)
    return ar.Stream(features, labels, groups)


def test_in_time_the_means_of_a_large_and_a_small_group_cover_the_same_past():
    x, y = np.zeros((400, 2), "float32"), np.zeros(400, int)
    groups = (np.arange(400) % 20 == 0).astype(int)  # one row in twenty
    counts = {}
    for forget in ("rows", "time"):
        model = ar.Aranyani(decay=0.05, forget=forget, **RELEASED)
        model.predict_then_learn(x, y, groups)
        counts[forget] = model.statistics.cell_count.numpy()
    np.testing.assert_allclose(counts["rows"], [20, 20 * (1 - 0.95**20)], rtol=1e-6)  # as many rows, so another past
    assert counts["time"].sum() == pytest.approx(20, rel=1e-6)  # twenty rows, whoever they were
    assert counts["time"][1] == pytest.approx(1, abs=0.6)


def test_forgetting_in_time_does_not_depend_on_how_rows_are_cut_into_calls():
    stream = jumping_rates(300)
    whole, cut = (ar.Aranyani(decay=0.01, forget="time", chance=1.0, **RELEASED) for _ in range(2))
    whole.predict_then_learn(stream.features, stream.labels, stream.groups)
    for start in range(0, 300, 60):
        piece = stream[start : start + 60]
        cut.predict_then_learn(piece.features, piece.labels, piece.groups)
    for one, other in zip(whole.get_weights(), cut.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_forgetting_rows_creates_a_gap_where_there_is_none_and_time_with_chance_does_not():
    """The late gap of a 2 % group when a label rate that both groups share jumps."""
    stream = jumping_rates(20_000)
    late = {}
    for name, settings in {"rows": {"decay": 0.01},
                           "time": {"decay": 0.001, "forget": "time", "chance": 2.0}}.items():
        grove = ar.Grove({"constraint": "output", "penalty": ar.Huber(linear_slope=1.0), **settings},
                         fairness_weights=[1.0], seeds=[0, 1])
        late[name] = grove.fit(stream, checkpoints=[20_000], verbose=0)["late_demographic_parity"].to_numpy()
    assert (late["time"] < 0.5 * late["rows"]).all(), late


def test_a_gap_within_chance_moves_nothing():
    """Two groups of the same distribution: with z = 4 the run is that of λ = 0."""
    random = np.random.default_rng(0)
    x, y, a = random.normal(size=(500, 3)).astype("float32"), random.integers(0, 2, 500), random.integers(0, 2, 500)
    careful, plain, unfair = (ar.Aranyani(fairness_weight=weight, chance=chance, constraint="output", **RELEASED)
                              for weight, chance in ((1.0, 4.0), (1.0, 0.0), (0.0, 0.0)))
    said = [model.predict_then_learn(x, y, a) for model in (careful, plain, unfair)]
    np.testing.assert_allclose(said[0], said[2], atol=1e-6)
    assert np.abs(said[1] - said[2]).max() > 1e-3


def test_a_group_of_a_few_rows_does_not_destroy_the_model():
    stream = ar.datasets.load("synthetic", num_rows=6000, bias=0.0, seed=1)
    groups = np.random.default_rng(0).integers(0, 2, 6000)
    groups[[10, 500, 900]] = [2, 3, 4]  # one row each
    accuracies = {}
    for chance in (0.0, 2.0):
        grove = ar.Grove({"num_groups": 5, "penalty": ar.Huber(linear_slope=1.0), "chance": chance},
                         fairness_weights=[0.0, 1.0], seeds=[0])
        with pytest.warns(UserWarning, match="too few rows to tell a gap from chance"):
            records = grove.fit(ar.Stream(stream.features, stream.labels, groups), checkpoints=[6000], verbose=0)
        accuracies[chance] = records.set_index("fairness_weight")["accuracy"]
    assert accuracies[0.0][1.0] < accuracies[0.0][0.0] - 0.03  # it did
    assert accuracies[2.0][1.0] > accuracies[2.0][0.0] - 0.02


def test_the_warning_names_the_small_group_and_comes_once():
    random = np.random.default_rng(0)
    x, y = random.normal(size=(2000, 3)).astype("float32"), random.integers(0, 2, 2000)
    groups = random.integers(0, 2, 2000)
    groups[:5] = 2
    model = ar.Aranyani(num_groups=3, **RELEASED)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            model.fit(ar.Stream(x, y, groups), verbose=0)
    (told,) = [str(each.message) for each in caught if "too few rows" in str(each.message)]
    assert "group 2 has 5 rows" in told


def test_large_groups_are_not_warned_of():
    counts = np.zeros((3, 3, 2))
    counts[0, :2] = [[5000, 1000], [4000, 900]]
    assert told_small_groups(counts) is None


@pytest.mark.parametrize(("settings", "word"), [
    ({"forget": "time"}, "decay"), ({"forget": "never"}, "forget"), ({"chance": -1}, "chance"),
    ({"chance": "2"}, "chance"), ({"decay": 0.1, "online": False, "samples_per_step": 10}, "decay has no effect")])
def test_settings_that_have_no_effect_or_no_meaning_are_refused(settings, word):
    with pytest.raises(ar.errors.ArgumentError, match=word):
        ar.Aranyani(**settings)


def test_squares_are_kept_and_saved_only_where_chance_needs_them(tmp_path):
    stream = jumping_rates(200)
    model = ar.Aranyani(decay=0.01, forget="time", chance=2.0, **RELEASED)
    model.fit(stream, verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    said = [each.predict_then_learn(stream.features, stream.labels, stream.groups) for each in (model, loaded)]
    np.testing.assert_array_equal(*said)
    assert loaded.forget == "time" and loaded.chance == 2.0
    plain = ar.Aranyani(**RELEASED)
    plain.fit(stream, verbose=0)
    assert not any(weight.name == "square_mean" for weight in plain.weights)


def test_a_grove_member_equals_the_single_model_with_time_and_chance():
    stream = jumping_rates(600)
    settings = {key: value for key, value in RELEASED.items() if key != "seed"} | {
        "decay": 0.01, "forget": "time", "chance": 1.0}
    grove = ar.Grove(settings, fairness_weights=[0.1, 1.0], seeds=[0, 1])
    grove.fit(stream, verbose=0)
    single = ar.Aranyani(**settings, fairness_weight=1.0, seed=1)
    single.fit(stream, verbose=0)
    for one, other in zip(grove.model(1.0, 1).get_weights(), single.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, atol=2e-4)
