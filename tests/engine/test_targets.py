"""A regression's target in its own scale: row by row beside a chunk at once."""

import numpy as np
import pytest
import tensorflow as tf

from aranyani_tf.engine.targets import TargetUnit, in_unit, scale_along
from aranyani_tf.learning.target_scale import scaled_along


def labels_of(num_rows=200):
    random = np.random.default_rng(0)
    labels = 50_000 + 3_000 * random.normal(size=num_rows)
    return np.where(random.random(num_rows) < 0.2, np.nan, labels)


@pytest.mark.parametrize("start", [[0.0, 0.0, 0.0], [12.0, 49_000.0, 7e7]], ids=["nothing known", "some known"])
@pytest.mark.parametrize("head", [0, 3], ids=["", "missing at first"])
def test_it_is_what_tensorflow_s_step_does_with_a_chunk(start, head):
    labels, moments = labels_of(), np.array(start)
    labels[:head] = np.nan
    expected, (center, spread), after = scaled_along(tf.constant(labels), tf.constant(start, tf.float64))
    learned, units = np.empty(len(labels)), np.empty((len(labels), 2))
    scale_along(labels, moments, learned, units)
    np.testing.assert_allclose(learned, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(units, np.stack([center, spread], axis=1), rtol=1e-12)
    np.testing.assert_allclose(moments, after, rtol=1e-12)
    np.testing.assert_array_equal(np.isnan(learned), np.isnan(labels))


def test_it_makes_no_difference_how_rows_are_cut():
    labels, whole, cut = labels_of(), TargetUnit(np.zeros(3)), TargetUnit(np.zeros(3))
    learned, units = whole.scaled(labels)
    parts = [cut.scaled(piece) for piece in np.split(labels, [1, 2, 50, 51, 120])]
    np.testing.assert_array_equal(learned, np.concatenate([part for part, _ in parts]))
    np.testing.assert_array_equal(units, np.concatenate([part for _, part in parts]))
    np.testing.assert_array_equal(whole.moments, cut.moments)


def test_the_unit_of_now_is_that_of_the_next_row_and_moves_nothing():
    unit = TargetUnit(np.zeros(3))
    np.testing.assert_array_equal(unit.now(), [[0, 1]])
    unit.scaled(np.array([2.0, 4.0]))
    before = unit.moments.copy()
    np.testing.assert_array_equal(unit.now(), [[3, 1]])
    np.testing.assert_array_equal(unit.moments, before)
    np.testing.assert_array_equal(unit.scaled(np.array([9.0]))[1], [[3, 1]])


def test_without_moments_labels_and_answers_are_as_they_come():
    labels, outputs = np.array([1.0, 5.0], "float32"), np.array([[2.0], [3.0]], "float32")
    learned, units = TargetUnit(None).scaled(labels)
    assert learned is labels and units is None and TargetUnit(None).now() is None
    assert in_unit(outputs, None) is outputs


def test_answers_keep_their_type_in_the_target_s_unit():
    found = in_unit(np.array([[1.0], [-1.0]], "float32"), np.array([[10.0, 2.0], [20.0, 4.0]]))
    assert found.dtype == "float32"
    np.testing.assert_array_equal(found, [[12], [16]])
