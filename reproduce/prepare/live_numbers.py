"""What the pages about live use tell of results/benchmark.csv and results/service.csv."""

from pathlib import Path

import pandas as pd

from benchmarks.names import HOEFFDING, PIPELINE


def pipelines(results: Path) -> str:
    """Rows per second of River's pipelines, ours beside the tree's."""
    found = pd.read_csv(results / "benchmark.csv").query("measure == 'pipeline'")
    rates = found.pivot_table(index="num_features", columns="contender", values="rows_per_second")
    lines = ["| features | rows/s | River's Hoeffding tree | times as fast |", "|---|---|---|---|"]
    lines += [f"| {width} | {row[PIPELINE]:,.0f} | {row[HOEFFDING]:,.0f} | {row[PIPELINE] / row[HOEFFDING]:.1f} |"
              for width, row in rates.iterrows()]
    return "\n".join(lines)


def service(results: Path) -> str:
    """The service under load, and killed."""
    found = pd.read_csv(results / "service.csv").set_index("measure")["value"]
    lines = ["| | median | 99 of 100 within | longest |", "|---|---|---|---|"]
    for name in ("predict", "feedback"):
        times = [f"{found[f'{name}_{part}_ms']:,.1f} ms" for part in ("p50", "p99", "max")]
        lines.append(f"| {name} | {' | '.join(times)} |")
    lost = "none" if found["lost"] == 0 else f"{found['lost']:,.0f}"
    twice = "none" if found["learned_twice"] == 0 else f"{found['learned_twice']:,.0f}"
    same = "the same to the last bit" if found["same_bits_as_never_killed"] == 1 else "not the same"
    return "\n".join([
        *lines, "", f"{found['requests_per_second']:,.0f} requests a second over {found['connections']:.0f} "
        f"connections. {found['kills']:.0f} kills: {found['acknowledged']:,.0f} feedbacks acknowledged, "
        f"{found['learned']:,.0f} learned, {lost} lost, {twice} twice, and the model {same} as one never killed; "
        f"{found['unanswered_and_sent_again']:.0f} had no answer when the service died, and were sent again."])
