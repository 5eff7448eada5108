"""What `aranyani run` is asked, and what it says in the end."""

import argparse
import os
from typing import Any

from aranyani_tf.command.beginning import form_of
from aranyani_tf.command.run import Run, fingerprint, require_same_source
from aranyani_tf.command.run_arguments import MODEL, SETTLED, TABLE, TARGET, add_arguments
from aranyani_tf.command.run_file import RunState, load_run
from aranyani_tf.command.source import Source, of_frame, open_source
from aranyani_tf.command.table_arguments import separator_of
from aranyani_tf.command.tallies import told_by_group
from aranyani_tf.command.wording import in_options
from aranyani_tf.control.parity_target import ParityTarget
from aranyani_tf.datasets.tables import table
from aranyani_tf.errors import ArgumentError
from aranyani_tf.model.aranyani import Aranyani
from aranyani_tf.streams.table_options import TableOptions
from aranyani_tf.tabular.tabular_model import TabularModel

__all__ = ["DESCRIPTION", "EXAMPLES", "HELP", "add_arguments", "run"]

HELP = "learn from a file or a pipe, row by row"
DESCRIPTION = """Learns from rows in their order: each is answered first, then learned from, and not kept. Memory
does not grow with the file. Ctrl-C saves the model and says how to go on; what comes out is the
same, to the last bit, as without it."""
EXAMPLES = (
    "aranyani run people.csv --label hired --group sex --parity-target 0.05 --out model.keras",
    "aranyani run people.csv --resume model.keras",
    "zcat log.jsonl.gz | aranyani run - --format jsonl --label hired --group sex --labels no,yes --groups f,m",
    "aranyani run --dataset adult --parity-target 0.05 --predictions said.csv --plot page.html")


def run(options: argparse.Namespace) -> int:
    if (options.rows is None) == (options.dataset is None):
        raise ArgumentError("name a file, - for standard input, or --dataset NAME")
    if options.save_every < 1:
        raise ArgumentError(f"--save-every must be at least 1, got {options.save_every}")
    journey = begun(options) if options.resume is None else resumed(options)
    number = journey.go(show_bar=False if options.quiet else None)
    print(told_end(journey, number))
    if options.plot is not None:
        from aranyani_tf.command.page import write_page

        write_page(journey, options.plot)
        print(f"the picture is in {options.plot}")
    if number is not None:
        print(f"stopped after {journey.state.rows_read:,} rows; to go on:\n  aranyani run {told_source(options)} "
              f"--resume {journey.path}")
        return 128 + number
    return 0


def begun(options: argparse.Namespace) -> Run:
    """A run from the beginning."""
    path = options.out or "model.keras"
    if not path.endswith(".keras"):
        raise ArgumentError(f"--out must be the name of a .keras file, got {path!r}")
    for file in (path, options.predictions):
        if file is not None and os.path.exists(file) and not options.overwrite:
            raise ArgumentError(f"{file} is there already; write over it with --overwrite, or go on with a run by "
                                "--resume")
    given = {name: getattr(options, name) for name in TABLE if getattr(options, name) is not None}
    source, given = source_of(options, given)
    for name in ("label", "group"):
        if name not in given:
            raise ArgumentError(f"--{name} is missing: the column that holds the {name}; there are: "
                                f"{', '.join(source.first().columns)}")
    on_bad_rows = options.on_bad_rows or "skip"
    labels, groups = given.pop("labels", None), given.pop("groups", None)
    chosen = TableOptions.of(**({"preprocessing": "online", "on_empty_cells": on_bad_rows} | given), num_labels=None,
                             num_groups=None, separator=separator_of(options.separator, options.rows or ""))
    form = form_of(source, chosen, on_bad_rows=on_bad_rows, labels=labels, groups=groups)
    model = {name: MODEL[name] if getattr(options, name) is None else getattr(options, name) for name in MODEL}
    target = model["parity_target"]
    weight = model["fairness_weight"] if target is None else ParityTarget(target)
    tabular = TabularModel(Aranyani(
        form.num_labels, model["trees"], model["height"], num_groups=form.num_groups, seed=model["seed"],
        fairness_weight=ParityTarget(TARGET) if weight is None else weight, notion=model["notion"],
        constraint=model["level"], decay=model["decay"]), form)
    state = RunState(fingerprint(source), on_bad_rows, predictions=options.predictions, settled=settled(options))
    return Run(tabular, state, source, path=path, save_every=options.save_every)


def resumed(options: argparse.Namespace) -> Run:
    """A run that goes on; what was settled at its beginning stays."""
    tabular, state = load_run(options.resume)
    for name, value in settled(options).items():
        if value != state.settled.get(name):
            raise ArgumentError(f"--{name.replace('_', '-')} was settled when the run began, and is kept in "
                                f"{options.resume}; leave it out")
    options.separator = options.separator or tabular.form.options.separator
    source, _ = source_of(options, {})
    require_same_source(state, source)
    if options.predictions not in (None, state.predictions):
        raise ArgumentError(f"the run writes its predictions to {state.predictions or 'no file'}, not to "
                            f"{options.predictions}; leave the option out")
    path = options.out or options.resume
    if os.path.exists(path) and path != options.resume and not options.overwrite:
        raise ArgumentError(f"{path} is there already; write over it with --overwrite")
    return Run(tabular, state, source, path=path, save_every=options.save_every)


def settled(options: argparse.Namespace) -> dict[str, Any]:
    """What was given of the options that a run keeps."""
    return {name: getattr(options, name) for name in SETTLED if getattr(options, name) is not None}


def source_of(options: argparse.Namespace, given: dict[str, Any]) -> tuple[Source, dict[str, Any]]:
    """Where the rows come from, and the options of the table."""
    if options.dataset is None:
        return open_source(options.rows, options.format, separator_of(options.separator, options.rows)), given
    found = table(options.dataset)
    known = {"label": found.label, "group": found.group, "exclude": found.exclude, "drop_group": found.drop_group}
    return of_frame(found.frame, options.dataset), known | given


def told_source(options: argparse.Namespace) -> str:
    return f"--dataset {options.dataset}" if options.rows is None else options.rows


def told_end(journey: Run, number: int | None) -> str:
    """A table by group, and a few sentences."""
    state, model = journey.state, journey.model
    past = model.progress.prequential
    accuracy, recent_accuracy, gap, recent_gap, weight = journey.latest
    lines = [told_by_group(past.counts.numpy(), journey.form, model.positive_label), "",
             f"{journey.gap_name.replace('_', ' ')}: {gap:.3f} over all rows, {recent_gap:.3f} lately; accuracy "
             f"{100 * accuracy:.1f} %, lately {100 * recent_accuracy:.1f} %"]
    target = "" if model.parity_target is None else f", to keep the gap at or below {model.parity_target.target:g}"
    lines.append(f"λ is {weight:.3g}{target}")
    if state.num_bad:
        lines.append(f"skipped {state.num_bad:,} of {state.rows_read:,} rows; the first: "
                     f"{in_options(state.first_bad or '')}")
    total = sum(journey.seconds.values())
    rate = journey.rows_here / max(total, 1e-9)
    slowest_first = sorted(journey.seconds.items(), key=lambda part: -part[1])
    parts = ", ".join(f"{what} {seconds:.1f} s" for what, seconds in slowest_first)
    lines += [f"{journey.rows_here:,} rows in {total:.1f} s, {rate:,.0f} a second ({parts})",
              f"the model is in {journey.path}"]
    return "\n".join(lines)
