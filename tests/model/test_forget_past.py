"""`forget_past`: the running means begin anew, and nothing else does; in a live session as outside of one."""

import numpy as np
import pytest

import aranyani_tf as ar
from aranyani_tf.errors import InUseError
from engine_rows import SMALL, learned, rows, same


def trained(**settings):
    model = ar.Aranyani(**SMALL | settings)
    model.predict_then_learn(*rows(20))
    return model


@pytest.mark.parametrize("settings", [
    {}, {"constraint": "leaf"}, {"constraint": "output", "chance": 1.0, "wait_for_all_groups": True}],
    ids=["node", "leaf", "output"])
def test_live_and_ordinary_models_forget_the_same_and_go_on_the_same(settings):
    model, expected = trained(**settings), trained(**settings)
    seen, kernel = expected.statistics.group_count.numpy(), expected.forest.node_kernel.numpy()
    steps = int(expected.optimizer.iterations.numpy())
    expected.forget_past()
    kept = [weight for weight in expected.statistics.weights if weight.name != "group_count"]
    assert not any(weight.numpy().any() for weight in kept) and len(kept) >= 4
    np.testing.assert_array_equal(expected.statistics.group_count.numpy(), seen)
    np.testing.assert_array_equal(expected.forest.node_kernel.numpy(), kernel)
    assert expected.so_far()["rows"] == 20 and int(expected.optimizer.iterations.numpy()) == steps > 0
    x, y, a = rows(8, seed=1)
    with model.live() as live:
        live.forget_past()
        said = live.predict_then_learn(x, y, a)
    np.testing.assert_array_equal(said, expected.predict_then_learn(x, y, a))
    assert same(learned(model), learned(expected))
    assert expected.statistics.cell_count.numpy().sum() == 8


def test_a_model_whose_means_were_never_there_forgets_nothing_and_a_session_owns_its_own():
    model = ar.Aranyani(**SMALL)
    model.forget_past()
    assert not model.built
    with model.live() as live:
        live.forget_past()
        live.predict_then_learn(*rows(3))
        with pytest.raises(InUseError, match="a live session owns"):
            model.forget_past()
        live.forget_past()
    assert model.statistics.cell_count.numpy().sum() == 0
    with pytest.raises(InUseError, match="not open"):
        live.forget_past()
