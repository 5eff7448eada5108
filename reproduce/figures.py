"""All figures: every experiment that is missing, the longest first, then every picture."""

import importlib
import sys
import time

from command import parsed, repository_state, write_environment
from runner import complete

NAMES = (*(f"figure{number}" for number in range(1, 13)), "preprocessing", "rules", "drift")


def main(arguments=None):
    options = parsed(__doc__, arguments)
    figures = [importlib.import_module(name).FIGURE for name in NAMES]
    begin, state = time.perf_counter(), repository_state()
    try:
        experiments = list(dict.fromkeys(each for figure in figures for each in figure.experiments(options.scale)))
        num_run = complete("figures", experiments, results=options.results, fresh=options.fresh,
                           processes=options.processes)
    except OSError as error:  # data that the user named; a folder that cannot be written to
        sys.exit(str(error))
    options.fresh = False
    for figure in figures:
        figure.make(options)
    duration = time.perf_counter() - begin
    if num_run:
        environment = options.results / f"environment{options.scale.name}.json"
        names = [name + options.scale.name for name in NAMES]
        write_environment(environment, names, experiments, duration, state, num_run)
    print(f"\n{len(figures)} figures in {duration / 60:.1f} minutes")


if __name__ == "__main__":
    main()
