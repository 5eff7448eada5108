"""Rows per second on one thread, in CPU time."""

from typing import NamedTuple

import aranyani_tf as ar
from benchmarks.contenders import RIVER, Fit, PlainKeras, River, ScikitLearn, Sketch
from benchmarks.names import FIT, HEIGHT, HOEFFDING, PLAIN, SCIKIT, SKETCH
from benchmarks.turns import best_of

# Features, and the rows of our own, scikit-learn's and the yardstick's passes, of River's, and of plain Keras's.
ROWS = {14: (200_000, 20_000, 1_000), 40: (150_000, 20_000, 1_000), 768: (40_000, 1_000, 1_000)}
LEVELS = ("node", "leaf", "output")


class Contender(NamedTuple):
    name: str
    engine: str | None = None
    level: str | None = None


class Entry(NamedTuple):
    """What a contender does in a round, and with how many rows."""

    seconds: object
    num_rows: int


def throughput(num_features, rounds, scale, yardstick=None):
    """One record for each contender; `yardstick` is the path of a file, see `Sketch`."""
    our_rows, river_rows, keras_rows = (max(int(n * scale), 300) for n in ROWS[num_features])
    stream = ar.datasets.load("synthetic", num_rows=our_rows, num_features=num_features)
    dicts = [dict(enumerate(row)) for row in stream.features[:river_rows].tolist()]
    labels = stream.labels[:river_rows].tolist()
    models = {Contender(FIT, engine, level): Fit(num_features, engine, level)
              for level in LEVELS for engine in ("numba", "xla")}
    plain, scikit = PlainKeras(num_features), ScikitLearn(stream)
    entries = {contender: Entry(lambda model=model: model.seconds(stream), our_rows)
               for contender, model in models.items()}
    if yardstick is not None:
        sketch = Sketch(yardstick, stream)
        entries[Contender(SKETCH, level="node")] = Entry(sketch.seconds, our_rows)
    for name, make in RIVER.items():
        river = River(make)
        entries[Contender(name)] = Entry(lambda river=river: river.seconds(dicts, labels), river_rows)
    entries[Contender(PLAIN)] = Entry(lambda: plain.seconds(stream[:keras_rows]), keras_rows)
    entries[Contender(SCIKIT)] = Entry(lambda: scikit.seconds(stream), our_rows)
    best = best_of(rounds, lambda: {contender: entry.seconds() / entry.num_rows
                                    for contender, entry in entries.items()})
    for contender, seconds in best.items():
        record = {"measure": "throughput", "contender": contender.name, "engine": contender.engine,
                  "level": contender.level, "num_features": num_features, "height": HEIGHT,
                  "num_rows": entries[contender].num_rows, "rows_per_second": 1 / seconds,
                  "ratio_to_hoeffding_tree": best[Contender(HOEFFDING)] / seconds}
        if contender.engine == "numba":
            record |= {"ratio_to_xla": best[contender._replace(engine="xla")] / seconds,
                       "state_bytes": models[contender].state_bytes()}
            if contender.level == "node" and yardstick is not None:
                record["ratio_to_yardstick"] = best[Contender(SKETCH, level="node")] / seconds
        yield record
