"""Records to Weights & Biases: the only module that imports wandb.

Runs are written offline unless the user is logged in; `WANDB_MODE` decides if it is set. Whatever goes
wrong here is told and left behind: an experiment never fails for want of its log.
"""

import os
import signal
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import pandas as pd

PROJECT = "aranyani_tf"
SETTINGS = ("dataset", "preprocessing", "method", "rule")
# Told in a curve's name where they vary.
FURTHER = ("preprocessing", "num_trees", "height", "decay", "forget", "chance", "notion", "update_when",
           "samples_per_step", "groups", "share", "order", "fraction", "held_out")
CURVES = ("accuracy", "demographic_parity")


def mode():
    """`WANDB_MODE` if set; "online" for a user who is logged in, or else "offline"."""
    import wandb

    if os.environ.get("WANDB_MODE"):
        return os.environ["WANDB_MODE"]
    return "online" if wandb.login(prompt=False) else "offline"


def start(config, **options):
    """A W&B run with these settings, quiet on the terminal."""
    import wandb

    return wandb.init(project=os.environ.get("WANDB_PROJECT", PROJECT), config=config, mode=mode(),
                      settings=wandb.Settings(silent=True), reinit="finish_previous", **options)


def log_curve(run, records):
    """One model's records: a point of each curve per checkpoint; the last ones become W&B's summary."""
    metrics = records.drop(columns=[*SETTINGS, "fairness_weight", "seed"], errors="ignore")
    for record in metrics.to_dict("records"):
        run.log({name: value for name, value in record.items() if value == value}, step=int(record["step"]))


def log_records(name, records, pictures=()):
    """One run for each dataset and method: settings, table of points, curves (mean over seeds), pictures."""
    import wandb

    for (dataset, method), part in records.groupby(["dataset", "method"], sort=False):
        config = {column: sorted(part[column].unique().tolist()) for column in SETTINGS}
        config |= {"fairness_weights": sorted(part["fairness_weight"].unique().tolist()),
                   "seeds": sorted(part["seed"].unique().tolist())}
        run = start(config, name=f"{name} {dataset} {method}", group=name, job_type=method)
        if method != "majority":  # which is known at the end of the stream only
            varied = [name for name in FURTHER if name in part and part[name].nunique(dropna=False) > 1]
            keys = ["rule", "fairness_weight", *varied, "step"]
            means = part.groupby(keys, dropna=False)[list(CURVES)].mean().reset_index()
            for step, rows in means.groupby("step"):
                run.log({f"{curve}/{curve_name(row, varied)}": row[curve]
                         for row in rows.to_dict("records") for curve in CURVES}, step=int(step))
        settings = [name for name in (*FURTHER, "rule", "fairness_weight", "seed", "probability") if name in part]
        ends = part.groupby(settings, dropna=False)["step"].transform("max")
        table = part[part["step"] == ends].dropna(axis=1, how="all")
        run.log({"points": wandb.Table(dataframe=table),
                 **{picture.stem: wandb.Image(str(picture)) for picture in pictures}})
        run.finish()


def curve_name(row, varied):
    """Rule and λ, and the settings that differ between a run's curves."""
    return " ".join([f"{row['rule']} λ={row['fairness_weight']:g}", *(f"{name}={row[name]}" for name in varied)])


def log_safely(name, records, pictures=(), *, seconds=30.0):
    """`log_records` in a process of its own, which is ended after some seconds; tells whether it worked.

    W&B can hang in ways that outlast the thread that called it; a process can be ended.
    """
    with tempfile.TemporaryDirectory() as folder:
        csv = Path(folder) / "records.csv"
        records.to_csv(csv, index=False)
        # The file itself, not the module of the package: that would import TensorFlow first.
        logger = subprocess.Popen([sys.executable, __file__, name, csv, *pictures], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True, start_new_session=True)
        try:
            _, complaint = logger.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(logger.pid, signal.SIGKILL)
            logger.communicate()
            warnings.warn(f"W&B has not finished within {seconds:.0f} s and was ended; the results are saved",
                          stacklevel=2)
            return False
    if logger.returncode:
        last = complaint.strip().splitlines()[-1:] or ["no message"]
        warnings.warn(f"W&B could not log ({last[0]}); the results are saved", stacklevel=2)
    return logger.returncode == 0


if __name__ == "__main__":
    log_records(sys.argv[1], pd.read_csv(sys.argv[2]), [Path(picture) for picture in sys.argv[3:]])
