"""All figures: every experiment that is missing, the longest first, then every picture."""

import importlib
import sys

from aranyani_tf.errors import ArgumentError
from harness.figure import Figure, parsed, tell_environment
from harness.figure_names import figure_names
from harness.provenance import Clock
from harness.runner import complete


def all_figures() -> list[Figure]:
    """Every figure that is made along with all others."""
    found = [importlib.import_module(name).FIGURE for name in figure_names()]
    return [figure for figure in found if figure.in_all]


def main(arguments=None):
    options = parsed(__doc__, arguments)
    figures, clock = all_figures(), Clock()
    try:
        experiments = list(dict.fromkeys(each for figure in figures for each in figure.experiments(options.scale)))
        num_run = complete("figures", experiments, results=options.results, fresh=options.fresh,
                           processes=options.processes, ray=options.ray)
    except (ArgumentError, OSError) as error:  # no cluster there, no data, or no folder to write to
        sys.exit(str(error))
    options.fresh = False
    for figure in figures:
        figure.make(options)
    if num_run:
        tell_environment(options, [figure.name + options.scale.name for figure in figures], experiments, clock, num_run)
    print(f"\n{len(figures)} figures in {clock.seconds / 60:.1f} minutes")


if __name__ == "__main__":
    main()
