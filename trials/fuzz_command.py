"""The `aranyani` command on files that are none, and with options that cannot be."""

import contextlib
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from unittest import mock

from aranyani_tf.command.main import FAILED, main
from aranyani_tf.errors import AranyaniError
from trials.fuzz_cases import Case, Senseless, Surface
from trials.fuzz_files import BYTES, TEXT, in_archive, in_json, packed, unpacked
from trials.fuzz_saved import in_config, in_weights
from trials.fuzz_tables import in_frame, people
from trials.fuzz_values import NUMBERS, TEXTS, told

COLUMNS = ("--label", "hired", "--group", "sex")
SMALL = ("--trees", "1", "--height", "1", "--quiet")
OPTIONS = ("--label", "--group", "--labels", "--groups", "--parity-target", "--fairness-weight", "--trees", "--height",
           "--seed", "--preprocessing", "--save-every", "--separator", "--format", "--exclude", "--categorical",
           "--notion", "--level", "--decay", "--decimal", "--on-bad-rows", "--predictions", "--out", "--empty",
           "--dataset", "--nonsense", "--resume")


class Told(AranyaniError):
    """The command ended with its message."""


def called(arguments: list[str]) -> None:
    """Runs the command here; raises `Told` with its one message, or `Senseless` if it failed without a word."""
    said, wrong = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(wrong), mock.patch.object(os, "dup2"):
        try:
            status = main(arguments)
        except SystemExit as end:  # argparse
            status = end.code if isinstance(end.code, int) else FAILED
    message = [line for line in wrong.getvalue().splitlines() if line.startswith("aranyani")]
    if status == 0:
        return
    if status != FAILED or not message:
        raise Senseless(f"status {status}, and it said {wrong.getvalue()[-300:]!r}")
    raise Told(message[-1])


def lines_of(random: Random) -> tuple[str, str, bytes]:
    """(kind, mutation, content) of a CSV or JSON lines file."""
    kind = random.choice(("csv", "jsonl"))
    mutation = random.choice(("columns and cells", *TEXT))
    frame = people(30, random.randrange(4))
    if mutation == "columns and cells":
        inner, frame = in_frame(random, frame)
        mutation = inner
        try:
            text = frame.to_csv(index=False) if kind == "csv" else frame.to_json(
                orient="records", lines=True, default_handler=str)
        except Exception:  # pandas cannot write it either
            text = people(3).to_csv(index=False) if kind == "csv" else '{"age": [1, {"b": 1e999}]}\n'
        return kind, mutation, text.encode("utf-8", "surrogatepass")
    data = frame.to_csv(index=False).encode() if kind == "csv" else frame.to_json(orient="records", lines=True).encode()
    return kind, mutation, TEXT[mutation](random, data)


def files(folder: Path) -> Callable[[Random], Case]:
    good = folder / "good.csv"
    people(30).to_csv(good, index=False)
    model, out = folder / "model.keras", folder / "out.keras"
    called(["run", str(good), *COLUMNS, *SMALL, "--out", str(model)])
    whole = model.read_bytes()

    def draw(random: Random) -> Case:
        kind, mutation, data = lines_of(random)
        path = folder / f"people.{kind}"
        path.write_bytes(data)
        model.write_bytes(whole)
        out.write_bytes(b"what was there before")
        strict = random.choice(((), ("--on-bad-rows", "raise")))
        command = random.choice(("run", "run", "evaluate", "resume"))
        arguments = {"run": ["run", str(path), *COLUMNS, *SMALL, "--out", str(out), "--overwrite", *strict],
                     "evaluate": ["evaluate", str(model), str(path), *strict],
                     "resume": ["run", str(path), "--resume", str(model), "--quiet"]}[command]
        return Case(f"{command}, {kind}: {mutation}", lambda: called(arguments),
                    lambda: model.read_bytes() + out.read_bytes(), f"{arguments} with {told(data)}")

    return draw


def options(folder: Path) -> Callable[[Random], Case]:
    good, out = folder / "good.csv", folder / "out.keras"
    people(30).to_csv(good, index=False)

    def draw(random: Random) -> Case:
        out.unlink(missing_ok=True)
        option = random.choice(OPTIONS)
        value = str(random.choice((*random.sample(TEXTS, 3), *random.sample(NUMBERS[:-5], 3), "hired", "age", "f,m")))
        value = value.replace("\0", "").replace("/", "")
        value = value if option not in ("--predictions", "--out") else str(folder / "x" / value[:40])
        arguments = ["run", str(good), *COLUMNS, *SMALL, "--out", str(out), option, value]
        return Case(option, lambda: called(arguments), lambda: out.read_bytes() if out.exists() else b"",
                    told(arguments))

    return draw


def models(folder: Path) -> Callable[[Random], Case]:
    good, model, changed = folder / "good.csv", folder / "model.keras", folder / "changed.keras"
    people(30).to_csv(good, index=False)
    called(["run", str(good), *COLUMNS, *SMALL, "--out", str(model)])
    whole = model.read_bytes()

    def in_run(random: Random, data: bytes) -> bytes:
        members = dict(unpacked(data))
        members["aranyani_run.json"] = json.dumps(in_json(random, json.loads(members["aranyani_run.json"]))).encode(
            "utf-8", "surrogatepass")
        return packed(list(members.items()))

    ways = {"archive": lambda random, data: in_archive(random, data, data), "configuration": in_config,
            "weights": in_weights, "how far it came": in_run,
            "bytes": lambda random, data: random.choice(tuple(BYTES.values()))(random, data)}

    def draw(random: Random) -> Case:
        way = random.choice(tuple(ways))
        changed.write_bytes(ways[way](random, whole))
        arguments = random.choice((["evaluate", str(changed), str(good)], ["explain", str(changed)],
                                   ["run", str(good), "--resume", str(changed), "--quiet"]))
        return Case(f"{arguments[0]}: {way}", lambda: called(arguments), changed.read_bytes, told(arguments))

    return draw


SURFACES = (Surface("command, rows", 0.03, files), Surface("command, options", 0.02, options),
            Surface("command, models", 0.02, models))
