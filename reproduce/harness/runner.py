"""Many experiments over all cores, each kept when it is done.

A finished experiment is a file of its own (see `parts`), and these are joined into `results/<name>.csv` as
they come in. A run that was killed goes on with those that are missing, and ends with the same bytes.
"""

import multiprocessing
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm import tqdm

from aranyani_tf.files import remove_left_overs_in
from harness import RESULTS
from harness.experiments import Experiment
from harness.parts import as_numbers, is_whole, join, joined, part_of, require_room, write_part


def run_all(name: str, experiments: Iterable[Experiment], *, results: Path = RESULTS, fresh: bool = False,
            processes: int | None = None, progress: bool = True, ends: bool = False,
            ray: str | None = None) -> pd.DataFrame:
    """Runs what is not done yet; returns all records, which are then in `results/<name>.csv`, or the `ends` alone."""
    experiments, csv = list(dict.fromkeys(experiments)), Path(results) / f"{name}.csv"
    num_run = complete(name, experiments, results=results, fresh=fresh, processes=processes, progress=progress, csv=csv,
                       ends=ends, ray=ray)
    files = [part_of(experiment, results) for experiment in experiments]
    join(files, csv, ends)
    records = as_numbers(joined(files)) if ends else pd.read_csv(csv)
    records.attrs["num_run"] = num_run
    return records


def complete(name: str, experiments: list[Experiment], *, results: Path = RESULTS, fresh: bool = False,
             processes: int | None = None, progress: bool = True, csv: Path | None = None, ends: bool = False,
             ray: str | None = None) -> int:
    """Runs what is not done yet, and tells how many that were; `csv` grows with every one that is.

    With `ray`, the address of a cluster or "auto", its cores run them, up to `processes` at once if that is told.
    """
    files = {experiment: part_of(experiment, results) for experiment in experiments}
    for folder in (Path(results), Path(results) / ".parts"):
        remove_left_overs_in(folder)  # of a run that was killed between a file and the end of its lock, say
    if fresh:
        for file in files.values():
            file.unlink(missing_ok=True)
    done = {experiment for experiment in files if is_whole(files[experiment])}
    todo = [experiment for experiment in files if experiment not in done]
    if done:
        print(f"{name}: {len(done)} of {len(files)} experiments are done already; --fresh starts over")
    if not todo:
        return 0  # before any data is read
    require_room(results)
    costs = {experiment: experiment.cost for experiment in files}
    todo.sort(key=costs.get, reverse=True)  # the longest first, so that no core is left alone with it at the end
    with tqdm(total=sum(costs.values()), desc=name, bar_format="{desc}: {percentage:3.0f}%|{bar}| "
              "{elapsed}, {remaining} left", initial=sum(map(costs.get, done)),
              mininterval=0.5 if sys.stderr.isatty() else 15, disable=not progress) as bar:
        for experiment, frame in finished(todo, processes, bar.update, ray):
            write_part(files[experiment], frame)
            done.add(experiment)
            if csv is not None:
                join([files[each] for each in files if each in done], csv, ends)
    return len(todo)


@contextmanager
def workers(processes: int | None, ray: str | None) -> Iterator[tuple[Executor, Any]]:
    """Who runs experiments, processes of this machine or cores of a cluster, and where they count their rows."""
    if ray is not None:
        from aranyani_tf.scale.executor import RayExecutor

        with RayExecutor(ray, processes) as pool:
            yield pool, queue.Queue()  # empty: they tell when they are done
        return
    context = multiprocessing.get_context("spawn")
    counts = context.Queue()
    with ProcessPoolExecutor(processes or os.cpu_count(), context, prepare_worker, (counts,)) as pool:
        yield pool, counts


def finished(experiments: list[Experiment], processes: int | None, report: Callable[[float], Any],
             ray: str | None = None) -> Iterator[tuple[Experiment, pd.DataFrame]]:
    """Yields (experiment, records) as they are done, one process a core."""
    if not experiments:
        return
    with workers(min(processes, len(experiments)) if processes else None, ray) as (pool, counts):
        waiting, failures = {}, []
        try:
            for experiment in experiments:
                try:
                    waiting[pool.submit(run_one, experiment)] = experiment
                except BrokenProcessPool as error:  # a worker was killed before all were handed out
                    failures.append((experiment, error))
            while waiting:
                done, _ = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                report(sum(drain(counts)))
                for future in done:
                    experiment = waiting.pop(future)
                    if future.exception():
                        failures.append((experiment, future.exception()))  # the others go on
                    else:
                        yield experiment, future.result()
                        report(experiment.cost if ray is not None else 0)
        except BaseException:  # Ctrl-C, say: what is under way would not be kept
            for worker in multiprocessing.active_children():
                worker.terminate()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    if failures:
        experiment, error = failures[0]
        lost = isinstance(error, BrokenProcessPool) or type(error).__name__ == "WorkerCrashedError"
        told = f"{len(failures)} experiments failed; the others are kept. The first, {experiment}: "
        if lost:  # an OSError, which scripts tell in a line: there is nothing to see in the code
            raise ChildProcessError(f"{told}its process was killed; is there enough memory? --processes 1 needs less. "
                                    "The same command again goes on from here") from error
        raise RuntimeError(told + str(error)) from error


def drain(counts: Any) -> Iterator[float]:
    while True:
        try:
            yield counts.get_nowait()
        except queue.Empty:
            return


def prepare_worker(counts: Any) -> None:
    """One thread a process; more would get into each other's way. A worker ends with its parent."""
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    run_one.counts = counts

    def watch() -> None:
        multiprocessing.parent_process().join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def run_one(experiment: Experiment) -> pd.DataFrame:
    if not hasattr(run_one, "counts"):  # on a cluster
        return experiment.run()
    models = len(experiment.fairness_weights) * len(experiment.seeds)
    share = experiment.cost / (models * len(experiment.stream()))  # of one row of one model
    return experiment.run(on_chunk=lambda done: run_one.counts.put(share * done))
