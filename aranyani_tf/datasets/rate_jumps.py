"""A seeded stream in which the label's rate jumps, the same for every group."""

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from aranyani_tf.arguments import require_number, require_room, require_seed, require_whole
from aranyani_tf.datasets.synthetic import require_share
from aranyani_tf.errors import ArgumentError
from aranyani_tf.streams.row_rules import LARGEST
from aranyani_tf.streams.stream import Stream


def rate_jumps(num_rows: int = 200_000, num_features: int = 14, minority: float = 0.5,
               rates: Sequence[float] = (0.2, 0.6), jump_every: int = 50_000, bias: float = 1.0,
               seed: int | None = 0) -> Stream:
    """Rows of two groups with the same rate of label 1, which jumps to and fro along the stream.

    Nothing here is unfair: a model that only minds accuracy hardly treats the groups differently. But the
    first half of the features tells the groups apart, so a method can treat them differently if it takes
    the one group's past for a difference between them, as running means do that reach back to different
    times.

    The features are normal; in the first half of them the mean is `bias` standard deviations higher in
    group 0 than in group 1. The label depends on the second half alone, through a noisy linear score.

    Args:
        minority: the share of group 1.
        rates: of label 1, in turn.
        jump_every: how many rows a rate lasts.

    >>> stream = rate_jumps(num_rows=12_000, jump_every=6_000, minority=0.02, seed=1)
    >>> [round(float(part.labels.mean()), 2) for part in (stream[:6000], stream[6000:])]
    [0.2, 0.6]
    """
    for name, value, least in (("num_rows", num_rows, 1), ("num_features", num_features, 2),
                               ("jump_every", jump_every, 1)):
        require_whole(name, value, least)
    require_room("the stream", num_rows * num_features)
    require_number("bias", bias, -LARGEST)
    require_seed(seed)
    require_share("minority", minority, optional=False)
    if isinstance(rates, (str, bytes)) or not isinstance(rates, Sequence) or not rates:
        raise ArgumentError(f"rates must be a list of numbers between 0 and 1, got {rates!r}")
    for rate in rates:
        require_share("each of rates", rate, optional=False)
    random, half = np.random.default_rng(seed), num_features // 2
    groups = (random.random(num_rows) < minority).astype(int)
    features = random.normal(size=(num_rows, num_features))
    weights = random.normal(size=num_features - half)
    weights /= np.linalg.norm(weights)
    score = NormalDist(sigma=np.sqrt(1.25))  # of a weighted sum with variance 1, and noise with 0.25
    thresholds = np.array([score.inv_cdf(1 - rate) for rate in rates])[
        np.arange(num_rows) // int(min(jump_every, num_rows)) % len(rates)]
    labels = features[:, half:] @ weights + 0.5 * random.normal(size=num_rows) > thresholds
    features[:, :half] += bias * (0.5 - groups)[:, None]
    return Stream(features.astype("float32"), labels.astype(int), groups, name="rate_jumps",
                  label_names=("0", "1"), group_names=("0", "1"))
