"""`aranyani cost`: what a grid over a stream will take, before it is run."""

import argparse
import math
import os
from typing import Any

from aranyani_tf.arguments import require_number, require_whole
from aranyani_tf.command.cost_model import ENGINES, LEVELS, REFERENCE, CostModel, Job, read_cost_model, state_bytes
from aranyani_tf.errors import ArgumentError

HELP = "what a number of settings on a stream will take: seconds, core-hours, memory, machines"
DESCRIPTION = """Predicts CPU time and memory of `fit` from the shape of a model and the length of a stream, by a model
that was fitted to measured runs (docs/scale.md). Learning alone is counted: to read and encode a table comes on top.
Rows are learned one after the other, so that a setting takes one core, and machines share settings."""
EXAMPLES = ("aranyani cost --rows 1e9 --features 40 --settings 100",
            "aranyani cost --rows 1e9 --features 40 --settings 100 --machines 4 --cores 16",
            "aranyani cost --rows 1e8 --features 768 --height 5 --level leaf --hours 8 --calibrate")
REPEATS = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    for name, default, told in (("rows", None, "of the stream, such as 1e9"), ("features", None, "of a row"),
                                ("height", 4, "of the trees (4)"), ("trees", 3, "of a forest (3)"),
                                ("groups", 2, "of people (2)"), ("settings", 1, "λ, seeds, sizes … to be tried (1)"),
                                ("chunk", 16_384, "rows that `fit` takes at once (16,384)")):
        parser.add_argument(f"--{name}", type=whole, default=default, required=default is None, metavar="N", help=told)
    parser.add_argument("--level", choices=LEVELS, default="node", help="where fairness is imposed (node)")
    parser.add_argument("--engine", choices=ENGINES, default="numba", help="what learns (numba)")
    parser.add_argument("--cores", type=whole, default=os.cpu_count(), metavar="N", help="of a machine (as here)")
    wanted = parser.add_mutually_exclusive_group()
    wanted.add_argument("--machines", type=whole, metavar="N", help="how long will it take on so many?")
    wanted.add_argument("--hours", type=float, metavar="H", help="how many machines are needed to be done by then?")
    parser.add_argument("--calibrate", action="store_true", help="learn for a moment here, and scale by how fast this "
                        "machine is; the numbers are those of another one else")


def whole(text: str) -> int:
    """A whole number, which may be written as 1e9."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not value.is_integer():
        raise argparse.ArgumentTypeError(f"a whole number is needed, such as 1000 or 1e9; got {text!r}")
    return int(value)


def run(options: argparse.Namespace) -> None:
    job = Job(**{name: getattr(options, name) for name in Job._fields}).checked()
    require_whole("settings", options.settings, 1)
    require_whole("cores", options.cores, 1)
    model = calibrated(read_cost_model()) if options.calibrate else read_cost_model()
    print("\n".join([*told_of_one(model, job), *told_of_all(model, job, options.settings),
                     *told_of_machines(model.run_seconds(job), options), told_of_trust(model, job)]))


def calibrated(model: CostModel) -> CostModel:
    """The model for the machine that this runs on."""
    from aranyani_tf.command.cost_run import on_one_thread, one_fit

    on_one_thread()
    learn = one_fit(REFERENCE)
    here = min(learn() for _ in range(REPEATS))
    return model._replace(scale=here / model.reference_seconds)


def told_of_one(model: CostModel, job: Job) -> list[str]:
    seconds, parts = model.run_seconds(job), model.parts(job)
    largest = sorted(parts, key=lambda name: -parts[name])[:3]
    return [f"one setting, {job.rows:,} rows of {job.features:,} features; {job.trees} trees of height {job.height}, "
            f"{job.level} level, {job.groups} groups, {job.engine}:",
            f"  {spelled(seconds)} of one core, {job.rows / seconds:,.0f} rows a second",
            "  most of it: " + ", ".join(f"{name} {100 * parts[name] / seconds:.0f} %" for name in largest)]


def told_of_all(model: CostModel, job: Job, settings: int) -> list[str]:
    return [f"{settings:,} settings: {settings * model.run_seconds(job) / 3600:,.3g} core-hours",
            f"memory: {model.megabytes(job):,.0f} MB a process, {state_bytes(job) / 2**20:,.2f} of them the model's "
            "weights and means, however long the stream"]


def told_of_machines(seconds: float, options: argparse.Namespace) -> list[str]:
    """How long so many machines take, or how many are needed; nothing if neither was asked for."""
    cores, settings = options.cores, options.settings
    if options.machines is not None:
        require_whole("machines", options.machines, 1)
        rounds = math.ceil(settings / (options.machines * cores))
        return [f"{spelled(rounds * seconds)} on machines of {cores} cores: {options.machines:,}; in {rounds:,} rounds"]
    if options.hours is not None:
        require_number("hours", options.hours, 0.0, above=True)
        rounds = int(3600 * options.hours // seconds)
        if rounds == 0:
            raise ArgumentError(
                f"one setting alone takes {spelled(seconds)}, and no number of machines makes it shorter: rows are "
                f"learned one after the other. Give it --hours {math.ceil(seconds / 360) / 10:g}, a smaller forest, or "
                "fewer rows")
        return [f"machines of {cores} cores that are done in {options.hours:g} hours: "
                f"{math.ceil(settings / (rounds * cores)):,}, with up to {rounds:,} settings a core"]
    return []


def told_of_trust(model: CostModel, job: Job) -> str:
    """Where the numbers come from, and how far to believe them."""
    measured: dict[str, Any] = model.measured
    scaled = f", times {model.scale:.2f} by a run on this machine" if model.scale != 1 else ""
    told = (f"as measured on {measured['machine']}{scaled}; of {measured['held_out']} runs that were held out there "
            f"{measured['within_20_percent']} were predicted within 20 %, the worst was "
            f"{100 * measured['worst']:.0f} % off")
    beyond = [f"{name} {getattr(job, name):,}" for name, (low, high) in measured["ranges"].items()
              if not low <= getattr(job, name) <= high]
    return told + (f". Not measured: {', '.join(beyond)}" if beyond else "")


def spelled(seconds: float) -> str:
    for size, unit in ((86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:,.1f} seconds"
