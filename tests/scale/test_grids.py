"""A grove in shards without Ray: what becomes of the others when one of them fails."""

from concurrent.futures import Future

import pytest

import aranyani_tf as ar
from aranyani_tf.scale import grids


class Pool:
    """The first call fails, the others never end unless they are cancelled."""

    num_workers = 1

    def __init__(self, *_):
        self.futures = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        assert all(future.done() for future in self.futures)

    def put(self, value):
        return value

    def submit(self, *_):
        self.futures.append(Future())
        if len(self.futures) == 1:
            self.futures[0].set_exception(ar.errors.RowError("a label that nobody knows"))
        return self.futures[-1]

    def shutdown(self, wait=True, *, cancel_futures=False):
        assert cancel_futures
        for future in self.futures:
            future.cancel()


def test_an_error_of_one_shard_cancels_the_others(monkeypatch):
    monkeypatch.setattr(grids, "RayExecutor", Pool)
    grove = ar.Grove({"num_trees": 1, "height": 2}, fairness_weights=[0.0, 0.1], seeds=[0])
    with pytest.raises(ar.errors.RowError, match="nobody knows"):
        grids.fit_grove(grove, ar.datasets.load("synthetic", num_rows=50), verbose=0)
