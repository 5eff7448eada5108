"""A page about a run, to be read without a network: accuracy, gap and λ along the stream, and the table by group."""

import html
import io
import os
from typing import Any

import numpy as np

from aranyani_tf.command.drawing import new_figure
from aranyani_tf.command.run import Run
from aranyani_tf.command.tallies import told_by_group
from aranyani_tf.command.wording import in_options
from aranyani_tf.files import whole_file

STYLE = ("body{font:16px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
         "svg{width:100%;height:auto}")


def write_page(journey: Run, path: str | os.PathLike) -> None:
    """Writes an HTML file that is whole or not there."""
    model, state = journey.model, journey.state
    target = None if model.parity_target is None else model.parity_target.target
    picture = io.StringIO()
    draw(np.array(state.record, "float64").reshape(-1, 6), journey.gap_name, target).savefig(picture, format="svg")
    svg = picture.getvalue()
    table = told_by_group(model.progress.prequential.counts.numpy(), journey.form, model.positive_label)
    title = html.escape(f"{state.source['name']}: {journey.form.options.label} by {journey.form.options.group}")
    bad = "" if not state.num_bad else (
        f"<p>Skipped {state.num_bad:,} of them; the first: {html.escape(in_options(state.first_bad or ''))}</p>\n")
    with whole_file(path, "w") as file:
        file.write(f"<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>"
                   f"<style>{STYLE}</style>\n<h1>{title}</h1>\n<p>{state.rows_read:,} rows.</p>\n{bad}"
                   f"{svg[svg.index('<svg'):]}\n<pre>{html.escape(table)}</pre></html>\n")


def draw(record: np.ndarray, gap_name: str, target: float | None) -> Any:
    """A figure of [row, accuracy, recent accuracy, gap, recent gap, λ] along the stream."""
    figure = new_figure(figsize=(8, 7))
    top, middle, bottom = figure.subplots(3, 1, sharex=True)
    row, accuracy, recent_accuracy, gap, recent_gap, weight = record.T
    for axes, values, recent, name in ((top, 100 * accuracy, 100 * recent_accuracy, "accuracy, %"),
                                       (middle, gap, recent_gap, gap_name.replace("_", " "))):
        axes.plot(row, recent, color="tab:blue", linewidth=0.8, alpha=0.6, label="lately")
        axes.plot(row, values, color="black", linewidth=1.5, label="all rows so far")
        axes.set_ylabel(name)
    if target is not None:
        middle.axhline(target, color="tab:red", linewidth=1, linestyle="--", label="target")
    middle.set_ylim(bottom=0)
    middle.legend(frameon=False)
    bottom.plot(row, weight, color="tab:green", linewidth=1)
    bottom.set_ylabel("λ")
    bottom.set_xlabel("rows")
    return figure
