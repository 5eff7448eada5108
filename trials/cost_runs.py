"""Runs of `make cost`, in CPU time on one thread, each beside a run of the reference so that a busy machine shows."""

import json
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from aranyani_tf.command.cost_model import REFERENCE, Job
from aranyani_tf.command.cost_run import one_fit

PROGRAM = """if True:
    import json, resource, sys, time
    sys.path[:0] = json.loads(sys.argv[1])
    import quiet
    from aranyani_tf.command.cost_model import Job
    from aranyani_tf.command.cost_run import on_one_thread, one_fit
    imported = time.process_time()
    on_one_thread()
    one_fit(Job(**json.loads(sys.argv[2])))()
    print(imported, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
# A small model and a large one, for memory.
PROCESSES = (REFERENCE, REFERENCE._replace(rows=2000, features=768, height=6, trees=16, level="leaf", chunk=1024))


def measured(jobs: Iterable[Job], repeats: int) -> Iterator[dict[str, Any]]:
    """A record for each job: the least of several repeats, as `benchmarks.turns` has it, and that of the reference."""
    reference = one_fit(REFERENCE)
    for job in jobs:
        begin = time.process_time()
        run = one_fit(job)
        start = time.process_time() - begin
        found = np.array([(run(), reference()) for _ in range(repeats)])
        seconds, beside = found.min(axis=0)
        yield {**job._asdict(), "start_seconds": start, "cpu_seconds": seconds, "reference_seconds": beside,
               "ratio_to_reference": seconds / beside}


def processes() -> Iterator[dict[str, Any]]:
    """Fresh ones: CPU seconds until everything is imported, and the most memory that they had."""
    for job in PROCESSES:
        result = subprocess.run([sys.executable, "-c", PROGRAM, json.dumps(sys.path), json.dumps(job._asdict())],
                                capture_output=True, text=True)
        if result.returncode:
            raise RuntimeError(f"a process of the trial failed:\n{result.stderr}")
        imported, megabytes = map(float, result.stdout.split())
        yield {**job._asdict(), "start_seconds": imported, "megabytes": megabytes}
