"""The programs that faults happen to: a figure, a sweep and `aranyani run`; the service is in fault_service.py.

Each has a folder. `run` lets it go on there to its end, or until the fault; `result` is what the folder must have in
the end, name by name, where whatever differs between two runs of the same (times of saving) is left out.
"""

import hashlib
import re
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from aranyani_tf.embeddings.cache import write_array, write_manifest
from first_model import people
from trials.fault_processes import FILLER, ROOT, Fault, Running

REPRODUCE, COMMAND = ROOT / "reproduce", ROOT / "aranyani_command.py"
SWEEP = """program: reproduce/sweep.py
method: grid
metric: {{name: fair_accuracy, goal: maximize}}
parameters:
  dataset: {{value: {dataset}}}
  rows: {{value: 400}}
  num_trees: {{values: [1, 2]}}
  height: {{values: [2, 3]}}
  fairness_weight: {{values: [0.0, 0.5]}}
  seed: {{values: [0, 1]}}
"""


def stored(path):
    """What a file holds; of a .keras file, all but the time of saving, and where objects lay in memory."""
    if path.suffix != ".keras" or not zipfile.is_zipfile(path):
        return hashlib.sha256(path.read_bytes()).hexdigest()
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in sorted(archive.namelist())}
    for name, differs in (("metadata.json", rb'"date_saved": "[^"]*"'), ("config.json", rb', "shared_object_id": \d+')):
        members[name] = re.sub(differs, b"", members[name])
    return hashlib.sha256(repr(members).encode()).hexdigest()


class Program:
    """One of the programs.

    Args:
        shared: a folder for what all its runs read.
    """

    name, kind, status = "", Running, 0
    passing: tuple[str, ...] = ()  # files that tell of the run and are not its result
    environment: dict[str, str] = {}  # noqa: RUF012  a subclass has another one

    def __init__(self, shared):
        self.shared = Path(shared)
        self.shared.mkdir(parents=True, exist_ok=True)

    def arguments(self, folder):
        """`python …` to begin or to go on."""
        raise NotImplementedError

    def start(self, folder, fault=None, kind=None):
        folder.mkdir(parents=True, exist_ok=True)
        fault = fault or Fault()
        fault = replace(fault, environment=self.environment | fault.environment)
        return (kind or self.kind)(self.arguments(folder), folder, fault)

    def drive(self, running):
        """Does what the program needs from outside; gives its exit status when it has ended."""
        return running.end()

    def run(self, folder, fault=None, kind=None):
        """Gives the process after its end, with `status`, `seconds` and whether it is `good`."""
        running = self.start(folder, fault, kind)
        running.status = self.drive(running)
        running.seconds = time.monotonic() - running.began
        running.good = running.status == self.status and running.refusal is None
        return running

    def result(self, folder):
        return {str(path.relative_to(folder)): stored(path) for path in sorted(folder.rglob("*"))
                if path.is_file() and path.name not in (*self.passing, FILLER)}


class FigureRun(Program):
    name, passing = "figure", ("environment_tiny.json",)
    further = ("--no-wandb",)

    def arguments(self, folder):
        return REPRODUCE / "drift.py", "--tiny", "--processes", 2, "--results", folder, *self.further


class SweepRun(Program):
    name, dataset = "sweep", "compas"

    def __init__(self, shared):
        super().__init__(shared)
        self.file = self.shared / f"{self.dataset}.yaml"
        self.file.write_text(SWEEP.format(dataset=self.dataset), encoding="utf-8")

    def arguments(self, folder):
        return REPRODUCE / "sweep.py", "--local", self.file, "--results", folder


class EmbeddedSweep(SweepRun):
    """A sweep over embeddings that a user has made; CELEBA names their folder."""

    name, dataset = "sweep", "celeba"

    def __init__(self, shared):
        super().__init__(shared)
        random, self.embeddings = np.random.default_rng(0), self.shared / "celeba"
        write_array(self.embeddings / "features.npy", random.normal(size=(400, 8)).astype("float16"))
        for name in ("labels", "groups"):
            write_array(self.embeddings / f"{name}.npy", random.integers(0, 2, 400).astype("int8"))
        write_manifest(self.embeddings, {})
        self.environment = {"CELEBA": str(self.embeddings)}


class AgentRun(Program):
    """What an agent of W&B runs: one setting, whose records go to W&B and to a CSV file."""

    name, passing = "agent", (".agent.csv.lock",)

    def arguments(self, folder):
        (folder / "agent.csv").unlink(missing_ok=True)
        return (REPRODUCE / "sweep.py", "--dataset", "compas", "--rows", 400, "--fairness_weight", 0.5, "--seed", 0,
                "--csv", folder / "agent.csv")


class CommandRun(Program):
    """A CSV file, once from beginning to end."""

    name, command = "aranyani run", COMMAND

    def __init__(self, shared, rows=20_000):
        super().__init__(shared)
        self.source = self.shared / "people.csv"
        people()[:rows].to_csv(self.source, index=False)
        self.settled = ("--label", "income", "--group", "gender")

    def arguments(self, folder):
        source = ("--dataset", self.source) if isinstance(self.source, str) else (self.source,)
        given = (self.command, "run", *source, "--predictions", "said.csv", "--save-every", 4000, "--quiet")
        if (folder / "model.keras").exists():
            return *given, "--resume", "model.keras"
        return *given, *self.settled, "--parity-target", 0.05, "--overwrite", "--out", "model.keras"


class DatasetRun(CommandRun):
    """A dataset by name in a file's place."""

    def __init__(self, shared, dataset, command=COMMAND, **environment):
        Program.__init__(self, shared)
        self.source, self.settled, self.command, self.environment = dataset, (), command, environment
