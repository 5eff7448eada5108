"""What a W&B agent runs: one setting of a sweep. Or, with --local, a whole sweep here without an account.

    wandb sweep reproduce/sweep_configs/adult.yaml      # then, on as many machines as one likes:
    wandb agent ENTITY/PROJECT/SWEEP

    python reproduce/sweep.py --local reproduce/sweep_configs/adult.yaml

Each run's curves are logged as they come, and `fair_accuracy`, by which the sweeps rank their runs. If W&B does
not answer, the run is logged offline.
"""

import quiet  # noqa: F401

import argparse
import io
import itertools
import sys
from dataclasses import asdict, fields
from pathlib import Path
from typing import get_args

import pandas as pd
import yaml
from filelock import FileLock

from aranyani_tf.errors import ArgumentError
from aranyani_tf.files import whole_file
from harness import RESULTS, tracking
from harness.experiments import Experiment
from harness.figure import summary
from harness.runner import run_all
from harness.settings import GRID, RUN  # the sides of an Experiment; its other fields are settings


def check(config):
    """Raises unless all parameters are known, and none is missing that has no default."""
    unknown, missing = set(config) - set(parameters()), {*GRID, "dataset"} - set(config)
    if unknown:
        raise ValueError(f"unknown parameter {', '.join(sorted(unknown))}; known are {', '.join(parameters())}")
    if missing:
        raise ValueError(f"the parameter {', '.join(sorted(missing))} is missing")


def experiment_of(config):
    """One λ and seed as an `Experiment`; raises about all that its data or its model would refuse later."""
    check(config)
    settings = dict(config)
    weight, seed = (settings.pop(name) for name in GRID)
    experiment = Experiment(fairness_weights=(float(weight),), seeds=(int(seed),), **settings)
    stream = experiment.stream()
    if experiment.held_out:
        stream.held_out(experiment.held_out)
    experiment.single(stream, seed=int(seed), fairness_weight=float(weight))
    return experiment


def parameters():
    return [*GRID, *(field.name for field in fields(Experiment) if field.name not in GRID.values())]


def kinds():
    """How the text of each parameter becomes a value."""
    found = {"fairness_weight": float, "seed": int}
    for field in fields(Experiment):
        if field.name in parameters():
            kind = (get_args(field.type) or (field.type,))[0]  # of `float | None` the first
            found[field.name] = is_true if kind is bool else kind
    return found


def is_true(text):
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


def settings_of(experiment):
    """Every parameter of an experiment with one λ and seed, the defaults too."""
    return {"fairness_weight": experiment.fairness_weights[0], "seed": experiment.seeds[0]} | {
        name: value for name, value in asdict(experiment).items() if name in parameters()}


def name_of(experiment):
    """Dataset, method, rule and λ, and whatever is not the default; but not the seed."""
    defaults = {field.name: field.default for field in fields(experiment)}
    other = [f"{name}={value}" for name, value in settings_of(experiment).items()
             if name not in (*GRID, "dataset", "method", "rule") and value != defaults[name]]
    return " ".join([experiment.dataset, experiment.method, experiment.rule,
                     f"λ={experiment.fairness_weights[0]:g}", *other])


def run_one(config, csv=None):
    """One setting: its curves and results go to W&B, and into a CSV file if one is named."""
    return run(experiment_of(config), csv)  # a wrong setting fails before a run of W&B is begun


def run(experiment, csv=None):
    log, told = tracking.ModelRun(settings_of(experiment), name_of(experiment)), set()

    def tell(record):
        log.log(record)
        told.add(record["step"])

    records = experiment.run(on_record=tell)
    records = records[records["method"] == experiment.method].drop(columns="probability", errors="ignore")
    for record in records[~records["step"].isin(told)].to_dict("records"):  # of a method that tells all at its end
        log.log(record)
    log.finish()
    if csv:  # at last: what is wrong with the file does not concern the log
        append(records, Path(csv))
    return records


def append(records, csv):
    """Adds rows to a file that other agents may be adding to as well, with the same columns.

    A run may come twice: W&B gives the point of an agent that it has not heard of to another one, and both may end. The
    rows are the same then, and are there once. The file is in the order of the settings, whoever was first, and is
    whole at every moment.
    """
    csv.parent.mkdir(parents=True, exist_ok=True)
    own = records.to_csv(index=False, float_format="%.6g")
    with FileLock(csv.with_name(f".{csv.name}.lock")):
        there = csv.read_text(encoding="utf-8") if csv.exists() else ""
        header, own_header = (text.partition("\n")[0] for text in (there, own))
        if header not in ("", own_header):
            differ = set(header.split(",")) ^ set(own_header.split(","))
            raise ArgumentError(f"{csv} has other columns than these records, which are not added to it (what differs: "
                                f"{', '.join(sorted(differ)) or 'their order'}); choose another file: --csv FILE")
        rows = pd.concat([as_texts(text) for text in (there, own) if text]).drop_duplicates()
        keys = [name for name in (*RUN, "step") if name in rows]
        rows = rows.sort_values(keys, key=numbers_as_numbers, kind="stable") if keys else rows
        with whole_file(csv, "w") as file:
            rows.to_csv(file, index=False)


def as_texts(csv):
    return pd.read_csv(io.StringIO(csv), dtype=str, keep_default_na=False)


def numbers_as_numbers(column):
    """What a column is sorted by: 2 comes before 10."""
    numbers = pd.to_numeric(column, errors="coerce")
    return column if numbers.isna().any() else numbers


def configs_of(path):
    """Every setting of a sweep file, in the order in which W&B's own engine gives them."""
    import sweeps

    try:
        sweep = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise ValueError(f"{path} is not YAML: {error}") from error
    problems = list(sweeps.schema_violations_from_proposed_config(sweep))
    if problems:
        raise ValueError(f"{path} is not a sweep of W&B: {problems[0]}")
    if sweep["method"] != "grid":
        raise ValueError(f"{path} has method {sweep['method']}; only a grid comes to an end here")
    runs = []
    while (following := sweeps.next_run(sweep, runs)) is not None:
        runs.append(following)
        config = {name: entry["value"] for name, entry in following.config.items()}
        check(config)
        yield config


def grids_of(configs):
    """Settings that differ in λ and seed only become one `Experiment`, which is trained in one pass."""
    def rest(config):
        return sorted((name, value) for name, value in config.items() if name not in GRID)

    for settings, group in itertools.groupby(sorted(configs, key=lambda c: str(rest(c))), key=rest):
        group = list(group)
        weights, seeds = (list(dict.fromkeys(config[name] for config in group)) for name in GRID)
        if len(group) != len(weights) * len(seeds):
            raise ValueError(f"{dict(settings)}: a sweep must have every λ with every seed")
        yield Experiment(fairness_weights=tuple(map(float, weights)), seeds=tuple(map(int, seeds)), **dict(settings))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--local", metavar="SWEEP", help="run all settings of this file here")
    parser.add_argument("--fresh", action="store_true", help="with --local: start over")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER", help="with --local")
    parser.add_argument("--csv", metavar="FILE", help="also add the records to this file")
    for name, kind in kinds().items():
        parser.add_argument(f"--{name}", type=kind)
    options = parser.parse_args()
    config = {name: getattr(options, name) for name in parameters() if getattr(options, name) is not None}
    if not options.local:
        missing = [name for name in (*GRID, "dataset") if name not in config]
        if missing:
            parser.error(f"missing --{', --'.join(missing)}; or --local FILE for a whole sweep")
        try:
            experiment = experiment_of(config)
        except (OSError, ValueError) as error:
            parser.error(str(error))
        try:
            print(summary(run(experiment, options.csv)))
        except (OSError, ArgumentError) as error:  # the file
            sys.exit(str(error))
        return
    if config or options.csv:
        parser.error("--local takes its settings from the sweep file")
    name = f"sweep_{Path(options.local).stem}"
    try:
        experiments = list(grids_of(configs_of(options.local)))
        records = run_all(name, experiments, results=options.results, fresh=options.fresh)
    except (OSError, ValueError) as error:  # the sweep file; data that is not here; the folder of the results
        sys.exit(str(error))
    print(f"\n{summary(records)}\n\n→ {options.results / name}.csv")


if __name__ == "__main__":
    main()
