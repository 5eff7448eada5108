"""Runs the cases: in blocks, each in a process of its own, so that one which dies is told and not the end."""

import gc
import importlib
import itertools
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import hypothesis
import pandas as pd

from trials.fuzz_cases import ESCAPED, REFUSED, SUCCEEDED, Case, Outcome, Surface, judged, numbers_for, workshop

BLOCK = 400  # cases of one process
COLUMNS = ["surface", "mutation", "cases", SUCCEEDED, REFUSED, ESCAPED, "changed", "example"]


def outcomes(surface: Surface, seed: int, block: int, count: int = BLOCK) -> Iterator[Outcome]:
    """The cases of a block, one after the other; the same for the same arguments."""
    with workshop() as folder:
        draw: Any = surface.prepare(folder)
        if isinstance(draw, hypothesis.strategies.SearchStrategy):
            yield from by_hypothesis(surface.name, draw, f"{seed}/{surface.name}/{block}", count, folder)
            return
        for number in range(block * BLOCK, block * BLOCK + count):
            yield judged(surface.name, draw(numbers_for(seed, surface.name, number)), folder)


def by_hypothesis(name: str, strategy: Any, seed: str, count: int, folder: Path) -> list[Outcome]:
    """As many cases of a strategy. Nothing is shrunk or kept: what a failing one was is told by its repr."""
    found: list[Outcome] = []

    def look(case: Case) -> None:
        if len(found) < count:
            found.append(judged(name, case, folder))

    for turn in itertools.count():
        settings = hypothesis.settings(max_examples=count, database=None, deadline=None,
                                       phases=[hypothesis.Phase.generate],
                                       suppress_health_check=list(hypothesis.HealthCheck))
        hypothesis.seed(f"{seed}/{turn}")(settings(hypothesis.given(strategy)(look)))()
        if len(found) >= count:
            return found


def blocks(surfaces: Sequence[Surface], num_cases: int) -> list[tuple[Surface, int, int]]:
    """(surface, number, cases) of every block; each surface has its share of the cases, at least one."""
    whole = sum(each.share for each in surfaces)
    found = []
    for surface in surfaces:
        left = max(round(num_cases * surface.share / whole), 1)
        for block in itertools.count():
            found.append((surface, block, min(left, BLOCK)))
            left -= BLOCK
            if left <= 0:
                break
    return found


def in_own_process(module: str, surface: str, seed: int, block: int, count: int) -> list[Outcome]:
    """The outcomes of a block; if its process dies, one more that says so."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["trials.fuzz_all"])
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(module, surface, seed, block, count, theirs))
    process.start()
    theirs.close()
    found: list[Outcome] = []
    try:
        while len(found) < count:
            found.append(ours.recv())
    except EOFError:
        process.join()
        found.append(Outcome(surface, "the process died", ESCAPED, False, f"exit status {process.exitcode}",
                             f"case {len(found)} of block {block}"))
    process.join()
    return found


def work(module: str, name: str, seed: int, block: int, count: int, pipe: Connection) -> None:
    """What such a process does."""
    surfaces = importlib.import_module(module).SURFACES
    gc.freeze()  # the command collects garbage before it begins: what was imported is not looked at
    gc.unfreeze = lambda: None
    (surface,) = (each for each in surfaces if each.name == name)
    for outcome in outcomes(surface, seed, block, count):
        pipe.send(outcome)


def run_all(work_to_do: Sequence[tuple[Surface, int, int]], seed: int, cores: int,
            on_block: Callable[[list[Outcome]], None], module: str = "trials.fuzz_all") -> list[Outcome]:
    """All blocks, so many at a time; the outcomes in the order of the blocks."""
    with ThreadPoolExecutor(cores) as pool:
        futures = {pool.submit(in_own_process, module, surface.name, seed, block, count): place
                   for place, (surface, block, count) in enumerate(work_to_do)}
        found: dict[int, list[Outcome]] = {}
        for future in as_completed(futures):
            found[futures[future]] = future.result()
            on_block(future.result())
    return [each for place in sorted(found) for each in found[place]]


def table(found: Sequence[Outcome]) -> pd.DataFrame:
    """One row for each surface and mutation; the example is the first bug, or else the first refusal."""
    rows = []
    frame = pd.DataFrame([vars(each) for each in found])
    for (surface, mutation), part in frame.groupby(["surface", "mutation"], sort=True):
        bugs = part[(part["kind"] == ESCAPED) | part["changed"]]
        examples = pd.concat([bugs, part[part["kind"] == REFUSED]])["message"]
        rows.append([surface, mutation, len(part), *((part["kind"] == kind).sum() for kind in (
            SUCCEEDED, REFUSED, ESCAPED)), part["changed"].sum(), examples.iloc[0] if len(examples) else ""])
    return pd.DataFrame(rows, columns=COLUMNS)
