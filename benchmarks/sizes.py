"""How the speed depends on the height of the trees and on the length of the stream, in CPU time."""

import aranyani_tf as ar
from benchmarks.contenders import Fit
from benchmarks.names import FIT, HEIGHT
from benchmarks.turns import best_of

LENGTHS = (10_000, 100_000, 1_000_000, 10_000_000)
PIECE = 1_000_000  # rows in memory at once


def heights(rounds, scale):
    stream = ar.datasets.load("synthetic", num_rows=max(int(40_000 * scale), 4096))
    models = {height: Fit(stream.num_features, height=height) for height in range(2, 11)}
    best = best_of(rounds, lambda: {height: model.seconds(stream) for height, model in models.items()})
    for height, seconds in best.items():
        yield {"measure": "height", "contender": FIT, "engine": "numba", "level": "node",
               "num_features": stream.num_features, "height": height, "num_rows": len(stream),
               "rows_per_second": len(stream) / seconds, "state_bytes": models[height].state_bytes()}


def lengths(rounds, scale):
    """Streams up to 10⁷ rows times the scale, the shortest two in any case."""
    wanted = [num_rows for num_rows in LENGTHS if num_rows <= max(LENGTHS[-1] * scale, LENGTHS[1])]
    models = {num_rows: Fit(14) for num_rows in wanted}
    best = best_of(rounds, lambda: {num_rows: seconds_of_length(models[num_rows], num_rows) for num_rows in wanted})
    for num_rows, seconds in best.items():
        yield {"measure": "length", "contender": FIT, "engine": "numba", "level": "node", "num_features": 14,
               "height": HEIGHT, "num_rows": num_rows, "rows_per_second": num_rows / seconds,
               "state_bytes": models[num_rows].state_bytes()}


def seconds_of_length(model, num_rows):
    """In pieces, each made when the one before is learned: the longest stream would take over half a gigabyte."""
    return sum(model.seconds(ar.datasets.load("synthetic", num_rows=min(PIECE, num_rows - start), seed=start // PIECE))
               for start in range(0, num_rows, PIECE))
