"""Looks for parameters that come near a bound, or beyond it: random draws, then the best of them, improved."""

import numpy as np


def largest(ratio, num_parameters, *, seed, rounds=40, population=60, spread=3.0):
    """The largest value that was found of `ratio`, a function of (candidate, parameter) that gives (candidate,).

    An evolution strategy: it needs no gradient, so it is no copy of what is tested. Half of the children change
    in a few parameters only, since bounds are often met at corners.
    """
    rng = np.random.default_rng(seed)
    candidates = spread * rng.standard_normal((8 * population, num_parameters))
    values = np.asarray(ratio(candidates))
    width = spread
    for _ in range(rounds):
        kept = np.argsort(values)[::-1][: population // 4]
        parents, of_parents = candidates[kept], values[kept]
        steps = width * rng.standard_normal((population, num_parameters))
        few = rng.random((population, num_parameters)) < max(0.1, 1.5 / num_parameters)
        steps = np.where(few | (np.arange(population) % 2 == 0)[:, None], steps, 0.0)
        children = parents[rng.integers(len(parents), size=population)] + steps
        candidates = np.concatenate([parents, children])
        values = np.concatenate([of_parents, np.asarray(ratio(children))])
        width *= 0.93
    return float(values.max())
