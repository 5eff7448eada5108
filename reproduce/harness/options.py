"""Options that scripts share: how many processes, and on which machines."""

import argparse
import os
from importlib.util import find_spec


def add_workers(parser: argparse.ArgumentParser) -> None:
    """`--processes` and `--ray`; `require_workers` looks at what was given."""
    parser.add_argument("--processes", type=int, help="at once; default: one a core, of this machine or of the cluster")
    parser.add_argument("--ray", nargs="?", const="auto", metavar="ADDRESS", help="run on the Ray cluster at this "
                        "address; 'auto' is the one that is here, or a new one on this machine (docs/scale.md)")


def require_workers(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Ends the program if they cannot be; without Ray there is a number of processes afterwards."""
    if options.processes is not None and options.processes < 1:
        parser.error(f"--processes must be at least 1, got {options.processes}")
    if options.ray is not None and find_spec("ray") is None:
        parser.error("--ray needs Ray: pip install 'aranyani_tf[ray]'")
    if options.ray is None and options.processes is None:
        options.processes = os.cpu_count()
