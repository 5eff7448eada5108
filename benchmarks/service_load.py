"""The service of examples/service under load and killed -> results/service.csv, one line a number."""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples" / "service"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reproduce"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import quiet  # noqa: F401

import pandas as pd

from aranyani_tf.files import whole_file
from first_model import people
from harness.provenance import Clock, write_environment
from load import measure


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=120, help="of load without kills (%(default)s)")
    parser.add_argument("--connections", type=int, default=4, help="%(default)s")
    parser.add_argument("--kills", type=int, default=10, help="%(default)s")
    parser.add_argument("--output", type=Path, default=Path("results/service.csv"))
    arguments, clock = parser.parse_args(), Clock()
    found = measure(people().to_dict("records"), arguments.seconds, arguments.connections, arguments.kills)
    table = pd.DataFrame([{"measure": name, "value": round(float(value), 3)} for name, value in found.items()])
    with whole_file(arguments.output, "w") as file:
        table.to_csv(file, index=False)
    write_environment(arguments.output.parent / "environment.json", [arguments.output.stem], clock,
                      connections=arguments.connections, kills=arguments.kills)
    print(table.to_string(index=False), f"\nwritten to {arguments.output}")


if __name__ == "__main__":
    main()
