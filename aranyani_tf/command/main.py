"""The `aranyani` command: its subcommands, and what it says when something is wrong."""

import argparse
import io
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from tqdm import tqdm

from aranyani_tf.command import cost_command, data_command, evaluate_command, explain_command, run_command
from aranyani_tf.command.wording import in_options
from aranyani_tf.errors import AranyaniError

COMMANDS = (run_command, evaluate_command, explain_command, data_command, cost_command)
FAILED = 2


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="aranyani", description="Fair online learning from the command line: a forest learns from a table row by "
        "row, and keeps the gap between the groups of people in it below a target.",
        epilog="`aranyani COMMAND --help` has the options of each, with examples.")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in COMMANDS:
        examples = "examples:\n" + "\n".join(f"  {line}" for line in module.EXAMPLES)
        name = module.__name__.rpartition(".")[2].removesuffix("_command")
        sub = commands.add_parser(name, help=module.HELP, description=module.DESCRIPTION, epilog=examples,
                                  formatter_class=argparse.RawDescriptionHelpFormatter)
        module.add_arguments(sub)
        sub.set_defaults(function=module.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command; gives its exit status: 0, 2 after an error, 130 after Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that has no λ shows something else in its place
            stream.reconfigure(errors="replace")
    options = make_parser().parse_args(argv)
    with warnings.catch_warnings():
        warnings.showwarning = show_warning
        try:
            return options.function(options) or 0
        except (AranyaniError, OSError) as error:
            if isinstance(error, BrokenPipeError):  # whoever reads our answers has gone, as `head` does
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                return FAILED
            print(f"aranyani: {told(error)}", file=sys.stderr)
            return FAILED
        except KeyboardInterrupt:
            print("aranyani: interrupted; nothing was changed", file=sys.stderr)
            return 130


def told(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    return in_options(str(error))


def show_warning(message: Any, category: type[Warning], *where: Any, **further: Any) -> None:
    """Those for users, in one line; others are about the code."""
    if issubclass(category, UserWarning):
        tqdm.write(f"aranyani: {in_options(str(message))}", file=sys.stderr)
