"""Which runs `make cost` measures: shapes that a seeded choice spreads over what people use, and others held out.

Rows are so many that a run takes about as long as it should, by a rough count that decides nothing else. Those that
are held out have longer streams and other sizes: none of their features, trees and chunks is in the fit.
"""

from collections.abc import Iterator

import numpy as np

from aranyani_tf.command.cost_model import ENGINES, LEVELS, Job

CHOICES = {"features": (5, 14, 40, 108, 300, 768), "height": (2, 3, 4, 5, 6), "trees": (1, 2, 3, 5, 8, 16),
           "groups": (2, 2, 3, 5), "chunk": (1024, 4096, 16_384)}
HELD_OUT = {"features": (10, 24, 60, 200, 512), "height": (3, 4, 7), "trees": (4, 6, 12), "groups": (2, 2, 4, 8),
            "chunk": (2048, 8192)}
SECONDS = {"fit": 0.2, "held_out": 0.8}
COUNTS = {"fit": {"numba": 17, "xla": 3}, "held_out": {"numba": 6, "xla": 1}}  # of each level
LARGEST = 6_000_000  # numbers that a row touches; beyond it nobody learns from streams


def points(kind: str, quick: bool, seed: int) -> Iterator[Job]:
    """The jobs of one kind, "fit" or "held_out"; quick: a few, and short."""
    random = np.random.default_rng([seed, kind == "fit"])
    choices = CHOICES if kind == "fit" else HELD_OUT
    for engine in ENGINES:
        for level in LEVELS:
            for _ in range(2 if quick else COUNTS[kind][engine]):
                yield drawn(choices, level, engine, SECONDS[kind] / (20 if quick else 1), random)


def drawn(choices: dict, level: str, engine: str, seconds: float, random: np.random.Generator) -> Job:
    while True:
        sizes = {name: int(random.choice(values)) for name, values in choices.items()}
        job = Job(rows=1, level=level, engine=engine, **sizes)
        if touched(job) <= LARGEST:
            rough = 0.5e-6 + 8e-3 / job.chunk + 0.06e-9 * touched(job)
            return job._replace(rows=max(int(seconds / rough / (1 if engine == "numba" else 2)), 500))


def touched(job: Job) -> float:
    """About how many numbers a row reads or writes."""
    columns = job.trees * 2**job.height * (job.height if job.level == "leaf" else 1)
    return (job.features + 1) * columns * (4 + 2 * job.groups)
