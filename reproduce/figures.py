"""All figures: every experiment that is missing, the longest first, then every picture."""

import importlib
import time

from command import parsed, repository_state, write_environment
from runner import complete

NAMES = (*(f"figure{number}" for number in range(1, 13)), "preprocessing", "rules", "drift")


def main(arguments=None):
    options = parsed(__doc__, arguments)
    figures = [importlib.import_module(name).FIGURE for name in NAMES]
    experiments = list(dict.fromkeys(each for figure in figures for each in figure.experiments(options.scale)))
    begin, state = time.perf_counter(), repository_state()
    complete("figures", experiments, results=options.results, fresh=options.fresh, processes=options.processes)
    options.fresh = False
    for figure in figures:
        figure.make(options)
    duration = time.perf_counter() - begin
    environment = options.results / f"environment{options.scale.name}.json"
    write_environment(environment, "figures", experiments, duration, state)
    print(f"\n{len(figures)} figures in {duration / 60:.1f} minutes")


if __name__ == "__main__":
    main()
