"""Running means of two streams as one, and the mean of models that learned apart; no Ray."""

import keras
import numpy as np
import pytest

import aranyani_tf as ar
from aranyani_tf.errors import ArgumentError, RowError
from aranyani_tf.scale import average, learn_apart, merge_statistics
from aranyani_tf.scale.merging import arrays_of

STREAM = ar.datasets.load("synthetic", num_rows=600, num_groups=3, seed=1)


def model(**settings):
    return ar.Aranyani(**({"num_trees": 2, "height": 2, "num_groups": 3, "fairness_weight": 0.1, "seed": 0} | settings))


def learn(learner, rows):
    return learner.predict_then_learn(rows.features, rows.labels, rows.groups)


def watched(rows, **settings):
    """A model that sees rows, and whose weights stand still."""
    found = model(**settings)
    found.compile(keras.optimizers.SGD(0.0))
    learn(found, rows)
    return found


@pytest.mark.parametrize("settings", [
    {}, {"constraint": "leaf", "notion": "equalized_odds"}, {"constraint": "output", "chance": 2.0},
    {"wait_for_all_groups": True}])
def test_the_statistics_of_two_streams_are_those_of_their_union(settings):
    parts = [watched(rows, **settings) for rows in (STREAM[:150], STREAM[150:])]
    merged, union = merge_statistics(*parts), watched(STREAM, **settings).statistics.read()
    assert len(merged.squares) == len(union.squares) == ("chance" in settings)
    np.testing.assert_array_equal(merged.cell_count, union.cell_count)
    np.testing.assert_array_equal(merged.group_count, union.group_count)
    for ours, theirs in zip(arrays_of(merged), arrays_of(union), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=2e-6)
    own = parts[0].statistics.read()
    assert np.abs(np.asarray(merged.values) - np.asarray(own.values)).max() > 1e-4  # neither part alone would do


def test_what_both_knew_before_they_parted_counts_once():
    common = watched(STREAM[:200]).statistics.read()
    parts = []
    for rows in (STREAM[200:300], STREAM[300:]):
        parts.append(watched(STREAM[:200]))
        learn(parts[-1], rows)
    merged, union = merge_statistics(*parts, since=common), watched(STREAM).statistics.read()
    average(parts, since=common)
    for found in (merged, parts[1].statistics.read()):
        for ours, theirs in zip(arrays_of(found), arrays_of(union), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=2e-6)


def test_a_cell_that_nobody_has_seen_stays_unseen():
    rows = STREAM[STREAM.groups == 1]
    merged = merge_statistics(watched(rows[:50]), watched(rows[50:]))
    assert merged.cell_count[0] == 0 and not merged.values[0].any()


@pytest.mark.parametrize(("settings", "told"), [
    ({"decay": 0.01}, "decay=0.01"), ({"online": False, "samples_per_step": 10}, "online=False"),
    ({"fairness_weight": ar.ParityTarget(0.05), "decay": None}, "decay|ParityTarget")])
def test_what_has_no_plain_means_is_refused(settings, told):
    with pytest.raises(ArgumentError, match=told):
        merge_statistics(watched(STREAM[:100], **settings), watched(STREAM[100:200], **settings))


def test_models_that_do_not_fit_are_refused():
    with pytest.raises(ArgumentError, match="other shapes"):
        merge_statistics(watched(STREAM), watched(STREAM, height=3))
    with pytest.raises(ArgumentError, match="no statistics"):
        merge_statistics(watched(STREAM), model())
    with pytest.raises(ArgumentError, match="not all 0"):
        average([watched(STREAM), watched(STREAM)], rows=[0, 0])
    with pytest.raises(ArgumentError, match="different shapes"):
        average([watched(STREAM), watched(STREAM, height=3)])


def test_the_mean_of_models_has_the_mean_of_weights_and_moments():
    parts = [model() for _ in range(2)]
    learn(parts[0], STREAM[:100])
    learn(parts[1], STREAM[100:400])
    before = [[each.numpy() for each in (*part.forest.weights, *part.optimizer.variables)] for part in parts]
    average(parts, rows=[100, 300])
    for part in parts:
        after = [each.numpy() for each in (*part.forest.weights, *part.optimizer.variables)]
        for first, second, mean in zip(*before, after, strict=True):
            wanted = np.maximum(first, second) if mean.dtype.kind == "i" else first / 4 + 3 * second / 4
            np.testing.assert_allclose(mean, wanted, rtol=1e-5, atol=1e-7)
    assert parts[0].optimizer.iterations.numpy() == 300
    assert parts[0].statistics.cell_count.numpy().max() == 400  # the cell of all rows


def test_sites_that_become_one_after_every_row_are_one_central_stream():
    central, apart = model(), model()
    said = learn(central, STREAM[:80])
    np.testing.assert_allclose(learn_apart(apart, STREAM[:80], np.arange(80) % 3, every=1), said, atol=1e-6)
    for ours, theirs in zip(apart.get_weights(), central.get_weights(), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_sites_that_never_become_one_are_models_of_their_own():
    sites = np.array(["north", "south"])[np.arange(len(STREAM)) % 2]
    said = learn_apart(model(), STREAM, sites, every=len(STREAM))
    for name in ("north", "south"):
        np.testing.assert_array_equal(said[sites == name], learn(model(), STREAM[sites == name]))
    assert (learn_apart(model(), STREAM, sites, every=100) != said).any()


def test_rows_without_a_site_are_refused():
    with pytest.raises(RowError, match="one for each of 600 rows"):
        learn_apart(model(), STREAM, np.zeros(599), every=100)
    with pytest.raises(ArgumentError, match="samples_per_step"):
        learn_apart(model(samples_per_step=10), STREAM, np.zeros(600), every=100)
