"""Records to Weights & Biases: the only module that imports wandb.

Runs are written offline unless the user is logged in and the service answers; `WANDB_MODE` decides if it is
set. Whatever goes wrong here is told and left behind: an experiment never fails for want of its log.
"""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from harness.settings import COLUMNS, CURVE, FURTHER_SETTINGS, GRID, RUN

if TYPE_CHECKING:
    import wandb

PROJECT = "aranyani_tf"
PATIENCE = 10.0  # seconds that the service has to answer when a run begins
UPLOAD = 60.0  # seconds for what is not uploaded yet when it ends; the rest stays in ./wandb, for `wandb sync`
TOLD_WHERE_THEY_VARY = ("preprocessing", *FURTHER_SETTINGS)  # in a curve's name
NOT_MEASURED = {*COLUMNS, "stands_in_for"}
CURVES = ("accuracy", "demographic_parity")
FAIR_ENOUGH = 0.05
TAIL = 20  # lines of a complaint


def mode() -> str:
    """`WANDB_MODE` if set; "online" for a user who is logged in, or else "offline"."""
    import wandb

    if os.environ.get("WANDB_MODE"):
        return os.environ["WANDB_MODE"]
    try:
        return "online" if wandb.login(prompt=False) else "offline"
    except wandb.errors.Error as error:  # it has a key, and cannot ask the service about it
        warnings.warn(f"W&B does not answer ({error}); this run is logged offline", stacklevel=2)
        return "offline"


def start(config: dict[str, Any], **options: Any) -> "wandb.Run":
    """A W&B run with these settings, quiet on the terminal; offline if the service does not answer."""
    import wandb

    def begin(mode: str) -> "wandb.Run":
        return wandb.init(project=os.environ.get("WANDB_PROJECT", PROJECT), config=config, mode=mode,
                          settings=wandb.Settings(silent=True, init_timeout=PATIENCE, finish_timeout=UPLOAD),
                          reinit="finish_previous", **options)

    try:
        return begin(mode())
    except wandb.errors.CommError as error:
        warnings.warn(f"W&B does not answer ({str(error).splitlines()[0]}); this run is logged offline", stacklevel=2)
        return begin("offline")


def fair_accuracy(accuracy: float, gap: float) -> float:
    """One number for sweeps: every point of demographic parity beyond 0.05 costs a point of accuracy.

    Accuracy alone would always rank λ = 0 first, and the gap alone a model that says the same to all.

    >>> round(fair_accuracy(0.83, 0.19), 2), round(fair_accuracy(0.80, 0.04), 2)
    (0.69, 0.8)
    """
    return accuracy - max(gap - FAIR_ENOUGH, 0.0)


def with_fair_accuracy(records: pd.DataFrame) -> pd.DataFrame:
    pairs = zip(records["accuracy"], records["demographic_parity"], strict=True)
    return records.assign(fair_accuracy=[fair_accuracy(*pair) for pair in pairs])


class ModelRun:
    """The W&B run of one model, which takes its records as they come; it never raises.

    Its name tells the setting and the seed, its group the setting alone, so that W&B can average over seeds.

    Args:
        config: every setting, with `fairness_weight` and `seed`.
        setting: the same for people, without the seed.
    """

    def __init__(self, config: dict[str, Any], setting: str):
        self.run = None
        with self.guarded():
            self.run = start(config, name=f"{setting} seed {config['seed']}", group=setting, job_type=config["method"])

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # W&B's own kinds, and those of the network and the disk
            warnings.warn(f"W&B could not log ({error}); the experiment goes on without", stacklevel=4)
            self.run = None

    def log(self, record: dict[str, Any]) -> None:
        """One point of every curve: what was measured at a checkpoint. NaN stays NaN: no alarm may sleep over it."""
        if self.run is None:
            return
        values = {name: value for name, value in record.items() if name not in NOT_MEASURED}
        if "accuracy" in values and "demographic_parity" in values:
            values["fair_accuracy"] = fair_accuracy(values["accuracy"], values["demographic_parity"])
        with self.guarded():
            self.run.log(values, step=int(record["step"]))

    def finish(self) -> None:
        if self.run is not None:
            with self.guarded():
                self.run.finish()


def log_records(name: str, records: pd.DataFrame, pictures: Iterable[Path] = ()) -> None:
    """One run for each dataset and method: settings, table of points, curves (mean over seeds), pictures."""
    import wandb

    for (dataset, method), part in records.groupby(["dataset", "method"], sort=False):
        config = {column: sorted(part[column].dropna().unique().tolist())
                  for column in CURVE if column in part}
        config |= {side: sorted(part[column].unique().tolist()) for column, side in GRID.items()}
        run = start(config, name=f"{name} {dataset} {method}", group=name, job_type=method)
        if method != "majority":  # which is known at the end of the stream only
            varied = [name for name in TOLD_WHERE_THEY_VARY if name in part
                      and part[name].nunique(dropna=False) > 1]
            keys = ["rule", "fairness_weight", *varied, "step"]
            means = part.groupby(keys, dropna=False)[list(CURVES)].mean().reset_index()
            for step, rows in means.groupby("step"):
                run.log({f"{curve}/{curve_name(row, varied)}": row[curve]
                         for row in rows.to_dict("records") for curve in CURVES}, step=int(step))
        settings = [name for name in RUN if name in part]
        ends = part.groupby(settings, dropna=False)["step"].transform("max")
        table = part[part["step"] == ends].dropna(axis=1, how="all")
        run.log({"points": wandb.Table(dataframe=table),
                 **{picture.stem: wandb.Image(str(picture)) for picture in pictures}})
        run.finish()


def curve_name(row: dict[str, Any], varied: list[str]) -> str:
    """Rule and λ, and the settings that differ between a run's curves."""
    return " ".join([f"{row['rule']} λ={row['fairness_weight']:g}", *(f"{name}={row[name]}" for name in varied)])


def log_safely(name: str, records: pd.DataFrame, pictures: Sequence[Path] = (), *, seconds: float = 30.0) -> bool:
    """`log_records` in a process of its own, which is ended after some seconds; tells whether it worked.

    W&B can hang in ways that outlast the thread that called it; a process can be ended.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        csv, said = Path(folder) / "records.csv", Path(folder) / "said.txt"
        records.to_csv(csv, index=False)
        # With -P no folder but those of PYTHONPATH is searched for modules: our files cannot be taken for others'.
        paths = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(Path(__file__).parents[1])]))
        with open(said, "w", encoding="utf-8") as file:  # not a pipe, which a child of the process may keep open
            logger = subprocess.Popen([sys.executable, "-P", "-m", "harness.tracking", name, csv, *pictures],
                                      stdout=subprocess.DEVNULL, stderr=file, start_new_session=True,
                                      env=os.environ | {"PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8"})
            try:
                logger.wait(timeout=seconds)
                ended = False
            except subprocess.TimeoutExpired:
                end(logger)
                ended = True
        complaint = said.read_text(encoding="utf-8", errors="replace")
    if ended:
        warnings.warn(f"W&B has not finished within {seconds:.0f} s and was ended; the results are saved"
                      + tail(complaint), stacklevel=2)
        return False
    if logger.returncode:
        warnings.warn(f"W&B could not log; the results are saved{tail(complaint)}", stacklevel=2)
    return logger.returncode == 0


def end(process: subprocess.Popen) -> None:
    """Ends a process; and what it started, where a session of its own can be ended at once."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def tail(complaint: str) -> str:
    """The last lines of what a process said, for a message."""
    lines = complaint.strip().splitlines()
    return "".join(f"\n  {line}" for line in (["It said:", *lines[-TAIL:]] if lines else ["It said nothing."]))


if __name__ == "__main__":
    log_records(sys.argv[1], pd.read_csv(sys.argv[2]), [Path(picture) for picture in sys.argv[3:]])
