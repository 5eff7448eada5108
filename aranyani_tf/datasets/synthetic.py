"""A seeded, biased stream for examples, tests and benchmarks."""

import numpy as np

from aranyani_tf.arguments import require_number, require_room, require_seed, require_whole
from aranyani_tf.errors import ArgumentError
from aranyani_tf.streams.row_rules import LARGEST
from aranyani_tf.streams.stream import Stream


def synthetic(num_rows: int = 10_000, num_features: int = 14, num_labels: int = 2, num_groups: int = 2,
              bias: float = 1.0, seed: int | None = 0, drift_at: float | None = None,
              minority: float | None = None) -> Stream:
    """Rows whose label depends on features that also tell the groups apart.

    Every feature is normal; in the first half of them (at least one) the mean shifts with the
    group by up to `bias` standard deviations. The label is the largest of `num_labels` noisy linear
    scores, so a model that only minds accuracy treats the groups differently, and one can tell how
    much fairness costs. The groups are of unequal size: group k has about twice the rows of k + 1; with
    `minority`, a share of the rows, the last group has that one, and the others share the rest evenly.

    With `drift_at`, a share of the stream, the shift turns round there: the group that had the higher
    share of the last label then has the lower one. `rate_jumps` is another stream that changes.

    >>> synthetic(num_rows=1000, seed=1)
    Stream('synthetic', 1,000 rows, 14 features, 2 labels, 2 groups)
    """
    for name, value, least in (("num_rows", num_rows, 1), ("num_features", num_features, 1),
                               ("num_labels", num_labels, 2), ("num_groups", num_groups, 2)):
        require_whole(name, value, least)
    require_room("the stream", num_rows * (num_features + num_labels))
    require_room("the weights", num_features * num_labels)
    require_share("drift_at", drift_at)
    require_number("bias", bias, -LARGEST)
    require_seed(seed)
    random = np.random.default_rng(seed)
    groups = random.choice(num_groups, size=num_rows, p=group_sizes(num_groups, minority))
    num_shifted = max(num_features // 2, 1)
    features = random.normal(size=(num_rows, num_features))
    turned = np.arange(num_rows) >= (1 if drift_at is None else drift_at) * num_rows
    shift = bias * (0.5 - groups / (num_groups - 1)) * np.where(turned, -1, 1)
    features[:, :num_shifted] += shift[:, None]
    weights = random.normal(size=(num_features, num_labels)) / np.sqrt(num_features)
    weights[:num_shifted, -1] = np.abs(weights[:num_shifted, -1])  # so that the shift favours group 0
    scores = features @ weights + 0.5 * random.normal(size=(num_rows, num_labels))
    return Stream(features.astype("float32"), scores.argmax(axis=1), groups, name="synthetic",
                  label_names=[str(label) for label in range(num_labels)],
                  group_names=[str(group) for group in range(num_groups)])


def group_sizes(num_groups: int, minority: float | None) -> np.ndarray:
    """The groups' shares of the rows."""
    require_share("minority", minority)
    if minority is None:
        sizes = 0.5 ** np.arange(num_groups)
        return sizes / sizes.sum()
    return np.array([(1 - minority) / (num_groups - 1)] * (num_groups - 1) + [minority])


def require_share(name: str, value: float | None, optional: bool = True) -> None:
    if value is None and optional:
        return
    try:
        require_number(name, value, 0, 1, above=True, below=True)
    except ArgumentError:
        way_out = ", or be None" if optional else ""
        raise ArgumentError(f"{name} must lie between 0 and 1{way_out}; got {value!r}") from None
