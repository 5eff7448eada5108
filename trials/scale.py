"""More than one core, on Ray: grids, many streams and one model from many sites, with kills -> results/scale.csv.

Everything runs on a cluster of this machine, with two and with four workers, whatever the number of its cores. What
Ray gives is compared with what one process gives, byte for byte; workers and actors are killed in between.
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reproduce"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import quiet  # noqa: F401

import pandas as pd
import tensorflow as tf
from tqdm import tqdm

from aranyani_tf.files import whole_file
from harness import RESULTS
from harness.provenance import Clock, write_environment
from trials.scale_averaging import averaging
from trials.scale_grid import grids
from trials.scale_sites import many_streams

COLUMNS = ["part", "workers", "split", "num_sites", "every", "seed", "measure", "value"]
WHOLE = ["workers", "num_sites", "every", "seed"]


def table(records):
    """Tidy: one row a number."""
    found = pd.DataFrame(records).reindex(columns=COLUMNS)
    return found.astype(dict.fromkeys(WHOLE, "Int64"))


def shown(found):
    """The table for the eye: means over seeds, a column a measure."""
    texts = found.assign(**{name: found[name].astype(object).where(found[name].notna(), "") for name in COLUMNS[:-1]})
    for part, rows in texts.groupby("part", sort=False):
        settings = [name for name in ("workers", "split", "num_sites", "every") if (rows[name] != "").any()]
        wide = rows.pivot_table(index=settings, columns="measure", values="value", sort=False)
        yield f"{part}\n{wide.to_string(float_format=lambda value: f'{value:,.4g}')}\n"


def problems(found):
    """What must not be, in words."""
    measure, value = found["measure"], found["value"]
    if (value[measure.str.startswith("same_")] != 1).any():
        yield "what Ray gave is not what one process gives"
    if (value[measure == "lost"] != 0).any():
        yield "rows that were acknowledged are lost"
    if (value[measure == "killed"] != 1).any():
        yield "a grid had ended before a worker of it could be killed"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two workers, fewer rows, seeds and periods; writes "
                        "scale_quick.csv")
    parser.add_argument("--seed", type=int, default=0, help="of the first model (0)")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER")
    options, clock = parser.parse_args(), Clock()
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    counts, records = (2,) if options.quick else (2, 4), []
    with tempfile.TemporaryDirectory() as work, tqdm(total=2 * len(counts) + 1, desc="scale", unit="part") as bar:
        for part in (grids, many_streams, averaging):
            for found in part(counts, Path(work), options.seed, options.quick):
                records += found
                bar.update()
    name, suffix = "scale_quick" if options.quick else "scale", "_quick" if options.quick else ""
    found = table(records)
    with whole_file(options.results / f"{name}.csv", "w") as file:
        found.to_csv(file, index=False, float_format="%.6g")
    write_environment(options.results / f"environment{suffix}.json", [name], clock, workers=list(counts),
                      seed=options.seed)
    print("\n" + "\n".join(shown(found)) + f"\n→ {options.results / name}.csv")
    if wrong := list(problems(found)):
        sys.exit("; ".join(wrong))


if __name__ == "__main__":
    main()
