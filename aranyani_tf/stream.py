"""A stream: features, labels and groups in the order in which they arrive."""

import numpy as np

from aranyani_tf.chunks import Chunks
from aranyani_tf.rows import as_rows


class Stream:
    """Rows of a stream, held in memory or memory-mapped.

    Args:
        features: (n, feature), float32.
        labels: (n,), whole numbers from 0, −1 where the label is missing; or float32 values with
            NaN for missing ones (regression).
        groups: (n,), whole numbers from 0, −1 where the group is missing.
        name, feature_names, label_names, group_names: for people; messages use them.

    >>> stream = Stream([[0.1, 2.0], [0.3, 4.0], [0.5, 6.0]], [0, 1, 1], [1, 0, 1], name="toy")
    >>> stream
    Stream('toy', 3 rows, 2 features, 2 labels, 2 groups)
    >>> len(stream[:2])
    2
    """

    def __init__(self, features, labels, groups, *, name="stream", feature_names=None,
                 label_names=None, group_names=None):
        self.features, self.labels, self.groups = as_rows(features, labels, groups)
        if np.array_equal(self.groups, np.round(self.groups)):
            self.groups = self.groups.astype(np.int32, copy=False)
        self.name = name
        self.feature_names, self.label_names, self.group_names = (
            None if names is None else tuple(names)
            for names in (feature_names, label_names, group_names))
        if len(self.features) == 0:
            raise ValueError(f"the stream {name!r} is empty")
        if self.feature_names is not None and len(self.feature_names) != self.num_features:
            raise ValueError(f"{len(self.feature_names)} feature names for {self.num_features} features")

    @property
    def num_features(self):
        return self.features.shape[1]

    @property
    def num_labels(self):
        """Number of labels; 1 for a regression target."""
        if self.labels.dtype.kind == "f":
            return 1
        return len(self.label_names) if self.label_names else int(max(self.labels.max(), 1)) + 1

    @property
    def num_groups(self):
        return len(self.group_names) if self.group_names else int(max(self.groups.max(), 1)) + 1

    def __len__(self):
        return len(self.features)

    def __getitem__(self, rows):
        """Some of the rows, as a stream: a slice, indices or a mask."""
        if isinstance(rows, (int, np.integer)):
            rows = slice(rows, rows + 1 or None)
        return Stream(self.features[rows], self.labels[rows], self.groups[rows], name=self.name,
                      feature_names=self.feature_names, label_names=self.label_names,
                      group_names=self.group_names)

    def chunks(self, size=4096):
        """The rows in pieces of `size`, as `Aranyani.fit` takes them."""
        return Chunks.of_arrays(self.features, self.labels, self.groups, size=size,
                                feature_names=self.feature_names)

    def __repr__(self):
        target = "a regression target" if self.num_labels == 1 else f"{self.num_labels} labels"
        return (f"Stream({self.name!r}, {len(self):,} rows, {self.num_features} features, "
                f"{target}, {self.num_groups} groups)")
