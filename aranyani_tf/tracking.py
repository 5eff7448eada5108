"""Records to Weights & Biases: the only module that imports wandb.

Runs are written offline unless the user is logged in; `WANDB_MODE` decides if it is set. Whatever goes
wrong here is told and left behind: an experiment never fails for want of its log.
"""

import os
import threading
import warnings

PROJECT = "aranyani_tf"
SETTINGS = ("dataset", "preprocessing", "method", "rule")
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

    points = records[records["step"] == records.groupby("dataset")["step"].transform("max")]
    for (dataset, method), part in records.groupby(["dataset", "method"], sort=False):
        config = {column: sorted(part[column].unique().tolist()) for column in SETTINGS}
        config |= {"fairness_weights": sorted(part["fairness_weight"].unique().tolist()),
                   "seeds": sorted(part["seed"].unique().tolist())}
        run = start(config, name=f"{name} {dataset} {method}", group=name, job_type=method)
        means = part.groupby(["rule", "fairness_weight", "step"])[list(CURVES)].mean().reset_index()
        for step, rows in means.groupby("step"):
            run.log({f"{curve}/{row.rule} λ={row.fairness_weight:g}": getattr(row, curve)
                     for row in rows.itertuples() for curve in CURVES}, step=int(step))
        table = points[(points["dataset"] == dataset) & (points["method"] == method)].dropna(axis=1, how="all")
        run.log({"points": wandb.Table(dataframe=table),
                 **{picture.stem: wandb.Image(str(picture)) for picture in pictures}})
        run.finish()


def log_safely(*arguments, seconds=30.0):
    """`log_records`, given up after some seconds or at the first error, with a warning."""
    errors = []

    def work():
        try:
            log_records(*arguments)
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        warnings.warn(f"W&B has not finished within {seconds:.0f} s and is left behind; the results are saved",
                      stacklevel=2)
    elif errors:
        warnings.warn(f"W&B could not log ({type(errors[0]).__name__}: {errors[0]}); the results are saved",
                      stacklevel=2)
    else:
        return True
    return False
