"""Most tests are about what is computed, not about who compiles it, and compiling is nearly all of their time.

So forests learn by the engine, as they do for users, whose code is compiled once for all tests and kept; what it cannot
take is compiled by TensorFlow alone, and graphs are not optimized before they run: the same graph, ready in a fifth of
the time. Tests with the mark `xla` are by TensorFlow's step, compiled by XLA: each level and notion beside the
reference, divergence and what is put back, resuming to the bit, predictors, long streams. Those with the mark
`as_users` have everything as users have it: the engine where it can, XLA elsewhere. XLA's own passes are all there, but
its machine code is not made faster by LLVM, which takes up to a third of its time, here and in processes that tests
start; `XLA_FLAGS=--xla_backend_optimization_level=3 make test` is without this.

Only tests with the mark `network` may reach another machine (tests/support/no_network.py). Data out of packages is
taken from the cache, and its tests are skipped where it is not there (tests/support/fetched.py).
"""

import gc
import os
from contextlib import nullcontext
from pathlib import Path
from unittest import mock

import pytest

import no_network

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")

# The files that take longest, of each go: they are begun first, so that no worker is left alone with one at the end.
LONGEST = ("reproduce/test_figures.py", "reproduce/test_extending.py", "reproduce/test_numbers.py",
           "reproduce/test_runner_environment.py", "model/test_model.py", "model/test_keras_habits.py",
           "model/test_saving.py", "model/test_sample_weight.py", "model/test_live.py", "tabular/test_tabular_model.py",
           "reproduce/test_theory.py", "reproduce/test_small_groups.py", "reproduce/test_field.py",
           "reproduce/test_claims.py", "model/test_service.py", "reproduce/test_report.py",
           "reproduce/test_field_choice.py", "reproduce/test_reproduce.py", "reproduce/test_runner_streams.py",
           "model/test_divergence.py",
           "learning/test_against_reference.py", "learning/test_row_weights.py")
TESTS = Path(__file__).parent


def pytest_collection_modifyitems(items):
    order = {TESTS / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path, len(order)))  # which leaves all others in their order


def pytest_configure(config):
    config.addinivalue_line("markers", "xla: models learn by TensorFlow's step, compiled by XLA")
    config.addinivalue_line("markers", "network: may reach other machines; all others are refused it")
    config.addinivalue_line("markers", "as_users: models learn and are compiled by what users get who say nothing")


@pytest.fixture(scope="session", autouse=True)
def graphs_as_they_are():
    import tensorflow as tf

    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})


@pytest.fixture(scope="session", autouse=True)
def little_to_look_through():
    """The `aranyani` command collects garbage before it begins: what hundreds of tests have left is not looked at."""
    gc.freeze()
    with mock.patch.object(gc, "unfreeze"):
        yield


@pytest.fixture(scope="session", autouse=True)
def engine_is_compiled_once(worker_id):
    """By one worker for float32 and by another for float64 meanwhile, where both would compile for float32 else."""
    if worker_id == "master":
        return  # no workers: a test compiles what it needs
    from filelock import FileLock

    from aranyani_tf import Aranyani
    from aranyani_tf.engine.compiler import cache_folder

    is_odd = int(worker_id.removeprefix("gw")) % 2
    for dtype in ("float64", "float32") if is_odd else ("float32", "float64"):
        with FileLock(cache_folder() / f"tests-{dtype}.lock"):
            Aranyani(num_trees=1, height=1, seed=0, dtype=dtype).predict_then_learn([[0.0], [1.0]], [0, 1], [0, 1])


@pytest.fixture(autouse=True)
def without_xla(request, monkeypatch):
    from aranyani_tf import Aranyani

    if request.node.get_closest_marker("xla"):
        monkeypatch.setitem(Aranyani.compile.__kwdefaults__, "engine", "xla")
    elif not request.node.get_closest_marker("as_users"):
        monkeypatch.setitem(Aranyani.compile.__kwdefaults__, "jit_compile", False)


@pytest.fixture(autouse=True)
def without_network(request):
    with no_network.network() if request.node.get_closest_marker("network") else nullcontext():
        yield
