"""What an experiment is set to. The fields of `Settings` are the only list of settings: the columns of the records,
what pictures and `matched` tell runs apart by, what is logged and what a sweep takes are all read off them.

So a new field is a column of that name everywhere, unless it says here that it is none. Nothing heavy is imported:
the process that logs needs the columns too, and no TensorFlow.
"""

from dataclasses import dataclass, field, fields
from typing import Any

ORDERS = ("file", "shuffled", "majority_first", "minority_first", "drift")


def of_model(default: Any, **metadata: Any) -> Any:
    """A setting of `ar.Aranyani`: it is handed on to the model, and without effect on a learner that is none."""
    return field(default=default, metadata={"of_model": True, **metadata})


def one_of_a_grid(column: str) -> Any:
    """A side of the grid: many values, and the column has the one of each run."""
    return field(metadata={"column": column})


NO_COLUMN = {"column": None}  # how much is run, and what is recorded of it: nothing that tells two runs apart


@dataclass(frozen=True)
class Settings:
    """A grid of λ and seeds over one stream.

    Args:
        dataset, preprocessing: of `ar.datasets.load`.
        method: one of `registry.methods()`.
        rule: one of `registry.rules()`: "paper" or "released", the slope of the Huber penalty and when updates begin;
            or "l2".
        fairness_weights, seeds: the grid.
        num_trees, height: of the forest.
        decay: forgetting rate of the running means.
        forget, chance: of `ar.Aranyani`.
        notion, update_when, samples_per_step: of `ar.Aranyani`.
        groups: which of a dataset's groupings; None for its own, or its only one.
        share: the share of the rows to which the smallest group is thinned, see `experiment_streams.thinned`; None
            for all rows.
        drop_group: whether the group is left out of the features.
        order: "file"; "shuffled", each seed in an order of its own; "majority_first" or "minority_first", see
            `Stream.adversarial`; "drift", see `synthetic`.
        fraction: the share of the rows that there are, from the first on.
        held_out: the share of the rows that is set aside, and looked at along the stream.
        record_gradients: adds the gradients' norms, each a mean since the checkpoint before.
        even_checkpoints: so many more, evenly spaced, beside the log-spaced ones.
        rows: how many rows of the stream; None for all.
    """

    dataset: str
    fairness_weights: tuple = one_of_a_grid("fairness_weight")
    seeds: tuple = one_of_a_grid("seed")
    preprocessing: str = "released"
    method: str = "aranyani"
    rule: str = "released"
    num_trees: int = of_model(3)
    height: int = of_model(4)
    decay: float | None = of_model(None)
    forget: str = of_model("rows")
    chance: float = of_model(0.0)
    notion: str = of_model("demographic_parity")
    update_when: str = of_model("always")
    samples_per_step: int = of_model(1)
    groups: str | None = None
    share: float | None = None
    drop_group: bool = False
    order: str = "file"
    fraction: float = 1.0
    held_out: float = 0.0
    record_gradients: bool = of_model(False, **NO_COLUMN)
    even_checkpoints: int = field(default=0, metadata=NO_COLUMN)
    rows: int | None = field(default=None, metadata=NO_COLUMN)


COLUMN_OF = {each.name: each.metadata.get("column", each.name) for each in fields(Settings)}
COLUMNS = tuple(column for column in COLUMN_OF.values() if column)
GRID = {column: name for name, column in COLUMN_OF.items() if column and column != name}  # column → side of the grid
OF_MODEL = tuple(each.name for each in fields(Settings) if each.metadata.get("of_model"))

# Of every CSV, with the same meaning everywhere; the other settings follow what was measured.
FIRST_COLUMNS = ("dataset", "preprocessing", "method", "rule", "fairness_weight", "seed", "step", "accuracy",
                 "demographic_parity", "late_accuracy", "late_demographic_parity", "window_demographic_parity")
FIRST_SETTINGS = tuple(name for name in FIRST_COLUMNS if name in COLUMNS and name not in GRID)
FURTHER_SETTINGS = tuple(name for name in COLUMNS if name not in FIRST_COLUMNS)
CURVE = (*FIRST_SETTINGS, *FURTHER_SETTINGS)  # runs that differ in λ and seed only are one curve of a trade-off
RUN = (*CURVE, *GRID, "probability")  # the last is Majority's
