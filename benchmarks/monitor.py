"""How often a monitor's interval is wrong, how soon its alarm comes, and what a row costs: the tables of docs/live.md.

    python benchmarks/monitor.py                # about two minutes
"""

import argparse
import logging
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reproduce"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import quiet  # noqa: F401

import numpy as np

import aranyani_tf as ar
from aranyani_tf.evaluation.gap_interval import log_money

LEVEL = 0.05
KINDS = {"constant": "rates that stay as they are (0.1 and 0.3)", "drift": "rates that swing and jump",
         "learning": "a model that decides as it decided before"}
CASES = ((0.3, 0.6, 0.05), (0.3, 0.45, 0.05), (0.3, 0.4, 0.05), (0.3, 0.4, 0.02), (0.1, 0.2, 0.05), (0.05, 0.15, 0.02))


def streams(kind, num_streams, num_rows, seed):
    """Decisions and their probabilities, (stream, row, group): one more row of both groups at a time."""
    random = np.random.default_rng(seed)
    time = np.arange(num_rows)[None, :, None] * np.ones((num_streams, 1, 2))
    chance = random.random(time.shape)
    if kind == "constant":
        rates = np.where(np.arange(2), 0.3, 0.1) + 0 * time
    elif kind == "drift":  # a wave in one group, jumps in the other
        rates = np.where(np.arange(2), 0.5 + 0.45 * np.sin(time / 60), np.where(time // 150 % 2, 0.05, 0.7))
    else:
        rates, ones = np.zeros_like(time), np.full((num_streams, 2), 1.0)
        for row in range(num_rows):
            rates[:, row] = np.clip(1.2 * ones / (row + 2) - 0.1, 0.02, 0.98)
            ones += chance[:, row] < rates[:, row]
    return (chance < rates).astype(float), rates


def running(values):
    """Sums over the rows so far, and how many they are."""
    return values.cumsum(axis=1), np.arange(1, values.shape[1] + 1)[None, :, None]


def wrong_streams(kind, num_streams, num_rows, seed):
    """In how many streams the intervals of the two rates, and a usual one of their gap, are wrong after any row.

    The gap's interval is made of the two, and is right while they are.
    """
    wrong = wrong_usual = 0
    for first in range(0, num_streams, 20):  # some at a time, for memory
        decisions, rates = streams(kind, min(20, num_streams - first), num_rows, seed + first // 20)
        ones, rows = running(decisions)
        mean = running(rates)[0] / rows  # what is covered: the mean of the probabilities so far
        excluded = log_money(ones, np.broadcast_to(rows, ones.shape), mean) > -np.log(LEVEL / 2)
        wrong += int(excluded.any(axis=(1, 2)).sum())
        shares = ones / rows
        error = np.abs((shares - mean)[..., 1] - (shares - mean)[..., 0])
        width = 1.96 * np.sqrt((shares * (1 - shares) / rows).sum(axis=-1))  # 95 %, of one look
        wrong_usual += int((error > width)[:, 50:].any(axis=1).sum())
    return wrong, wrong_usual


def rows_until_alarm(low, high, limit, seed, num_rows=60_000, step=10):
    """Infinite, if it does not come."""
    random = np.random.default_rng(seed)
    groups = random.integers(0, 2, num_rows)
    decisions = (random.random(num_rows) < np.where(groups, high, low)).astype(int)
    monitor = ar.FairnessMonitor(limit=limit, level=LEVEL)
    for start in range(0, num_rows, step):
        monitor.add(decisions[start : start + step], groups[start : start + step])
        if monitor.alarmed:
            return start + step
    return np.inf


def microseconds(num_rows):
    """Median and 99th percentile of one `add`, with a limit that is not exceeded; then one row of many at once."""
    rows = np.random.default_rng(0).integers(0, 2, (3, num_rows))
    monitor, taken = ar.FairnessMonitor(limit=0.05), []
    for row in rows.T.tolist():
        start = time.perf_counter_ns()
        monitor.add(*row)
        taken.append(time.perf_counter_ns() - start)
    monitor.add(*rows)  # which compiles
    start = time.perf_counter_ns()
    monitor.add(*rows)
    return *np.quantile(taken, [0.5, 0.99]) / 1000, (time.perf_counter_ns() - start) / 1000 / num_rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=1000, help="of each kind")
    parser.add_argument("--rows", type=int, default=3000, help="of each group in such a stream")
    parser.add_argument("--repeats", type=int, default=15, help="streams for each number of rows until an alarm")
    options = parser.parse_args()
    logging.getLogger("aranyani_tf").setLevel(logging.ERROR)  # the alarms are counted, not read
    print("| | usual 95 % interval (from row 50 on) | the monitor's, `level=0.05` |\n|---|---|---|")
    for kind, name in KINDS.items():
        wrong, usual = wrong_streams(kind, options.streams, options.rows, seed=100)
        print(f"| {name} | {usual} of {options.streams:,} | {wrong} of {options.streams:,} |", flush=True)
    print("\n| rates | gap | limit | rows until the alarm | rows for half a chance by a usual interval, in a single "
          "look |\n|---|---|---|---|---|")
    for low, high, limit in CASES:
        until = [rows_until_alarm(low, high, limit, seed) for seed in range(options.repeats)]
        single = (1.96 / (high - low - limit)) ** 2 * 2 * (low * (1 - low) + high * (1 - high))
        print(f"| {low:.2f}, {high:.2f} | {high - low:.2f} | {limit} | {np.median(until):,.0f} ({min(until):,.0f} to "
              f"{max(until):,.0f}) | {single:,.0f} |", flush=True)
    print("\nOne row: median {:.1f} µs, 99th percentile {:.1f}; of many at once: {:.2f}".format(*microseconds(200_000)))


if __name__ == "__main__":
    main()
