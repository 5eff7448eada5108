"""What the pages about live use tell of results/benchmark.csv, service.csv, soak.csv and agents.csv."""

from pathlib import Path

import pandas as pd

from benchmarks.names import HOEFFDING, PIPELINE
from trials.soak_verdict import verdict


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


def soak(results: Path) -> str:
    """The verdict on a soak, and how much there was to do."""
    records = pd.read_csv(results / "soak.csv")
    last, load = records.iloc[-1], records["machine_load"]
    lines = ["| | found | asked for | holds |", "|---|---|---|---|"]
    lines += [f"| {what} | {found} | {wanted} | {'yes' if holds else '**no**'} |"
              for what, found, wanted, holds in verdict(records).itertuples(index=False)]
    predict, feedback = (records[f"{kind}_p50_ms"].median() for kind in ("predict", "feedback"))
    return "\n".join([
        *lines, "", f"{last['minute']:.0f} minutes, {last['learned']:,.0f} feedbacks, {last['late']:,.0f} of them "
        f"late; {last['never']:,.0f} never came, {last['unanswered']:,.0f} requests had no answer and were sent again. "
        f"The median of an answer's time is {predict:.1f} ms for a prediction, {feedback:.1f} ms for a feedback; the "
        f"machine had other work: its load was between {load.min():.0f} and {load.max():.0f}."])


def agents(results: Path) -> str:
    """What became of the points of a sweep."""
    found = pd.read_csv(results / "agents.csv", keep_default_na=False)
    points = found.drop_duplicates(["fairness_weight", "seed"])
    once, same = ((points[name] == 1).all() for name in ("times_in_results", "same_bytes_as_local"))
    killed = (found["killed"] != "").sum()
    return (f"{found['agent'].nunique()} agents, {len(points)} points, {len(found)} runs: {killed} agents were killed, "
            f"and {len(found) - len(points)} points were handed out again. In the file every point is "
            f"{'there once' if once else '**not there once**'}, with "
            f"{'the bytes' if same else '**other bytes than those**'} of `make sweep`.")
