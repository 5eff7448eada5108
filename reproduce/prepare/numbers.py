"""Speeds in the README and in docs/deviations.md, written from results/benchmark.csv and results/table2.csv.

Each stands between two comments, the first of which tells that it is written; `tests/reproduce/test_numbers.py` fails
while one is not what the files say.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from aranyani_tf.files import whole_file
from harness import RESULTS, ROOT

CONTENDERS = {
    "aranyani fit": "`Aranyani.fit`", "river LogisticRegression": "River logistic regression",
    "river HoeffdingTree": "River Hoeffding tree", "river HoeffdingAdaptiveTree": "River adaptive Hoeffding tree",
    "keras fit(batch_size=1)": "Keras `fit(batch_size=1)`, same forest, no fairness"}


def rounded(value: float) -> str:
    """To three digits, as a machine's speed deserves."""
    return f"{float(f'{value:.3g}'):,.0f}"


def speed_table(results: Path) -> str:
    """The throughput of all contenders, and what else of the benchmark the README tells."""
    found = pd.read_csv(results / "benchmark.csv")
    rates = found[found["measure"] == "throughput"].pivot(
        index="contender", columns="num_features", values="samples_per_second")
    ours = found[(found["measure"] == "throughput") & (found["contender"] == "aranyani fit")].set_index("num_features")
    lines = ["| samples per second | " + " | ".join(f"{width} features" for width in rates.columns) + " |",
             "|---|" + "---|" * len(rates.columns)]
    lines += [f"| {name} | " + " | ".join(map(rounded, rates.loc[contender])) + " |"
              for contender, name in CONTENDERS.items()]
    lines.append("| **`Aranyani.fit` ÷ Hoeffding tree** | "
                 + " | ".join(f"**{ratio:.0f}×**" for ratio in ours["ratio_to_hoeffding_tree"]) + " |")
    grove = found[found["measure"] == "grove"].set_index("num_features")["ratio_to_single_model"]
    length = found[found["measure"] == "length"]
    compiled = ours["compile_seconds"]
    rates, rows = length["samples_per_second"], length["num_rows"]
    sentences = [
        f"A Grove of 40 models trains {grove[14]:.1f} times as many model-samples per second as the single model at 14 "
        f"features, {grove[40]:.1f} times at 40.",
        f"The first chunk takes {compiled.min():.0f} to {compiled.max():.0f} s longer, while XLA compiles it: once, "
        "also for a ragged last chunk or another λ.",
        f"From {rows.min():,.0f} to {rows.max():,.0f} rows the speed varies by "
        f"{100 * (rates.max() / rates.min() - 1):.0f} %.",
        f"The running means take {ours['state_bytes'][14] / 1000:.0f} kB at 14 features and "
        f"{ours['state_bytes'][768] / 1000:.0f} kB at 768, whatever the length of the stream."]
    lines += ["", *sentences]
    return "\n".join(lines)


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


BLOCKS: dict[str, tuple[str, Callable[[Path], str]]] = {
    "README.md": ("written by `make numbers` from results/benchmark.csv", speed_table),
    "docs/deviations.md": ("written by `make numbers` from results/table2.csv", table_2)}


def with_block(text: str, opening: str, content: str) -> str:
    """The page with new content between its two comments."""
    pattern = rf"(<!-- {re.escape(opening)} -->\n).*?(<!-- until here -->)"
    changed, count = re.subn(pattern, lambda found: f"{found[1]}{content}\n{found[2]}", text, flags=re.DOTALL)
    if count != 1:
        raise ValueError(f"the page has no place, or several, between <!-- {opening} --> and <!-- until here -->")
    return changed


def main(root: Path = ROOT, results: Path = RESULTS) -> None:
    for page, (opening, write) in BLOCKS.items():
        path = root / page
        text = with_block(path.read_text(encoding="utf-8"), opening, write(results))
        with whole_file(path, "w") as file:
            file.write(text)
        print(f"→ {page}")


if __name__ == "__main__":
    main()
