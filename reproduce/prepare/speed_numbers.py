"""Tables of speeds for the README and the docs, from results/benchmark.csv and table2.csv."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pandas as pd

from benchmarks import names
from benchmarks.names import FIT

LEVELS = {"node": "node, the paper's", "leaf": "leaf", "output": "output"}
ENGINES = {"numba": "the engine", "xla": "XLA"}
RATES = {(FIT, "numba"): "`Aranyani.fit`", (FIT, "xla"): '`Aranyani.fit` by `compile(engine="xla")`',
         (names.LOGISTIC, None): "River logistic regression", (names.HOEFFDING, None): "River Hoeffding tree",
         (names.ADAPTIVE, None): "River adaptive Hoeffding tree",
         (names.PLAIN, None): "Keras `fit(batch_size=1)`, same forest, no fairness",
         (names.SCIKIT, None): "scikit-learn `SGDClassifier`, a linear model, 4,096 rows at a time"}
LATENCIES = {(names.LIVE, names.PREDICT): "`live.predict`",
             (names.HOEFFDING, names.PREDICT): "River Hoeffding tree, `predict_one`",
             (names.SCIKIT, names.PREDICT): "scikit-learn `SGDClassifier`, `predict_proba`",
             (names.MODEL, names.PREDICT): "`model.predict`",
             (names.LIVE, names.BOTH): "`live.predict_then_learn`",
             (names.HOEFFDING, names.BOTH): "River Hoeffding tree, `predict_one` and `learn_one`",
             (names.LOGISTIC, names.BOTH): "River logistic regression, likewise",
             (names.SCIKIT, names.LEARN): "scikit-learn `SGDClassifier`, `partial_fit` alone",
             (names.MODEL, names.BOTH): "`model.predict_then_learn`"}


def rounded(value: float) -> str:
    """To three digits, as a machine's speed deserves."""
    value = float(f"{value:.3g}")
    return f"{value:,.0f}" if value >= 100 else f"{value:,.1f}"


def measured(results: Path, measure: str) -> pd.DataFrame:
    """The benchmark's rows of one measure."""
    found = pd.read_csv(results / "benchmark.csv")
    return found[found["measure"] == measure]


def one(found: pd.DataFrame, column: str, **wanted: object) -> float:
    """The number of the one row that is asked for; None asks for an empty cell."""
    for name, value in wanted.items():
        found = found[found[name].isna() if value is None else found[name] == value]
    (value,) = found[column]
    return float(value)


def widths_of(found: pd.DataFrame) -> list[int]:
    """The numbers of features that were measured."""
    return sorted(map(int, found["num_features"].unique()))


def lines_of(title: str, widths: list[int], rows: Iterable[tuple[str, Iterable[str]]]) -> list[str]:
    """A table with a column for each number of features."""
    return [f"| {title} | " + " | ".join(f"{width} features" for width in widths) + " |",
            "|---|" + "---|" * len(widths), *(f"| {name} | " + " | ".join(cells) + " |" for name, cells in rows)]


def rates_table(found: pd.DataFrame) -> list[str]:
    """Rows per second of all contenders, ours at the node level."""
    def cells(column: str, written: Callable[[float], str], contender: str, engine: str | None) -> list[str]:
        level = "node" if contender == FIT else None
        return [written(one(found, column, contender=contender, engine=engine, level=level, num_features=width))
                for width in widths_of(found)]

    rows = [(told, cells("rows_per_second", rounded, *key)) for key, told in RATES.items()]
    rows += [(f"**`Aranyani.fit` ÷ {told}**", cells(column, lambda ratio: f"**{rounded(ratio)}×**", FIT, "numba"))
             for told, column in (("XLA", "ratio_to_xla"), ("Hoeffding tree", "ratio_to_hoeffding_tree"))]
    return lines_of("rows per second", widths_of(found), rows)


def latency_table(found: pd.DataFrame) -> list[str]:
    """Microseconds of one row: the median, and what 99 of 100 stay below."""
    def cell(contender: str, operation: str, width: int) -> str:
        median, tail = (rounded(one(found, column, contender=contender, operation=operation, num_features=width))
                        for column in ("p50_microseconds", "p99_microseconds"))
        return f"{median} ({tail})"

    return lines_of("one row in µs: median (99th percentile)", widths_of(found),
                    [(told, [cell(*key, width) for width in widths_of(found)]) for key, told in LATENCIES.items()])


def speeds(results: Path) -> str:
    """Throughput and latency of all contenders, and what else of the benchmark the README tells."""
    rates, grove, length = (measured(results, measure) for measure in ("throughput", "grove", "length"))
    first = measured(results, "first_call").groupby("engine")["first_call_seconds"]
    state = {width: one(rates, "state_bytes", contender=FIT, engine="numba", level="node", num_features=width) / 1000
             for width in widths_of(rates)}
    models = [(rounded(one(grove, "rows_per_second", num_features=width)),
               one(grove, "ratio_to_single_model", num_features=width)) for width in (14, 40)]
    speed, rows = length["rows_per_second"], length["num_rows"]
    sentences = [
        f"A Grove of 40 models on {grove['cores'].max():.0f} cores learns {models[0][0]} model-rows per second at 14 "
        f"features, {models[0][1]:.1f} times as many as the single model, and {models[1][0]} at 40, "
        f"{models[1][1]:.1f} times as many.",
        f"In a fresh process the first chunk takes {first.max()['numba']:.1f} s; by XLA, which compiles in every "
        f"process, {first.min()['xla']:.1f} to {first.max()['xla']:.1f} s.",
        f"From {rows.min():,.0f} to {rows.max():,.0f} rows the speed varies by "
        f"{100 * (speed.max() / speed.min() - 1):.0f} %.",
        f"The running means take {state[min(state)]:.0f} kB at {min(state)} features and {state[max(state)]:.0f} kB at "
        f"{max(state)}, whatever the length of the stream."]
    return "\n".join([*rates_table(rates), "", *latency_table(measured(results, "latency")), "", *sentences])


def levels(results: Path) -> str:
    """What the three levels of the constraint cost, by both engines."""
    found = measured(results, "throughput")
    rows = [(f"{told}, {by}", [rounded(one(found, "rows_per_second", contender=FIT, engine=engine, level=level,
                                           num_features=width)) for width in widths_of(found)])
            for level, told in LEVELS.items() for engine, by in ENGINES.items()]
    return "\n".join(lines_of("level, rows per second of `fit`", widths_of(found), rows))


def table_2(results: Path) -> str:
    """Our times beside the paper's, relative to the Hoeffding tree."""
    found = pd.read_csv(results / "table2.csv").set_index("method")
    paper, faster, compiled = found["paper_ratio_to_ht"], found["times_faster_than_ht"], found["compile_seconds"]
    names = {"Aranyani": "Aranyani", "Aranyani (MLP)": "MLP", "Aranyani (Leaf)": "Leaf"}
    slower = ", ".join(f"{name} {paper[method]:.1f}" for method, name in names.items())
    told = ", ".join(f"{name} {faster[method]:.0f}" for method, name in names.items())
    return (f"Paper, relative to HT: AHT {paper['AHT']:.1f}, {slower} times *slower*.\n"
            f"Ours, one thread: AHT {found['ratio_to_ht']['AHT']:.1f} times slower; {told} times *faster* than HT, "
            f"after {compiled.min():.1f} to {compiled.max():.1f} s of compilation.")
