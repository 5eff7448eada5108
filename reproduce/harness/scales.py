"""How much of a figure is run: all of it, a few minutes, or a few rows for the tests."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from harness.experiments import Experiment
from harness.registry import method

SEEDS = tuple(range(10))
FIVE = SEEDS[:5]  # the paper: "5 different seeds" where it tells; for what takes long


@dataclass(frozen=True)
class Scale:
    """How much of a figure is run.

    Args:
        name: also the ending of the files.
        seeds: of each experiment.
        most_rows: of each stream; None for all.
        num_values: how many values of a setting, of λ say; None for all.
        forest: settings that replace those of the paper where they have an effect, for the tests.
        both_orders: whether what is run on shuffled rows is run in the file's order too, and the other way round.
    """

    name: str
    seeds: tuple = SEEDS
    most_rows: int | None = None
    num_values: int | None = None
    forest: tuple = ()
    both_orders: bool = True

    def some(self, values: Iterable) -> tuple:
        """The values, or a few of them with the first and the last."""
        values = tuple(values)
        if self.num_values is None or len(values) <= self.num_values:
            return values
        last = len(values) - 1
        return tuple(values[round(index * last / (self.num_values - 1))] for index in range(self.num_values))

    def experiment(self, dataset: str, weights: Iterable[float], *, seeds: tuple[int, ...] | None = None,
                   **settings: Any) -> Experiment:
        ignored = method(settings.get("method", "aranyani")).ignores
        forest = {name: value for name, value in self.forest if name not in ignored}
        return Experiment(dataset, self.some(weights), (seeds or SEEDS)[: len(self.seeds)], rows=self.most_rows,
                          **(forest | settings))


FULL = Scale("")
QUICK = Scale("_quick", SEEDS[:2], 8_000, 3)
TINY = Scale("_tiny", SEEDS[:1], 300, 2, (("num_trees", 1), ("height", 2)), both_orders=False)  # for tests
