"""Metrics against fairlearn and scikit-learn on the same predictions."""

import numpy as np
import pytest
from fairlearn.metrics import demographic_parity_difference, equal_opportunity_difference, equalized_odds_difference
from sklearn.metrics import accuracy_score

from aranyani_tf.evaluation import metrics, prequential, tallies


def rows(seed, num_groups=2, n=500):
    random = np.random.default_rng(seed)
    labels, groups = random.integers(0, 2, n), random.integers(0, num_groups, n)
    positive = np.clip(random.random(n) * 0.7 + 0.2 * labels - 0.1 * groups, 0.01, 0.99)
    return labels, groups, np.stack([1 - positive, positive], axis=1)


@pytest.mark.parametrize("num_groups", [2, 4])
@pytest.mark.parametrize("seed", range(5))
def test_all_metrics_equal_fairlearn_s(seed, num_groups):
    labels, groups, outputs = rows(seed, num_groups)
    metric = prequential.Prequential(2, num_groups)
    for start in range(0, len(labels), 150):  # in uneven pieces, as a stream comes
        piece = slice(start, start + 150)
        metric.update_state(labels[piece], groups[piece], outputs[piece])
    ours = {name: float(value) for name, value in metric.result().items()}
    predicted = outputs.argmax(1)
    assert ours["accuracy"] == pytest.approx(accuracy_score(labels, predicted), abs=1e-6)
    for name, function in (("demographic_parity", demographic_parity_difference),
                           ("equal_opportunity", equal_opportunity_difference),
                           ("equalized_odds", equalized_odds_difference)):
        assert ours[name] == pytest.approx(
            function(labels, predicted, sensitive_features=groups), abs=1e-6), name
    means = [outputs[groups == g, 1].mean() for g in range(num_groups)]
    assert ours["soft_demographic_parity"] == pytest.approx(max(means) - min(means), abs=1e-6)


def test_missing_labels_and_groups_are_left_out_where_they_are_missing():
    labels, groups, outputs = rows(0)
    known = prequential.Prequential(2, 2)
    known.update_state(labels, groups, outputs)
    padded = prequential.Prequential(2, 2)
    padded.update_state(np.append(labels, [-1] * 3), np.append(groups, [-1] * 3),
                        np.concatenate([outputs, outputs[:3]]))
    assert {k: float(v) for k, v in known.result().items()} == {k: float(v) for k, v in padded.result().items()}

    hidden = np.where(np.arange(len(labels)) % 3 == 0, -1, labels)
    partly = prequential.Prequential(2, 2)
    partly.update_state(hidden, groups, outputs)
    seen = hidden >= 0
    predicted = outputs.argmax(1)
    assert float(partly.result()["accuracy"]) == pytest.approx(
        accuracy_score(labels[seen], predicted[seen]), abs=1e-6)
    assert float(partly.result()["demographic_parity"]) == float(known.result()["demographic_parity"])


def test_tables_of_two_parts_add_up_to_the_table_of_both():
    labels, groups, outputs = rows(0)
    predicted = outputs.argmax(1)
    sizes = {"num_labels": 2, "num_groups": 2}
    whole = tallies.tally(labels, groups, predicted, **sizes)
    parts = [tallies.tally(labels[s], groups[s], predicted[s], **sizes) for s in (slice(200), slice(200, None))]
    np.testing.assert_array_equal(whole, parts[0] + parts[1])
    stacked = np.stack(parts)  # leading axes: two tables at once
    np.testing.assert_allclose(metrics.equalized_odds(stacked), [metrics.equalized_odds(p) for p in parts])


def test_nothing_seen_and_one_group_seen_have_no_gap_that_could_be_known():
    metric = prequential.Prequential(2, 2)
    assert all(np.isnan(float(value)) for value in metric.result().values())
    metric.update_state([1, 0], [0, 0], [[0.1, 0.9], [0.2, 0.8]])
    assert np.isnan(float(metric.result()["demographic_parity"]))
    assert float(metric.result()["accuracy"]) == 0.5


def test_recent_metrics_forget_and_do_not_depend_on_how_rows_are_cut():
    random = np.random.default_rng(0)
    labels, groups, outputs = random.integers(0, 2, 9000), random.integers(0, 2, 9000), random.random((9000, 2))
    outputs[:6000, 1] = 2 * labels[:6000]  # right at first, then a coin
    labels[4000:4500], groups[4000:4500] = -1, -1  # rows of which nothing is known make nothing fade
    whole, cut = prequential.Prequential(), prequential.Prequential()
    whole.update_state(labels, groups, outputs.astype("float32"))
    for start in range(0, 9000, 700):
        here = slice(start, start + 700)
        cut.update_state(labels[here], groups[here], outputs[here].astype("float32"))
    for name, value in whole.result().items():
        assert float(value) == pytest.approx(float(cut.result()[name]), abs=1e-4), name
    known = labels >= 0
    weights = known * (1 - 1 / 2000) ** (known.sum() - np.cumsum(known))
    right = outputs.argmax(axis=1) == labels
    assert float(whole.result()["recent_accuracy"]) == pytest.approx((weights * right).sum() / weights.sum(), abs=1e-4)
    assert float(whole.result()["recent_accuracy"]) < float(whole.result()["accuracy"]) - 0.05
