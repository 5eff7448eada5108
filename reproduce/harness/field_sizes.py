"""How much of the field is run: all of it, or a few minutes' worth."""

from dataclasses import dataclass

from harness.field_streams import STREAMS

SEEDS = (0, 1, 2, 3, 4)


@dataclass(frozen=True)
class Size:
    """How much is run: the ending of the files, seeds, rows of a stream (None: see `field_streams`), λ and values of a
    knob, streams."""

    name: str = ""
    seeds: tuple = SEEDS
    rows: int | None = None
    weights: int | None = None
    streams: tuple = STREAMS

    def some(self, weights: tuple) -> tuple:
        """The λ or values, or a few of them with the first and the last."""
        if self.weights is None or len(weights) <= self.weights:
            return weights
        last = len(weights) - 1
        return tuple(weights[round(index * last / (self.weights - 1))] for index in range(self.weights))


FULL = Size()
QUICK = Size("_quick", SEEDS[:2], 3_000, 3, (STREAMS[0], STREAMS[4], STREAMS[8]))  # Adult, COMPAS, nine groups
TINY = Size("_tiny", SEEDS[:2], 400, 2, STREAMS[4:5])  # for tests
