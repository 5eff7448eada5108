"""Random streams: nothing is ever NaN, probabilities sum to 1, and the means are means."""

import keras
import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import aranyani_tf as ar

NUM_FEATURES = 3
SETTINGS = settings(max_examples=100, deadline=None, derandomize=True,
                    suppress_health_check=list(HealthCheck))

learning = ar.Aranyani(num_trees=2, height=3, num_labels=3, num_groups=3, seed=0,
                       penalty=ar.Huber(linear_slope=1.0))
frozen = ar.Aranyani(num_trees=2, height=3, num_labels=3, num_groups=3, seed=0)
frozen.compile(keras.optimizers.SGD(0.0))
for each in (learning, frozen):
    each.build((None, NUM_FEATURES))
START = learning.get_weights()


def streams(size):
    """Streams of 1 to 40 rows with features up to `size`, labels and groups of which some are missing."""
    return st.integers(1, 40).flatmap(lambda n: st.tuples(
        st.lists(st.lists(st.floats(-size, size, width=32), min_size=NUM_FEATURES, max_size=NUM_FEATURES),
                 min_size=n, max_size=n),
        st.lists(st.integers(-1, 2), min_size=n, max_size=n),
        st.lists(st.integers(-1, 2), min_size=n, max_size=n)))


@SETTINGS
@given(rows=streams(1e4), fairness_weight=st.sampled_from([0.0, 0.1, 10.0, 1e4]))
def test_no_stream_makes_a_nan_and_probabilities_sum_to_one(rows, fairness_weight):
    learning.set_weights(START)
    learning.fairness_weight = fairness_weight
    for variable in learning.optimizer.variables if learning.compiled else []:
        if "learning_rate" not in variable.path:
            variable.assign(np.zeros(variable.shape, variable.dtype))
    said = learning.predict_then_learn(*map(np.array, rows))
    assert np.isfinite(said).all()
    np.testing.assert_allclose(said.sum(axis=1), 1, atol=1e-5)
    assert all(np.isfinite(weight).all() for weight in learning.get_weights())


@SETTINGS
@given(rows=streams(8))
def test_the_statistics_of_a_frozen_model_are_the_plain_means_of_what_was_seen(rows):
    frozen.statistics.reset()
    x, y, a = np.array(rows[0], "float32"), np.array(rows[1]), np.array(rows[2])
    frozen.predict_then_learn(x, y, a)
    decisions = frozen.forest.node_decisions(x).numpy()
    seen = [a == 0, a == 1, a == 2, a >= 0]  # three groups, and everybody
    np.testing.assert_array_equal(frozen.statistics.cell_count, [rows.sum() for rows in seen])
    for cell, rows in enumerate(seen):
        mean = decisions[rows].mean(axis=0) if rows.any() else np.zeros(decisions.shape[1:])
        np.testing.assert_allclose(frozen.statistics.decision_mean[cell], mean, rtol=0, atol=2e-6)
