"""A grid of experiments in this process, on two and four workers, and with one of them killed."""

import time

from aranyani_tf.scale import cluster
from aranyani_tf.scale.executor import RayExecutor
from harness.experiments import Experiment
from harness.parts import join, part_of, write_part
from harness.runner import run_all
from trials.scale_processes import Killer, memory


def experiments(seed, quick):
    """Equal ones, so that the best that w workers can do is to be w times as fast."""
    return [Experiment("adult", (0.0, 0.1, 1.0) if quick else (0.0, 0.03, 0.1, 0.3, 1.0, 3.0), (each, each + 100),
                       rows=4000 if quick else None) for each in range(seed, seed + (4 if quick else 12))]


def grids(counts, work, seed, quick):
    """Yields the records of each number of workers."""
    grid = experiments(seed, quick)
    grid[0].run()  # so that nobody's time has the engine's compilation in it
    begin = time.perf_counter()
    files = [part_of(experiment, work / "one") for experiment in grid]
    for experiment, file in zip(grid, files, strict=True):
        write_part(file, experiment.run())
    join(files, work / "one" / "grid.csv")
    alone, wanted = time.perf_counter() - begin, (work / "one" / "grid.csv").read_bytes()
    for workers in counts:
        found, begin = {"one_process_seconds": alone}, time.perf_counter()
        with cluster("local", workers):
            found["ray_start_seconds"] = time.perf_counter() - begin
            begin = time.perf_counter()
            with RayExecutor("auto", workers) as pool:  # each imports the package
                list(pool.map(time.sleep, [1.0] * workers))
            found["workers_start_seconds"] = time.perf_counter() - begin
            begin, results = time.perf_counter(), work / f"{workers} workers"
            run_all("grid", grid, results=results, processes=workers, progress=False, ray="auto")
            found["seconds"] = time.perf_counter() - begin
            found |= {"speed_up": alone / found["seconds"], **memory(),
                      "same_bytes": (results / "grid.csv").read_bytes() == wanted}
            results = work / f"{workers} workers, one killed"
            killer = Killer(lambda results=results: len(list((results / ".parts").glob("*.csv"))) > 0)
            killer.start()
            begin = time.perf_counter()
            run_all("grid", grid, results=results, processes=workers, progress=False, ray="auto")
            found["seconds_with_a_kill"] = time.perf_counter() - begin
            found["killed"] = killer.end()
            found["same_bytes_with_a_kill"] = (results / "grid.csv").read_bytes() == wanted
        yield [{"part": "grid", "workers": workers, "measure": name, "value": float(value)}
               for name, value in found.items()]
