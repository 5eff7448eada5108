"""What a fresh process waits for before its first chunk is learned, and how many programs XLA compiles."""

import os
import tempfile

from benchmarks.contenders import Fit
from benchmarks.names import FIT, HEIGHT
from benchmarks.turns import best_of, output_of

FIRST_CALL = """if True:
    import sys, time
    import tensorflow as tf
    import aranyani_tf as ar
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    stream = ar.datasets.load("synthetic", num_rows=1_000, num_features=int(sys.argv[2]))
    begin = time.perf_counter()
    model = ar.Aranyani(seed=0)
    model.compile(engine=sys.argv[1])
    model.fit(stream.chunks(1_000), verbose=0)
    print(time.perf_counter() - begin)
"""

RAGGED = """if True:
    import aranyani_tf as ar
    stream = ar.datasets.load("synthetic", num_rows=10_000)
    model = ar.Aranyani()
    model.compile(engine="xla")
    model.fit(stream.chunks(4096), verbose=0)
    model.fairness_weight = 1.0
    model.fit(stream[:7_777].chunks(4096), verbose=0)
"""


def first_calls(rounds, widths):
    """Wall time from making a model to the end of its first chunk, of a thousand rows; imports are left out.

    The engine's machine code is on the disk by then, as it is in every process but a machine's first. XLA compiles in
    every process.
    """
    Fit(widths[0])  # which compiles the engine, if nobody did so before
    best = best_of(rounds, lambda: {(engine, width): float(output_of(FIRST_CALL, engine, width).split()[-1])
                                    for width in widths for engine in ("numba", "xla")})
    for (engine, width), seconds in best.items():
        yield {"measure": "first_call", "contender": FIT, "engine": engine, "level": "node", "num_features": width,
               "height": HEIGHT, "num_rows": 1_000, "first_call_seconds": seconds}


def compilations():
    """How many programs XLA compiles for a ragged stream, then another weight and another length."""
    with tempfile.TemporaryDirectory() as folder:
        flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_dump_to={folder} --xla_dump_hlo_as_text"
        output_of(RAGGED, environment=os.environ | {"XLA_FLAGS": flags})
        steps = [name for name in os.listdir(folder)
                 if "train_step" in name and name.endswith("before_optimizations.txt")]
    if not steps:
        raise RuntimeError("none of the programs that XLA compiled is a training step; has its name changed?")
    yield {"measure": "compilations", "contender": FIT, "engine": "xla", "level": "node", "num_features": 14,
           "height": HEIGHT, "num_rows": 17_777, "compilations": len(steps)}
