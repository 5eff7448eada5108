"""Numbers too small for a float's exponent count as 0 within the walk, and as ever outside of it."""

import platform

import numpy as np
import pytest

import aranyani_tf as ar
from aranyani_tf.engine.exchange import settings_of
from engine_rows import rows

x86 = pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="MXCSR is x86's")


@x86
def test_no_such_number_stays_in_the_state_and_the_caller_s_mode_is_as_it_was():
    model, (x, y, a) = ar.Aranyani(num_trees=1, height=2, seed=0), rows(200)
    model.compile()
    model.build_for(x.shape[1])
    exchange = model.by_engine
    state = exchange.read(model.statistics, model.optimizer)
    exchange.engine.parts(state).matrix_first[:] = 1e-37  # fades below 1.2e-38 within 20 rows without a gradient
    exchange.engine.parts(state).matrix[:] = 0
    exchange.engine.parts(state).matrix[-1] = 500.0  # every node sends every row left, without a slope
    exchange.engine.learn(state, settings_of(model.optimizer), 0.0, x, y, a)
    size = np.abs(state.numbers)
    assert not ((size > 0) & (size < np.finfo(np.float32).tiny)).any()
    assert np.float32(1e-38) * np.float32(0.1) > 0  # here they are numbers
