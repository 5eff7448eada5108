"""Most tests are about what is computed, not about who compiles it, and compiling is nearly all of their time.

So forests learn by the engine, as they do for users, whose code is compiled once for all tests and kept; what it cannot
take is compiled by TensorFlow alone, and graphs are not optimized before they run: the same graph, ready in a fifth of
the time. Tests with the mark `xla` are by TensorFlow's step, compiled by XLA: each level and notion beside the
reference, divergence and what is put back, resuming to the bit, predictors, long streams.
"""

import os

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")


def pytest_configure(config):
    config.addinivalue_line("markers", "xla: models learn by TensorFlow's step, compiled by XLA")


@pytest.fixture(scope="session", autouse=True)
def graphs_as_they_are():
    import tensorflow as tf

    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})


@pytest.fixture(autouse=True)
def without_xla(request, monkeypatch):
    from aranyani_tf import Aranyani

    if request.node.get_closest_marker("xla") is None:
        monkeypatch.setitem(Aranyani.compile.__kwdefaults__, "jit_compile", False)
    else:
        monkeypatch.setitem(Aranyani.compile.__kwdefaults__, "engine", "xla")
