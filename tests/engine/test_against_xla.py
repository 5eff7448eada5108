"""The engine beside TensorFlow's step as XLA compiles it, on Adult."""

import numpy as np
import pytest

import aranyani_tf as ar


def learned_by(engine, num_rows, **settings):
    """What is said along the first rows, and the model after them."""
    stream = ar.datasets.load("adult")[:num_rows]
    model = ar.Aranyani(seed=0, **settings)
    model.compile(engine=engine)
    said = model.predict_then_learn(stream.features, stream.labels, stream.groups)
    assert model.engine == engine
    return said, model


@pytest.mark.xla
@pytest.mark.parametrize("constraint", ["node", "leaf", "output"])
def test_both_say_the_same_of_the_first_thousand_rows(constraint):
    (ours, _), (theirs, _) = (learned_by(engine, 1000, constraint=constraint, fairness_weight=100.0)
                              for engine in ("numba", "xla"))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5)


@pytest.mark.xla
def test_both_end_with_the_same_accuracy_and_gap():
    ends = [learned_by(engine, None, fairness_weight=100.0)[1].so_far() for engine in ("numba", "xla")]
    assert ends[0]["rows"] == ends[1]["rows"] > 30_000
    for name in ("accuracy", "demographic_parity", "soft_demographic_parity", "equalized_odds"):
        assert ends[0][name] == pytest.approx(ends[1][name], abs=0.005), name
