"""Aranyani as a classifier of River: dicts in, labels by name out, one row at a time."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from river import base

from aranyani_tf.adapters.named_features import NamedFeatures, first_direction, require_numbers
from aranyani_tf.adapters.names import Names, all_or_none
from aranyani_tf.adapters.resident import Resident
from aranyani_tf.adapters.weights import weights_of
from aranyani_tf.arguments import require_whole
from aranyani_tf.errors import ArgumentError, RowError
from aranyani_tf.model.aranyani import Aranyani

Row = Mapping[Hashable, Any]


class AranyaniClassifier(base.MiniBatchClassifier):
    """A fair oblique forest for River's pipelines, as fast as `Aranyani.live`.

    The group is a keyword of `learn_one`, which River's pipelines and `progressive_val_score` hand on; nothing else
    needs it. Features are numbers, and best of a similar size: put a `StandardScaler` in front.

    A feature has a place from the first row on in which it was learned, with split directions that depend on the seed
    and its name alone; a feature that is absent counts 0. So a feature that appears later finds the model that it
    would have found if it had always been there, as 0: rows without it get the same answers as before, to the last
    bit. In a prediction, features that were never learned are left out.

    Args:
        num_trees, height: of the forest.
        fairness_weight: λ; it may be changed at any time.
        notion, constraint, penalty, decay, forget, chance: those of `Aranyani`.
        num_labels: how many labels there may be; None is 2, or as many as `labels`. Each label, of whatever kind,
            gets a code when it appears: False and 0 are 0, True and 1 are 1, others get what is free. Notions that
            look at the label take code 1 as the positive one.
        labels: their names in the order of their codes, where they are known: `("no", "yes")`.
        num_groups: how many groups there may be, of whatever kind.
        max_features: how many features there may be; more are refused, since each takes memory for good.
        learning_rate: of Adam.
        seed: of the initial weights.

    >>> from river import preprocessing
    >>> model = preprocessing.StandardScaler() | AranyaniClassifier(seed=0)
    >>> model.learn_one({"age": 31, "hours": 40}, "no", group="f")
    >>> model.learn_one({"age": 50, "hours": 60}, "yes", group="m")
    >>> sorted(model.predict_proba_one({"age": 44, "hours": 38}))
    ['no', 'yes']
    """

    def __init__(self, num_trees: int = 3, height: int = 4, *, fairness_weight: float = 10.0,
                 notion: Any = "demographic_parity", constraint: str | None = None, penalty: Any = None,
                 decay: float | None = None, forget: str = "rows", chance: float = 0.0,
                 num_labels: int | None = None, labels: Sequence[Hashable] | None = None, num_groups: int = 2,
                 max_features: int = 1000, learning_rate: float = 2e-3, seed: int | None = None) -> None:
        count = len(labels or (0, 1)) if num_labels is None else num_labels
        require_whole("num_labels", count, 2)
        if labels is not None and len(labels) != count:
            raise ArgumentError(f"num_labels is {count}, but labels are {len(labels)}; leave num_labels out")
        require_whole("max_features", max_features, 1)
        self.num_trees, self.height, self.notion, self.constraint = num_trees, height, notion, constraint
        self.penalty, self.decay, self.forget, self.chance = penalty, decay, forget, chance
        self.num_labels, self.labels, self.num_groups = num_labels, labels, num_groups
        self.max_features, self.learning_rate, self.seed = max_features, learning_rate, seed
        self._drawn_seed = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed
        self._forest = Resident(
            learning_rate, num_labels=count, num_trees=num_trees, height=height, fairness_weight=fairness_weight,
            notion=notion, constraint=constraint, penalty=penalty, num_groups=num_groups, decay=decay, forget=forget,
            chance=chance, seed=self._drawn_seed)
        self._features = NamedFeatures(max_features)
        self._labels, self._groups = Names("label", count, labels), Names("group", num_groups)

    @property
    def fairness_weight(self) -> float:
        return self._forest.model.fairness_weight

    @fairness_weight.setter
    def fairness_weight(self, value: float) -> None:
        self._forest.model.fairness_weight = value

    @property
    def model(self) -> Aranyani:
        """The model itself, to be looked at or saved: `model.so_far()` has the metrics of all rows so far."""
        return self._forest.flushed()

    @property
    def _mutable_attributes(self) -> set[str]:
        return {"fairness_weight"}

    @property
    def _multiclass(self) -> bool:
        return len(self._labels.places) > 2

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"num_trees": 2, "height": 2}
        yield {"num_trees": 2, "height": 2, "num_labels": 7}  # as many as River's own stream of images has

    def learn_one(self, x: Row, y: Any, group: Any = None, w: float = 1.0) -> None:
        """Learns from a row.

        Args:
            x: its features.
            y: its label; None if it is not known.
            group: its group; None if it is not known.
            w: how much it counts: a row of weight 3 pulls three times as hard as one of weight 1, and counts for the
                running means as three rows do.
        """
        weight = None
        if w != 1.0 and (found := weights_of("w", w, 1)) is not None:
            (weight,) = found
        codes = self._codes_if_known(x, y, group) or self._take_in(x, y, group)
        try:
            self._forest.learn(self._features.row(x), *codes, weight)
        except RowError:
            require_numbers(x)  # which knows the feature's name
            raise

    def _codes_if_known(self, x: Row, y: Any, group: Any) -> tuple[int, int] | None:
        """The label's and the group's code if there is nothing new in a row: nearly always, and in a microsecond."""
        try:
            codes = self._labels.codes[y], self._groups.codes[group]
        except (KeyError, TypeError):
            return None
        return codes if self._forest.num_features and x.keys() <= self._features.place_of.keys() else None

    def _take_in(self, x: Row, y: Any, group: Any) -> tuple[int, int]:
        """Whatever is new in a row gets its place, if all of it can; the label's and the group's code."""
        require_numbers(x)
        with all_or_none(self._labels, self._groups):
            codes = self._labels.code(y), self._groups.code(group)
            self._place_features(x)
        return codes

    def learn_many(self, X: pd.DataFrame, y: Any, groups: Any = None, w: Any = None) -> None:
        """Learns from the rows of a data frame, in order: the same as `learn_one` for each, to the last bit.

        Args:
            X: a column for each feature.
            y: their labels; None or NaN where a label is not known.
            groups: their groups, likewise; None if none is known.
            w: how much each counts, or all of them.
        """
        weights = weights_of("w", w, len(X))
        if not len(X):
            return
        with all_or_none(self._labels, self._groups):
            self._features.rows(X)  # which raises if they cannot be used
            labels = self._labels.codes_of(y)
            codes = np.full(len(X), -1, np.int32) if groups is None else self._groups.codes_of(groups)
            self._place_features(X.columns)
            self._forest.learn(self._features.rows(X), labels, codes, weights)

    def _place_features(self, names: Iterable[Hashable]) -> None:
        """Gives features that are new a place, and first directions."""
        new, forest, shape = self._features.new(names), self._forest, (self.num_trees, 2**self.height - 1)
        places = self._features.add(new)
        if forest.num_features != self._features.width:
            forest.make_room(self._features.width)
        if new:
            forest.set_directions({place: first_direction(self._drawn_seed, name, shape)
                                   for place, name in zip(places, new, strict=True)})

    def predict_proba_one(self, x: Row, group: Any = None) -> dict[Any, float]:
        """The probability of each label so far; the group is not looked at."""
        if not self._labels.known:
            return dict.fromkeys(self._presumed(), 0.5)
        shares = self._shares(x)
        total = sum(shares)
        return {name: share / total for name, share in zip(self._labels.known, shares, strict=True)}

    def predict_one(self, x: Row, group: Any = None) -> Any:
        """The label that is most probable, None if none is known; the group is not looked at."""
        if not self._labels.known:
            return next(iter(self._presumed()), None)
        shares = self._shares(x)
        return self._labels.known[shares.index(max(shares))]

    def predict_proba_many(self, X: pd.DataFrame) -> pd.DataFrame:
        """The probability of each label so far, for the rows of a data frame."""
        known = self._labels.known or self._presumed()
        answers = np.full((len(X), len(known)), 1 / max(len(known), 1))
        if self._forest.num_features and self._labels.known and len(X):
            answers = self._forest.predict(self._features.rows(X)).astype("float64")
            answers = answers[:, [self._labels.codes[name] for name in known]]
            answers /= answers.sum(axis=1, keepdims=True)
        return pd.DataFrame(answers, X.index, pd.Index(known, dtype=object, tupleize_cols=False))

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        """The label that is most probable, for the rows of a data frame."""
        said = self.predict_proba_many(X)
        if not said.shape[1]:
            return pd.Series([None] * len(X), X.index, dtype=object)
        return pd.Series([said.columns[code] for code in said.to_numpy().argmax(axis=1)], X.index)

    def _shares(self, x: Row) -> list[float]:
        """What the forest gives to each label so far; a label that has not come yet may have the rest."""
        labels, forest = self._labels, self._forest
        if not forest.num_features:
            return [1.0] * len(labels.known)
        try:
            answers = forest.predict(self._features.row(x)).tolist()
        except RowError:
            require_numbers(x)
            raise
        return answers if len(labels.known) == len(answers) else [answers[labels.codes[name]] for name in labels.known]

    def _presumed(self) -> tuple[bool, ...]:
        """Labels before there are any: River asks of what tells two labels apart that they are False and True."""
        return () if self._multiclass else (False, True)
