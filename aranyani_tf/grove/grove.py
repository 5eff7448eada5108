"""A grid of models in one pass: every λ with every seed."""

import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import keras
import numpy as np
import pandas as pd
from tqdm import tqdm

from aranyani_tf.arguments import require_fairness_weight, require_number, require_whole
from aranyani_tf.errors import ArgumentError, DivergedError
from aranyani_tf.evaluation.records import StreamRecord
from aranyani_tf.evaluation.sentences import told_signs, told_small_groups
from aranyani_tf.grove.engine_walk import EngineWalk
from aranyani_tf.grove.grid_walk import GridWalk
from aranyani_tf.grove.members import checked, copy_of, labelled, listed, norm_frames
from aranyani_tf.grove.replica_adam import Adam
from aranyani_tf.learning.gradient_norms import step_ends
from aranyani_tf.model.aranyani import Aranyani
from aranyani_tf.streams.chunks import Chunks
from aranyani_tf.streams.orders import shuffled_order

CACHE = 6 * 2**20  # bytes of replicas that learn at once: more fall out of a core's cache
MOST = 64  # replicas at once
Member = tuple[float, int]  # λ, seed


class Grove:
    """Many `Aranyani` that differ in λ and seed only, trained together.

    Forests learn side by side on all cores, each as the single model with the same settings, to the last bit.
    Other members (predictors, encoders, constraints of one's own) learn in one pass, and equal the single model up
    to the rounding of float32.

    Args:
        model_settings: what `Aranyani` takes, but for `fairness_weight` and `seed`. A predictor or
            encoder is copied for each member; it may also be a function of the seed that makes one.
        fairness_weights, seeds: the grid; the members are all pairs, in this order.
        learning_rate: of Adam, for all members.
        model_class: `Aranyani`, or a subclass such as `baselines.fermi.Fermi`.

    >>> import aranyani_tf as ar
    >>> grove = ar.Grove({"num_trees": 1, "height": 2}, fairness_weights=[0.0, 0.1], seeds=[0, 1])
    >>> records = grove.fit(ar.datasets.load("synthetic", num_rows=1000), checkpoints=[500], verbose=0)
    >>> list(records.columns[:5])
    ['fairness_weight', 'seed', 'step', 'accuracy', 'demographic_parity']
    >>> len(records)                                # 2 λ × 2 seeds × 2 checkpoints, the end included
    8
    >>> chosen = grove.model(fairness_weight=0.1, seed=1)      # an Aranyani that goes on from there
    """

    def __init__(self, model_settings: dict[str, Any] | None = None, *, fairness_weights: Iterable[float],
                 seeds: Iterable[int], learning_rate: float = 2e-3,
                 model_class: type[Aranyani] = Aranyani) -> None:
        if not isinstance(model_settings, (dict, type(None))):
            raise ArgumentError(f"model_settings must be a dict of what Aranyani takes, got {model_settings!r}")
        self.model_class, self.settings = model_class, dict(model_settings or {})
        for name in {"fairness_weight", "seed"} & set(self.settings):
            raise ArgumentError(f"{name} is a side of the grid: pass {name}s=[…], not a model setting")
        fairness_weights, seeds = listed("fairness_weights", fairness_weights), listed("seeds", seeds)
        for weight in fairness_weights:
            require_fairness_weight(weight)
        for seed in seeds:
            require_whole("a seed", seed, 0)
        require_number("learning_rate", learning_rate, 0, above=True)
        self.members: list[Member] = [(float(weight), int(seed))
                                      for weight, seed in itertools.product(fairness_weights, seeds)]
        if not self.members or len(set(self.members)) < len(self.members):
            raise ArgumentError("fairness_weights and seeds need at least one value each, and none twice; got "
                             f"{fairness_weights} and {seeds}")
        self.optimizer = Adam(learning_rate)
        self.trained: dict[Member, Any] = {}  # what `self.loop` makes a model of
        self.diverged: list[Member] = []
        self.gradient_norms: pd.DataFrame | None = None
        self.at_once: int | None = None  # members in one pass; as many as fit a core's cache if None

    def single(self, seed: int, **settings: Any) -> Aranyani:
        """The single model of a seed, built but not trained."""
        made = {name: copy_of(part, self.num_features) if isinstance(part, keras.layers.Layer) else part(seed)
                for name, part in self.settings.items() if name in ("predictor", "encoder") and part is not None}
        model = self.model_class(**(self.settings | made | settings), seed=seed)
        model(np.zeros((1, self.num_features), model.compute_dtype))  # builds it, and it can be exported
        model.learner.load()
        return model

    def fit(self, stream: Any, *, shuffle: bool = False, checkpoints: Iterable[int] | None = None,
            held_out: Any = None, chunk_size: int = 16_384, on_chunk: Callable[[int], None] | None = None,
            verbose: int = 1) -> pd.DataFrame:
        """Trains all members from the beginning of the stream, and gives the records.

        Args:
            stream: a `Stream`, or what `Aranyani.fit` takes.
            shuffle: gives each seed an order of its own, that of `stream.shuffled(seed)` if no row is skipped.
            checkpoints: numbers of rows after which to report; log-spaced if not given.
            held_out: a `Stream` that nobody learns from; what the members make of it at each checkpoint is in
                `held_out_accuracy`, `held_out_demographic_parity` and so on.
            chunk_size: rows per call of the compiled loop.
            on_chunk: called with (rows × members) of each piece of work that is done.
            verbose: 0 shows no progress bar.

        Returns:
            A data frame with fairness_weight, seed, step, accuracy, demographic_parity and more; see
            `StreamRecord.frame`. With `record_gradients=True`, `grove.gradient_norms` is another.
        """
        if shuffle and not getattr(stream, "reorderable", True):
            stream.require_reorderable()
        require_whole("chunk_size", chunk_size, 1)
        checkpoints = None if checkpoints is None else listed("checkpoints", checkpoints)
        chunks = Chunks.of(stream, size=chunk_size)
        self.num_features = chunks.num_features
        template = self.single(self.members[0][1])
        template.all_known = chunks.all_known(template.num_labels)
        rows = tuple(map(np.concatenate, zip(*template.feed(chunks).good_pieces(), strict=True)))
        template.check_probabilities(rows[0])
        held_out = None if held_out is None else checked(held_out, template)
        loop = self.loop = self.loop_of(template)
        self.trained, self.diverged, records, norms = {}, [], [], []
        with tqdm(total=len(rows[0]) * len(self.members), unit="sample", unit_scale=True,
                  disable=not verbose) as bar:
            for members, filled in self.groups(template, isinstance(loop, EngineWalk)):
                starts = {seed: self.single(seed) for seed in {seed for _, seed in filled}}
                loop.begin([starts[seed] for _, seed in filled], [weight for weight, _ in filled])
                record = StreamRecord(len(rows[0]), num_models=len(filled), num_labels=template.num_labels,
                                      num_groups=template.num_groups, checkpoints=checkpoints,
                                      positive_label=template.positive_label)
                orders = np.stack([shuffled_order(len(rows[0]), seed) for _, seed in filled],
                                  axis=1) if shuffle else None  # (row, replica)
                chunk_norms = []
                for *seen, norm in loop.walk(rows, orders, chunk_size,
                                             () if held_out is None else record.checkpoints):
                    record.add(*seen)
                    chunk_norms.append(norm)
                    if held_out is not None and record.is_due:
                        record.examine(held_out[1], held_out[2], loop.outputs(held_out[0]))
                    bar.update(len(seen[0]) * len(members))
                    if on_chunk:
                        on_chunk(len(seen[0]) * len(members))
                records.append(labelled(record.frame(), members))
                if template.record_gradients:
                    ends = step_ends(len(rows[0]), template.samples_per_step)
                    norms.append(labelled(norm_frames(chunk_norms, ends, template.learner.names), members))
                self.trained |= {member: loop.member(index) for index, member in enumerate(members)}
                self.diverged += [member for index, member in enumerate(members) if loop.diverged(index)]
        if template.record_gradients:
            self.gradient_norms = pd.concat(norms, ignore_index=True)
        if self.diverged:
            warnings.warn(self.told_diverged(), stacklevel=2)
        if template.num_labels > 1:
            counts = record.between(0, len(rows[0]))["counts"]  # (model, …)
            known = counts[np.isfinite(counts).all(axis=(1, 2, 3))]
            sentences = [tell(each) for each in known[:1] for tell in (told_small_groups, told_signs)]
            for sentence in filter(None, sentences):
                warnings.warn(sentence, stacklevel=2)
        return pd.concat(records, ignore_index=True)

    def told_diverged(self) -> str:
        told = ", ".join(f"λ={weight:g} with seed {seed}" for weight, seed in self.diverged[:5])
        return (f"{len(self.diverged)} of {len(self.members)} members have diverged ({told}): their records are NaN "
                "from there on")

    def loop_of(self, template: Aranyani) -> EngineWalk | GridWalk:
        """What takes the members through a stream."""
        if template.engine == "numba":
            return EngineWalk(template, self.optimizer)
        return GridWalk(template.step, self.optimizer, template.samples_per_step, template.target_scale is not None)

    def prepare(self, num_features: int) -> int:
        """For members that are trained elsewhere, some of them here and some there, and put into `trained`.

        Gives how many belong together: members that learn in one pass round alike only if they stay in it.
        """
        self.num_features = num_features
        template = self.single(self.members[0][1])
        self.loop = self.loop_of(template)
        if isinstance(self.loop, EngineWalk):
            return 1
        self.at_once = self.passing_at_once(template)
        return self.at_once

    def groups(self, template: Aranyani, apart: bool) -> Iterator[tuple[list[Member], list[Member]]]:
        """Members that learn at once, and the same filled up to one size for one compilation.

        Those that learn `apart` from each other need no filling.
        """
        if apart:
            for first in range(0, len(self.members), MOST):
                yield self.members[first : first + MOST], self.members[first : first + MOST]
            return
        at_once = self.at_once or self.passing_at_once(template)
        for first in range(0, len(self.members), at_once):
            members = self.members[first : first + at_once]
            yield members, members + members[:1] * (at_once - len(members))

    def passing_at_once(self, template: Aranyani) -> int:
        """How many members learn in one pass."""
        state = sum(variable.value.numpy().nbytes for variable in template.learner.variables) * 3 + sum(
            weight.numpy().nbytes for weight in template.statistics.weights)
        most = min(max(CACHE // state, 1), MOST)
        return -(-len(self.members) // -(-len(self.members) // most))  # evenly

    def model(self, fairness_weight: float, seed: int) -> Aranyani:
        """A trained member as an `Aranyani` of its own, optimizer included: its stream can go on.

        Its metrics so far (`so_far`) begin here; those of the Grove are in the records.
        """
        member = (float(fairness_weight), seed)
        if member not in self.trained:
            raise ArgumentError(f"no trained member with fairness_weight {fairness_weight} and seed {seed}; "
                             f"there are {sorted(self.trained) or 'none yet: call fit first'}")
        if member in self.diverged:
            raise DivergedError(f"the member with fairness_weight {fairness_weight} and seed {seed} has diverged")
        model = self.single(seed, fairness_weight=fairness_weight)
        self.loop.put_into(model, self.trained[member], self.optimizer)
        return model
