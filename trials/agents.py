"""Four agents of W&B on one sweep, against a server on loopback, two of them killed -> results/agents.csv.

    make agents          # two minutes; QUICK=1: fewer points

All ask at the same time, and put their records into one file. One agent is killed (signal 9) together with its run, as
when a machine dies; another one alone, so that its run goes on although the server takes it for dead, and the point is
run twice. In the end every point has to be in the file once, with the bytes of `make sweep`.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reproduce"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import quiet  # noqa: F401

import pandas as pd
import psutil
import yaml
from tqdm import tqdm

import sweep
from aranyani_tf.files import whole_file
from harness import ROOT
from harness.provenance import Clock, write_environment
from sweep_server import SweepServer

COMMAND = ("${env}", "${interpreter}", "${program}", "${args}")
ALONE, WITH_RUN = "its agent", "its agent and the run"


def grid(csv, weights, seeds, command=COMMAND):
    """A sweep over COMPAS whose runs put their records into `csv`."""
    return {"program": "reproduce/sweep.py", "method": "grid", "metric": {"name": "fair_accuracy", "goal": "maximize"},
            "command": [*command, f"--csv={csv}"],
            "parameters": {"dataset": {"value": "compas"}, "rule": {"value": "released"},
                           "fairness_weight": {"values": list(weights)}, "seed": {"values": list(seeds)}}}


def environment(server, folder):
    """What `wandb` finds around it: the server on loopback, and nothing of the user's own."""
    around = {name: value for name, value in os.environ.items()
              if "proxy" not in name.lower() and not name.startswith("WANDB_")}
    return around | {"WANDB_BASE_URL": server.url, "WANDB_API_KEY": "local-" + 40 * "0", "WANDB_DIR": str(folder),
                     "WANDB_MODE": "offline", "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def run_agents(folder, config, kills, num_agents=4, patience=60.0, seconds=3600):
    """The server after all points were run, and {name of a run: what was killed}.

    Args:
        config: of the sweep.
        kills: ALONE or WITH_RUN, one for each agent that is killed, once it has a run.
    """
    server, agents, killed = SweepServer(patience=patience), [], {}
    options = {"cwd": ROOT, "env": environment(server, folder), "stdout": subprocess.DEVNULL, "text": True}
    (folder / "sweep.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    try:
        made = subprocess.run(["wandb", "sweep", str(folder / "sweep.yaml")], stderr=subprocess.PIPE, **options)
        if made.returncode:
            raise RuntimeError(f"wandb sweep: {made.stderr}")
        agents = [subprocess.Popen(["wandb", "agent", "team/aranyani_tf/sweep1"], stderr=subprocess.DEVNULL, **options)
                  for _ in range(num_agents)]
        until = time.monotonic() + seconds
        for agent, what in zip(agents, kills, strict=False):
            run = wait_for(lambda agent=agent: run_of(agent), until)
            killed[run.environ()["WANDB_RUN_ID"]] = what
            agent.kill()
            if what == WITH_RUN:
                run.kill()
        for agent in agents:
            agent.wait(until - time.monotonic())
    finally:
        for agent in agents:
            agent.kill()
            agent.wait()
        server.close()
    return server, killed


def run_of(agent):
    """The process that an agent has started for a point; None if there is none."""
    for process in psutil.Process(agent.pid).children():
        try:
            if any(part.endswith("sweep.py") for part in process.cmdline()) and "WANDB_RUN_ID" in process.environ():
                return process
        except psutil.Error:
            pass  # it has just ended
    return None


def wait_for(look, until):
    while (found := look()) is None:
        if time.monotonic() > until:
            raise TimeoutError("no agent has begun a run")
        time.sleep(0.05)
    return found


def model_lines(records):
    """Of the records of a local sweep, as texts, those that agents write: all but the mixtures with Majority."""
    return records[records["method"] != "majority"].drop(columns="probability", errors="ignore")


def table(server, killed, found, expected):
    """One line for each run that was handed out; `found` and `expected` are records as texts."""
    def lines_of(records, weight, seed):
        is_it = (pd.to_numeric(records["fairness_weight"]) == weight) & (pd.to_numeric(records["seed"]) == seed)
        return records[is_it]

    lines = []
    for run in server.runs:
        weight, seed = (run.config[name]["value"] for name in ("fairness_weight", "seed"))
        own, right = (lines_of(records, weight, seed) for records in (found, expected))
        lines.append({"run": run.name, "agent": run.agent, "fairness_weight": weight, "seed": seed, "state": run.state,
                      "killed": killed.get(run.name, ""), "times_in_results": len(own) / len(right),
                      "same_bytes_as_local": own.to_csv(index=False) == right.to_csv(index=False)})
    return pd.DataFrame(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="six points in place of nine")
    parser.add_argument("--results", type=Path, default=Path("results"), metavar="FOLDER")
    options, clock = parser.parse_args(), Clock()
    with tempfile.TemporaryDirectory() as folder, tqdm(total=3, desc="agents", disable=None) as bar:
        folder = Path(folder)
        config = grid(folder / "agents.csv", (0.0, 0.1, 1.0), range(2 if options.quick else 3))
        server, killed = run_agents(folder, config, [WITH_RUN, ALONE])
        bar.update(2)
        subprocess.run([sys.executable, ROOT / "reproduce" / "sweep.py", "--local", folder / "sweep.yaml", "--results",
                        folder], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        text = (folder / "agents.csv").read_text(encoding="utf-8")
        expected = model_lines(sweep.as_texts((folder / "sweep_sweep.csv").read_text(encoding="utf-8")))
        found, same = table(server, killed, sweep.as_texts(text), expected), text == expected.to_csv(index=False)
        bar.update(1)
    name = "agents_quick" if options.quick else "agents"
    options.results.mkdir(parents=True, exist_ok=True)
    with whole_file(options.results / f"{name}.csv", "w") as file:
        found.to_csv(file, index=False)
    if not options.quick:
        write_environment(options.results / "environment.json", [name], clock, agents=4, killed=len(killed))
    once = found["times_in_results"].eq(1).all() and found["same_bytes_as_local"].all()
    print(f"{found.to_string(index=False)}\nevery point once: {once}; the file has the bytes of `make sweep`: {same}\n"
          f"→ {options.results / name}.csv")
    sys.exit(0 if once and same else "the results are not those of `make sweep`")


if __name__ == "__main__":
    main()
