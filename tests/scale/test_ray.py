"""On a cluster of this machine: the bytes of one process, on two and four workers, though some are killed."""

import os
import signal

import numpy as np
import pytest

import aranyani_tf as ar
from aranyani_tf.errors import ArgumentError, InUseError, RowError
from aranyani_tf.scale import RayExecutor, Sites, cluster, fit_grove, learn_apart
from harness.experiments import Experiment
from harness.parts import join, part_of, write_part
from harness.runner import run_all
from trials.scale_processes import Killer

STREAM = ar.datasets.load("synthetic", num_rows=400, seed=3)


@pytest.fixture(scope="module", autouse=True)
def four_cores():
    """One cluster for all tests here; it leaves the process as it was."""
    before, handler = dict(os.environ), signal.getsignal(signal.SIGTERM)
    with cluster("local", 4) as num_cores:
        import ray

        assert num_cores == 4 and dict(os.environ) == before
        assert ray.get_runtime_context().gcs_address.startswith("127.0.0.1:")
        yield
    assert signal.getsignal(signal.SIGTERM) == handler


def test_experiments_on_two_workers_give_the_csv_of_one_process_though_one_is_killed(tmp_path):
    experiments = [Experiment("synthetic", (0.0, 0.1), (seed,), rows=200, num_trees=1, height=2) for seed in range(4)]
    killer = Killer(lambda: True)
    killer.start()
    run_all("tried", experiments, results=tmp_path / "ray", processes=2, progress=False, ray="auto")
    assert killer.end()
    files = [part_of(experiment, tmp_path / "one") for experiment in experiments]
    for experiment, file in zip(experiments, files, strict=True):
        write_part(file, experiment.run())
    join(files, tmp_path / "one" / "tried.csv")
    assert (tmp_path / "ray" / "tried.csv").read_bytes() == (tmp_path / "one" / "tried.csv").read_bytes()


def test_a_grove_in_shards_is_the_grove():
    def grove():
        return ar.Grove({"num_trees": 1, "height": 2}, fairness_weights=[0.0, 0.1], seeds=[0, 1, 2])

    whole, sharded = grove(), grove()
    records = whole.fit(STREAM, shuffle=True, verbose=0)
    assert fit_grove(sharded, STREAM, workers=2, shuffle=True, verbose=0).to_csv() == records.to_csv()
    for member in whole.members:
        for ours, theirs in zip(sharded.model(*member).get_weights(), whole.model(*member).get_weights(), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_sites_that_become_one_now_and_then_do_so_on_a_cluster_to_the_bit():
    models = [ar.Aranyani(num_trees=1, height=2, fairness_weight=0.1, seed=0) for _ in range(2)]
    said = [learn_apart(model, STREAM, np.arange(400) % 2, every=100, ray=ray, workers=2 if ray else None)
            for model, ray in zip(models, (None, "auto"), strict=True)]
    np.testing.assert_array_equal(*said)
    for ours, theirs in zip(*(model.get_weights() for model in models), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_an_error_is_that_of_the_function():
    with RayExecutor("auto", 2) as pool, pytest.raises(ArgumentError, match="fairness_weights"):
        pool.submit(ar.Grove, fairness_weights=[], seeds=[]).result()


def make(site):
    return ar.Aranyani(num_trees=1, height=2, fairness_weight=0.1, seed=len(site))


def rows(first, end):
    part = STREAM[first:end]
    return part.features, part.labels, part.groups


def kill_actor(sites, site):
    os.kill(sites.ray.get(sites.actor(site).__ray_call__.remote(lambda self: os.getpid())), signal.SIGKILL)


def test_sites_on_four_actors_lose_nothing_when_one_is_killed(tmp_path):
    names = [f"site {number}" for number in range(6)]
    with Sites(make, tmp_path, actors=4, save_every=60) as sites:
        assert len({sites.actor(name) for name in names}) > 1
        for first in range(0, 400, 50):
            sites.learn_together({name: rows(first, first + 50) for name in names})
            if first == 150:
                kill_actor(sites, names[0])
                np.testing.assert_array_equal(sites.predict(names[0], STREAM.features), undisturbed(names[0], 200))
        with pytest.raises(RowError):
            sites.learn(names[1], *rows(0, 1)[:2], [9])
        with pytest.raises(InUseError, match="another program"), Sites(make, tmp_path, actors=1):
            pass
        for name in names:
            np.testing.assert_array_equal(sites.predict(name, STREAM.features), undisturbed(name, 400))
    assert sorted(path.name for path in tmp_path.glob("*.keras")) == [
        f"site%20{number}@000000000400.keras" for number in range(6)]
    assert sites.names() == names


def undisturbed(name, end):
    model = make(name)
    with model.live() as live:
        live.learn(*rows(0, end))
        return live.predict(STREAM.features)
