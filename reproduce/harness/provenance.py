"""`environment.json` beside the results: with what each run was made, and what it made."""

import json
import os
import platform
import subprocess
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from llvmlite import binding

from aranyani_tf.files import whole_file
from harness import ROOT
from harness.sums import note_sums

PACKAGES = ("tensorflow", "keras", "numpy", "pandas", "matplotlib", "numba", "river")


class Clock:
    """Begins with a run: the time, and the state of the repository before results are written."""

    def __init__(self):
        self.begin, self.state = time.perf_counter(), repository_state()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.begin


def write_environment(path: Path, names: list[str], clock: Clock, **facts: Any) -> None:
    """Adds the run that made these files to the list of runs; what was made again leaves its older run.

    Args:
        path: of the JSON file.
        names: of what was made, "figure2" or "table1".
        clock: the run's `Clock`.
        facts: more to be told, such as the seeds.
    """
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    if not isinstance(known, list):  # an earlier version told its last run only; that is no reason to lose this one
        known = []
    runs = [run | {"made": [name for name in run["made"] if name not in names]} for run in known]
    runs.append({
        "made": list(names),
        "versions": {"python": platform.python_version(), **{package: version(package) for package in PACKAGES}},
        **clock.state,
        "machine": {"system": platform.system(), "architecture": platform.machine(), "cores": os.cpu_count(),
                    "processor": binding.get_host_cpu_name()},  # its kind, by which machine code is made
        **facts,
        "duration_seconds": round(clock.seconds, 1)})
    with whole_file(path, "w") as file:
        json.dump([run for run in runs if run["made"]], file, indent=2)
        file.write("\n")
    if path.name == "environment.json":  # of full runs
        note_sums(path.parent, names)


def repository_state() -> dict[str, Any]:
    """The commit, and whether the code differs from it."""
    return {"commit": git("rev-parse", "HEAD"),
            "uncommitted_changes": bool(git("status", "--porcelain", "-uno", "--", ".", ":!results"))}


def git(*arguments: str) -> str | None:
    """What git says, or None where there is no repository."""
    try:
        result = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return result.stdout.strip() if result.returncode == 0 else None
