"""The experiments on small groups: which streams, which settings, and what is recorded of them.

Left out, to be done in under half an hour: most crossings of forgetting with chance (see `CROSSED`), more than one λ
a level, a bank or a nine-group stream that is thinned further, and 0.2 % of the synthetic stream, which is 27 rows.
"""

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
import pandas as pd

from aranyani_tf import Stream
from harness.experiments import Experiment
from harness.grids import available
from harness.scales import FIVE, FULL, Scale
from harness.weights import SLOPE_RATIO

# The streams, and the shares to which the smaller group is thinned; None leaves it its own.
STREAMS = {
    "adult": ({"dataset": "adult"}, (None, 0.1, 0.02, 0.002)),  # 33 % women
    "adult_drift": ({"dataset": "adult", "order": "majority_first"}, (None, 0.1, 0.02, 0.002)),
    "acs_disability": ({"dataset": "acs_employment", "groups": "disability"}, (None, 0.02, 0.002)),  # 14 % disabled
    "bank": ({"dataset": "bank", "groups": "age", "preprocessing": "one_hot"}, (None,)),  # 2.6 % below 25
    "swap": ({"dataset": "synthetic", "order": "drift"}, (None, 0.1, 0.02)),  # 33 %; the groups change places
    "rate_jumps": ({"dataset": "rate_jumps"}, (None, 0.1, 0.02, 0.002)),  # 50 %; QUICK ends before the first jump
    # Nine groups, the smallest with 6 rows, the first of them after a quarter of the stream. The released rule would
    # learn nothing until then, so it is the paper's here, with a λ that gives the same slope.
    "acs_race": ({"dataset": "acs_employment", "groups": "race", "rule": "paper", "held_out": 0.1}, (None,)),
}
LEVEL_WEIGHTS = {"output": 1.0, "aranyani": 0.1}  # λ
WAYS = ((None, "rows"), (0.01, "rows"), (0.001, "rows"), (0.01, "time"), (0.001, "time"))  # decay, forget
CHANCES = (0.0, 1.0, 2.0, 3.0)
# Here every way to forget meets every chance; elsewhere those that have a question to answer.
CROSSED = (("adult", 0.02), ("rate_jumps", 0.02), ("bank", None))
EVERYWHERE = ((WAYS[0], 0.0), (WAYS[0], 2.0), (WAYS[1], 0.0), (WAYS[2], 0.0), (WAYS[3], 0.0), (WAYS[3], 2.0),
              (WAYS[4], 0.0), (WAYS[4], 2.0))
TINY_GROUP = 1_000  # rows; the gap of a group with fewer is chance for the most part


def small_groups(scale: Scale = FULL) -> list[Experiment]:
    """Levels, ways to forget and discounts by chance, on streams with ever smaller groups; beside λ = 0."""
    experiments, missing = [], missing_streams(scale)
    if missing:
        print(f"left out, since their data is not here and could not be fetched: {', '.join(missing)}", file=sys.stderr)
    for name in scale.some(STREAMS):
        stream, shares = STREAMS[name]
        if name in missing:
            continue
        factor = SLOPE_RATIO if stream.get("rule") == "paper" else 1
        for share in scale.some(shares):
            experiments.append(experiment(scale, stream, 0.0, method="output", share=share))
            crossed = [(way, chance) for way in WAYS for chance in CHANCES]
            for (decay, forget), chance in scale.some(crossed if (name, share) in CROSSED else EVERYWHERE):
                experiments += [experiment(scale, stream, factor * weight, method=level, share=share, decay=decay,
                                           forget=forget, chance=chance) for level, weight in LEVEL_WEIGHTS.items()]
    return experiments


def missing_streams(scale: Scale = FULL) -> list[str]:
    """Those of a scale's streams whose data comes from a package that cannot be fetched, for want of a network."""
    datasets = {name: STREAMS[name][0]["dataset"] for name in scale.some(STREAMS)}
    here = {dataset: available(dataset) for dataset in dict.fromkeys(datasets.values())}  # each is asked for once
    return [name for name, dataset in datasets.items() if not here[dataset]]


def experiment(scale: Scale, stream: dict, weight: float, **settings) -> "GroupStudy":
    made = scale.experiment(weights=(weight,), seeds=FIVE, **stream, **settings)
    return GroupStudy(**{field.name: getattr(made, field.name) for field in fields(made)})


@dataclass(frozen=True)
class GroupStudy(Experiment):
    """An experiment that is recorded once, at the end of its stream; or twenty times, if rows are held out.

    Those rows are looked at without the tiny groups, whose gap nobody can tell from chance: of nine groups with 6 to
    226,569 rows, the gap among all says what happened to the 6.
    """

    def stream(self) -> Stream:
        stream = super().stream()
        return LargeHeldOut(stream) if self.held_out else stream

    def run(self, on_chunk: Callable | None = None) -> pd.DataFrame:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="too few rows to tell")  # they are what is studied
            return super().run(on_chunk)

    def checkpoints(self, stream: Stream) -> list[int]:
        count = 20 if self.held_out else 1
        return sorted(set(np.linspace(0, len(stream), count + 1).round().astype(int).tolist()) - {0})


class LargeHeldOut(Stream):
    """A stream that holds out rows of its large groups; those of tiny groups are held out without their group."""

    def __init__(self, stream: Stream):
        super().__init__(stream.features, stream.labels, stream.groups, name=stream.name,
                         label_names=stream.label_names, group_names=stream.group_names)

    def held_out(self, share: float = 0.1, seed: int = 0) -> tuple[Stream, Stream]:
        rest, aside = super().held_out(share, seed)
        tiny = np.bincount(self.groups, minlength=self.num_groups) < min(TINY_GROUP, len(self) // self.num_groups)
        aside.groups = np.where(tiny[aside.groups], -1, aside.groups)
        return rest, aside
