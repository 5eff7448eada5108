"""Gaps of counted decisions against the metrics of `evaluation`, which TensorFlow computes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

import aranyani_tf as ar
from aranyani_tf.control.decisions import GAPS, count, gap_name, gap_of
from aranyani_tf.errors import ArgumentError
from aranyani_tf.evaluation.metrics import Tables, class_metrics


@settings(max_examples=60, deadline=None)
@given(some.integers(0, 2**32 - 1), some.integers(2, 4), some.integers(2, 5), some.integers(1, 60))
def test_gaps_of_a_table_are_those_of_the_metrics(seed, num_labels, num_groups, num_rows):
    random = np.random.default_rng(seed)
    table = np.zeros((num_labels + 1, num_groups + 1, num_labels))
    labels, groups = random.integers(-1, num_labels, num_rows), random.integers(-1, num_groups, num_rows)
    outputs = random.random((num_rows, num_labels)).astype("float32")
    counted = count(labels.astype("float64"), groups.astype("int32"), outputs, table)
    assert counted == table.sum() == ((labels >= 0) | (groups >= 0)).sum()
    for name in GAPS:
        wanted = float(class_metrics()[name](Tables(table, table.sum(axis=0)[:-1], 1)))
        assert gap_of(table, name) == pytest.approx(0.0 if np.isnan(wanted) else wanted, abs=1e-12)


def test_a_gap_is_shorter_by_its_standard_error():
    table = np.zeros((3, 3, 2))
    table[0, 0], table[0, 1] = (60, 40), (15, 5)
    pooled = 45 / 120
    error = np.sqrt(pooled * (1 - pooled) * (1 / 100 + 1 / 20))
    assert gap_of(table, "demographic_parity", chance=1.0) == pytest.approx(0.4 - 0.25 - error)
    assert gap_of(table, "demographic_parity", chance=9.0) == 0.0


def test_a_notion_whose_gap_is_not_known_is_told():
    class Own(ar.Notion):
        pass

    with pytest.raises(ArgumentError, match="Own is not known; pass the target's metric"):
        gap_name(Own())
    assert [gap_name(notion()) for notion in (ar.DemographicParity, ar.EqualOpportunity, ar.EqualizedOdds)] == [*GAPS]
