"""What a run of `fit` costs: a sum of counts that follow from its shape, each times the seconds that one takes.

    seconds = Σ_term count_term(rows, features, height, trees, groups, level, chunk) · seconds_term(engine)

The counts are of the loops in `engine/`; see `counts`. The seconds were fitted to measured runs (`make cost`,
trials/cost.py) on one machine, and are kept in cost.json; another machine's differ by about one factor.
"""

from pathlib import Path
from typing import Any, NamedTuple

from aranyani_tf.arguments import require_choice, require_whole
from aranyani_tf.checked_json import Kind
from aranyani_tf.errors import AranyaniError

ENGINES = ("numba", "xla")
LEVELS = ("node", "leaf", "output")
LANES = 8  # numbers that the processor takes at once; nodes are filled up to a multiple
CACHE = 900_000  # bytes of a model that its core's own cache (1 MB) holds; what is beyond comes from farther away
COEFFICIENTS = Path(__file__).with_name("cost.json")
KIND = Kind("cost model", 1, AranyaniError, "`make cost` writes it")


class Job(NamedTuple):
    """One setting that learns from one stream."""

    rows: int
    features: int
    height: int
    trees: int
    groups: int
    level: str
    engine: str
    chunk: int

    def checked(self) -> "Job":
        for name, low in (("rows", 1), ("features", 1), ("height", 1), ("trees", 1), ("groups", 2), ("chunk", 1)):
            require_whole(name, getattr(self, name), low)
        require_whole("height", self.height, 1, 20)
        require_choice("level", self.level, LEVELS)
        require_choice("engine", self.engine, ENGINES)
        return self


# What `make cost` puts beside every run, and `aranyani cost --calibrate` measures here.
REFERENCE = Job(rows=50_000, features=14, height=4, trees=3, groups=2, level="node", engine="numba", chunk=16_384)


class Sizes(NamedTuple):
    """Of a forest and its memory."""

    inputs: int  # features, and the 1 that multiplies the bias
    slots: int  # nodes, filled up
    leaves: int
    values: int  # constrained ones
    columns: int  # pairs of a constrained value and a node that moves it: `engine.layout.Parts`


def sizes_of(job: Job) -> Sizes:
    slots, leaves = -(-job.trees * (2**job.height - 1) // LANES) * LANES, job.trees * 2**job.height
    values = {"node": slots, "leaf": leaves, "output": 1}[job.level]
    return Sizes(job.features + 1, slots, leaves, values, leaves * job.height if job.level == "leaf" else slots)


def state_bytes(job: Job) -> int:
    """Weights, the optimizer's two numbers for each, and the means of their gradients by group, in float32."""
    inputs, slots, leaves, values, columns = sizes_of(job)
    by_leaf = 2 * leaves if job.level == "output" else 0
    return 4 * (3 * (inputs * slots + 2 * leaves) + job.groups * (values + inputs * columns + by_leaf))


def counts(job: Job) -> dict[str, float]:
    """Term → how often it comes.

    For two groups the engine has a shorter way, in which both cells are one loop. TensorFlow's step has none, and
    what XLA makes of it has no loops inside a row that would cost on their own.
    """
    inputs, slots, leaves, values, columns = sizes_of(job)
    by_loops = job.engine == "numba"
    several = job.groups > 2
    apart = several or job.level == "leaf" or not by_loops  # gradients of groups are collected, then added
    moved = 3 * inputs * slots + job.groups * inputs * columns
    per_row = {
        "row": 1,
        "input": inputs,
        "weight": inputs * slots,
        "cell loop": inputs * job.groups if several and by_loops else 0,  # a loop of its own for each group
        "cell weight": inputs * columns * job.groups if several or not by_loops else 0,
        "column": inputs * columns if apart else 0,
        "leaf loop": inputs * job.height if job.level == "leaf" and by_loops else 0,  # one for each depth
        "leaf": leaves * (2 if job.level == "output" else 1),  # the output's gradient goes back once more
        "gap": values * job.groups**2 if several and by_loops else 0,  # every group against all
        "far": moved if state_bytes(job) > CACHE and by_loops else 0}
    return {"fit": 1, "chunk": -(-job.rows // job.chunk), **{name: job.rows * count for name, count in per_row.items()}}


TERMS = tuple(counts(REFERENCE))


class CostModel(NamedTuple):
    """The contents of cost.json.

    Args:
        seconds: engine → term → of one, and "start": of making a model and its first chunk.
        process: seconds and megabytes of a process that has imported everything and learned a little.
        reference_seconds: what `REFERENCE` took where these were measured.
        measured: what is told of where and how well.
        scale: another machine's seconds ÷ those.
    """

    seconds: dict[str, dict[str, float]]
    process: dict[str, float]
    reference_seconds: float
    measured: dict[str, Any]
    scale: float = 1.0

    def parts(self, job: Job) -> dict[str, float]:
        """Term → CPU seconds of `fit` by a model that is ready to learn."""
        known = self.seconds[job.engine]
        return {name: self.scale * count * known[name] for name, count in counts(job.checked()).items()}

    def fit_seconds(self, job: Job) -> float:
        return sum(self.parts(job).values())

    def run_seconds(self, job: Job) -> float:
        """CPU seconds of one setting in a process of its own, all in."""
        return self.fit_seconds(job) + self.scale * (self.process["seconds"] + self.seconds[job.engine]["start"])

    def megabytes(self, job: Job) -> float:
        """Of a process: what it has in any case, the model thrice (Keras's, the engine's, one to go back to), and some
        chunks of rows."""
        return self.process["megabytes"] + (3 * state_bytes(job) + 4 * 4 * job.chunk * (job.features + 4)) / 2**20


def read_cost_model(path: Path = COEFFICIENTS) -> CostModel:
    return CostModel(**KIND.read(path))
