"""Numbers at the edge, by both engines -> results/extremes.csv: finite and sensible, or refused in words."""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reproduce"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import quiet  # noqa: F401

import numpy as np
import pandas as pd
from tqdm import tqdm

import aranyani_tf as ar
from harness.provenance import Clock
from trials.extremes_cases import EXTREMES, SMALL, Extreme, Run
from trials.tables import place_of, write

ENGINES = ("numba", "xla")


def tried(extreme: Extreme, engine: str, count: int) -> dict:
    """A row of the table, but for the name."""
    rows = extreme.rows(count)
    model = ar.Aranyani(**SMALL | extreme.settings)
    model.compile(engine=engine)
    model.build_for(rows[0].shape[1])
    extreme.before(model)
    before = state(model)
    row = {"engine": engine, "rows": count, "outcome": "learned", "meaning": extreme.meaning}
    try:
        said = model.predict_then_learn(*rows)
    except (ar.errors.RowError, ar.errors.DivergedError) as error:
        kept = all(map(np.array_equal, before, state(model)))
        is_refusal = isinstance(error, ar.errors.RowError)
        return row | {"outcome": "refused" if is_refusal else "diverged", "finite": kept,
                      "sensible": kept and (extreme.refused if is_refusal else extreme.may_diverge),
                      "message": str(error).partition(". ")[0]}
    run = Run(said, rows, model, before)
    return row | {"finite": bool(np.isfinite(said).all() and all(np.isfinite(each).all() for each in state(model))),
                  "sensible": bool(not extreme.refused and are_probabilities(said) and extreme.sensible(run)),
                  "accuracy": round(run.accuracy, 4), "constant_answer": round(run.constant, 4),
                  "gap": round(run.gap, 4)}


def state(model: ar.Aranyani) -> list[np.ndarray]:
    """All that learning moves."""
    return [np.array(each) for each in (*model.get_weights(), *(each.numpy() for each in model.optimizer.variables))]


def are_probabilities(said: np.ndarray) -> bool:
    """Up to what float32 rounds: a mean over trees may be one digit beyond 1."""
    return bool(((said >= 0) & (said <= 1 + 1e-6)).all() and (np.abs(said.sum(axis=1) - 1) < 1e-4).all())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few rows of each")
    parser.add_argument("--only", metavar="NAME", choices=list(EXTREMES), help=f"one of: {', '.join(EXTREMES)}")
    parser.add_argument("--output", type=Path, metavar="FILE", help="results/extremes.csv, or extremes_quick.csv")
    arguments, clock = parser.parse_args(), Clock()
    is_part = bool(arguments.quick or arguments.only)
    output = place_of("extremes", is_part, arguments.output)
    todo = [(name, engine) for name in EXTREMES if arguments.only in (None, name) for engine in ENGINES]
    found = []
    for name, engine in tqdm(todo, unit=" runs"):
        extreme = EXTREMES[name]
        found.append({"extreme": name} | tried(extreme, engine, extreme.few if arguments.quick else extreme.count))
    frame = pd.DataFrame(found)
    write(frame, output, clock, is_part=is_part)
    print(frame.drop(columns="meaning").to_string(index=False), f"\nwritten to {output}")
    return 0 if frame["sensible"].all() and frame["finite"].all() else 1


if __name__ == "__main__":
    sys.exit(main())
