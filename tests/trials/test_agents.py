"""Four real agents of W&B on one sweep, one of them killed: every point once, with the numbers of the grid."""

import sys
from pathlib import Path

import pytest

import forked_runs
import sweep
import wandb_files
from forked import start
from harness import plots
from trials import agents

ROOT = Path(__file__).parents[2]
SUPPORT = ROOT / "tests" / "support"


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """(folder, server, killed runs) after a sweep of four points."""
    folder = tmp_path_factory.mktemp("agents")
    forks = start(forked_runs.serve, str(folder / "forks"))
    command = sys.executable, str(SUPPORT / "forked_runs.py"), str(folder / "forks"), "${program}", "${args}"
    config = agents.grid(folder / "all.csv", (0.0, 0.1), (0, 1), command)
    try:
        yield folder, *agents.run_agents(folder, config, [agents.WITH_RUN], patience=15.0, seconds=900)
    finally:
        forks.kill()


@pytest.fixture(scope="module")
def records(ran):
    """Of the same grid, run here: another kind of processor has other numbers than the committed figure."""
    (grid,) = sweep.grids_of(sweep.configs_of(ran[0] / "sweep.yaml"))
    return grid.run()


def test_four_agents_run_every_point_once_although_one_is_killed(ran, records):
    folder, server, killed = ran
    expected = agents.model_lines(sweep.as_texts(records.to_csv(index=False, float_format="%.6g")))
    text = (folder / "all.csv").read_text(encoding="utf-8")
    assert text == expected.to_csv(index=False)
    (lost,) = [run for run in server.runs if run.name in killed]
    assert lost.state == "crashed" and len(server.heard) == 4
    ended = [run.config for run in server.runs if run.state == "finished"]
    assert lost.config in ended and len(ended) == 4 and all(ended.count(config) == 1 for config in ended)
    found = agents.table(server, killed, sweep.as_texts(text), expected)
    assert found["times_in_results"].eq(1).all() and found["same_bytes_as_local"].all()
    assert not agents.table(server, killed, sweep.as_texts(text)[1:], expected)["same_bytes_as_local"].all()


def test_what_agents_log_has_the_settings_and_the_numbers_of_figure_2_s_grid(ran, records):
    folder, server, _ = ran
    grid = plots.last_records(records)
    logs = {path.stem.removeprefix("run-"): path for path in folder.glob("wandb/offline-run-*/*.wandb")}
    ended = [run.name for run in server.runs if run.state == "finished"]
    assert set(ended) <= set(logs)
    for name in ended:
        config, last = wandb_files.config(logs[name]), list(wandb_files.history(logs[name]))[-1]
        same = grid[(grid["dataset"] == "compas") & (grid["method"] == "aranyani") & (grid["rule"] == "released")
                    & (grid["fairness_weight"] == config["fairness_weight"]) & (grid["seed"] == config["seed"])].iloc[0]
        assert last["step"] == 7_185
        assert last["accuracy"] == pytest.approx(same["accuracy"], abs=1e-6)
        assert last["demographic_parity"] == pytest.approx(same["demographic_parity"], abs=1e-6)
