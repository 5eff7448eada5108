"""What the figures share, and the sweeps: resuming, the grids, the plots, W&B."""

import concurrent.futures
import os
import runpy
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

import aranyani_tf as ar
import figure2
import forked
import matched
import small_run
import sweep
import wandb_files
from aranyani_tf.baselines.majority import MajorityLearner, majority
from aranyani_tf.errors import ArgumentError
from aranyani_tf.evaluation.learn_stream import learn_stream
from harness import experiments, grids, plots, registry, runner, scales, settings, weights

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "reproduce"


def ends_well(process):
    process.join()
    return process.exitcode == 0


def test_a_run_killed_at_several_moments_ends_with_the_bytes_of_one_that_was_not(tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    killed.mkdir()
    assert ends_well(forked.start(small_run.run, whole))
    parts = killed / ".parts"
    for num_parts in (0, 1, 3):  # before the first experiment is done, after it, after three of four
        run = forked.start(small_run.run, killed)
        while not parts.is_dir() or len(list(parts.glob("[!.]*.csv"))) < num_parts:
            assert run.is_alive()
            time.sleep(0.01)
        os.kill(run.pid, signal.SIGKILL)
        run.join()
        if (killed / "small.csv").exists():  # never half a file
            assert set(pd.read_csv(killed / "small.csv").groupby(["fairness_weight", "seed"])["step"].max()) == {800}
    finished = {file: file.stat().st_mtime_ns for file in parts.glob("[!.]*.csv")}
    assert finished
    assert ends_well(forked.start(small_run.run, killed))
    assert (killed / "small.csv").read_bytes() == (whole / "small.csv").read_bytes()
    assert all(file.stat().st_mtime_ns == before for file, before in finished.items())  # nothing twice
    frame = pd.read_csv(killed / "small.csv")
    assert tuple(frame.columns[:12]) == settings.FIRST_COLUMNS
    ends = plots.last_records(frame)
    assert (ends["step"] == 800).all()
    assert len(ends.query("method == 'aranyani'")) == 16 and len(ends.query("method == 'majority'")) == 4 * 2 * 11


def test_an_experiment_that_fails_says_which_and_the_others_are_kept(tmp_path, monkeypatch):
    workers = forked.context()
    monkeypatch.setattr(runner.multiprocessing, "get_context", lambda _: workers)
    good = experiments.Experiment("synthetic", (0.0,), (0,), num_trees=1, height=1, rows=300)
    bad = experiments.Experiment("synthetic", (0.0,), (0,), num_trees=1, height=11, rows=200)
    with pytest.raises(RuntimeError, match=r"1 experiments failed; the others are kept.*height=11.*must be a whole"):
        runner.run_all("both", [bad, good], results=tmp_path, processes=1, progress=False)
    assert len(list((tmp_path / ".parts").glob("*.csv"))) == 1


def test_figure_2_has_the_released_grids_with_both_rules():
    everything = [each for each in grids.figure2() if not registry.method(each.method).is_added]
    assert {each.method for each in everything} == {
        "aranyani", "leaf", "mlp", "leaf_released", "mlp_released", "ht", "aht", "faht"}
    grid = [each for each in everything if each.method == "aranyani"]
    assert sum(len(each.fairness_weights) for each in grid) == 3 * 29  # both rules, and one with shuffled rows
    assert {each.seeds for each in grid} == {tuple(range(10))} and {each.rule for each in grid} == {"released", "paper"}
    paper = next(each for each in grid if each.dataset == "adult" and each.rule == "paper")
    assert paper.fairness_weights == (0, 10, 30, 50, 100, 500, 1000, 10_000)
    quick = [each for each in grids.figure2(scales.QUICK) if each.method == "aranyani"]
    assert {each.rule for each in quick} == {"released"} and {each.seeds for each in quick} == {(0, 1)}


# Accuracy and demographic parity of Adult that another implementation found, each with a tolerance.
INDEPENDENT = {0.0: ((0.835, 0.002), (0.197, 0.02)), 0.1: ((0.828, 0.004), (0.124, 0.02)),
               10.0: ((0.794, 0.007), (0.051, 0.015))}


def test_a_run_on_adult_gives_the_committed_numbers_and_those_of_an_independent_program():
    committed = pd.read_csv(ROOT / "results" / "figure2.csv").query(
        "dataset == 'adult' and rule == 'released' and order == 'file'")
    made = experiments.Experiment("adult", tuple(INDEPENDENT), scales.FIVE).run()
    found, known = (plots.last_records(frame.query("method == 'aranyani'")).set_index(["fairness_weight", "seed"])[
        ["accuracy", "demographic_parity"]] for frame in (made, committed))
    assert (found - known.loc[found.index]).abs().max().to_dict() == pytest.approx(
        {"accuracy": 0, "demographic_parity": 0}, abs=5e-3)  # rounding decides signs of gaps
    means = found.groupby("fairness_weight").mean()
    for weight, ((accuracy, within), (gap, gap_within)) in INDEPENDENT.items():
        assert means.loc[weight, "accuracy"] == pytest.approx(accuracy, abs=within), weight
        assert means.loc[weight, "demographic_parity"] == pytest.approx(gap, abs=gap_within), weight


class Opinion:
    """A learner whose answers are known beforehand."""

    def __init__(self, answers):
        self.answers = iter(answers)

    def predict_then_learn(self, x, y, a):
        return np.eye(2)[[next(self.answers) for _ in y]]


def test_the_line_of_majority_is_where_draws_come_out():
    random, rows = np.random.default_rng(0), 200_000
    labels, groups = (random.random(rows) < 0.24).astype(int), (random.random(rows) < 0.5).astype(int)
    stream = ar.Stream(np.zeros((rows, 1), "float32"), labels, groups)
    said = np.where(random.random(rows) < 0.8, labels, groups)
    line = majority(learn_stream(Opinion(said), stream, checkpoints=[rows]), stream).set_index("probability")
    drawn = learn_stream(MajorityLearner(Opinion(said), 0.3, label=0, seed=1), stream, checkpoints=[rows]).iloc[-1]
    for name in ("accuracy", "demographic_parity", "late_accuracy", "equal_opportunity"):
        assert drawn[name] == pytest.approx(line.loc[0.3, name], abs=0.006), name
    assert line.loc[0.0, "accuracy"] == (labels == 0).mean() and line.loc[0.0, "demographic_parity"] == 0


def test_majority_comes_with_the_runs_of_weight_0_and_ends_at_the_model():
    records = experiments.Experiment("synthetic", (0.0, 0.1), (0,), num_trees=1, height=1, rows=600).run()
    line = records.query("method == 'majority'").set_index("probability")
    model = plots.last_records(records.query("method == 'aranyani' and fairness_weight == 0")).iloc[0]
    assert list(line.index) == [round(0.1 * step, 1) for step in range(11)]
    assert line.loc[1.0, "accuracy"] == model["accuracy"]
    assert line.loc[0.5, "demographic_parity"] == pytest.approx(model["demographic_parity"] / 2)


def test_the_pareto_front_has_the_points_that_nothing_beats():
    points = np.array([[0.2, 0.83], [0.1, 0.82], [0.1, 0.80], [0.15, 0.81], [0.05, 0.79], [0.0, 0.76]])
    np.testing.assert_array_equal(plots.pareto_front(points), [[0.0, 0.76], [0.05, 0.79], [0.1, 0.82], [0.2, 0.83]])


def test_the_figure_has_three_panels_with_every_run_and_an_inverted_axis():
    records = pd.read_csv(ROOT / "results" / "figure2.csv")
    figure = figure2.draw(records)
    assert [axes.get_title() for axes in figure.axes] == ["Adult", "Census", "COMPAS"]
    for axes, num_runs in zip(figure.axes, (10 * 8, 10 * 6, 0), strict=True):  # COMPAS has the means alone
        left, right = axes.get_xlim()
        assert left > right
        sizes = [len(points.get_offsets()) for points in axes.collections]
        assert sizes.count(num_runs) >= 2 or not num_runs  # both rules
        labels = axes.get_legend_handles_labels()[1]
        assert {"Majority", "HT", "MLP, as released", "Leaf", "Aranyani, the released penalty"} <= set(labels)


def test_a_figure_from_the_command_line_logs_to_w_and_b(tmp_path):
    result = subprocess.run(
        [sys.executable, SCRIPTS / "figure5.py", "--tiny", "--results", tmp_path], capture_output=True, text=True,
        cwd=tmp_path, env=os.environ | {"WANDB_MODE": "offline", "TF_CPP_MIN_LOG_LEVEL": "3"})  # as the Makefile
    assert result.returncode == 0, result.stderr
    for chatter in ("cuda", "cuInit", "oneDNN", "absl::InitializeLog"):  # of the workers too
        assert chatter not in result.stderr
    for name in ("figure5_tiny.csv", "figure5_tiny.png", "figure5_tiny.pdf"):
        assert f"→ {tmp_path / name}" in result.stdout and (tmp_path / name).stat().st_size > 1_000
    assert "demographic parity" in result.stdout and (tmp_path / "environment_tiny.json").exists()
    frame = pd.read_csv(tmp_path / "figure5_tiny.csv")
    assert set(frame["dataset"]) == {"adult"} and set(frame["fairness_weight"]) == {0, 100}
    runs = sorted((tmp_path / "wandb").glob("offline-run-*/*.wandb"))
    assert len(runs) == 2  # Aranyani, Majority
    logged = [entry for run in runs for entry in wandb_files.history(run)]
    assert any("points" in name for entry in logged for name in entry)
    assert any("figure5_tiny" in name for entry in logged for name in entry)
    assert wandb_files.config(runs[0])["dataset"] == ["adult"]


@pytest.mark.parametrize("name", ["adult", "census", "compas", "celeba", "civil_comments", "architecture"])
def test_every_sweep_file_is_valid_for_w_and_b_and_is_the_grid(name):
    configs = list(sweep.configs_of(SCRIPTS / "sweep_configs" / f"{name}.yaml"))  # checks it with W&B's own schema
    found = list(sweep.grids_of(configs))
    if name == "architecture":
        shapes = {(each.num_trees, each.height) for each in found}
        assert shapes == {(trees, height) for trees in (1, 2, 3, 5, 8) for height in range(2, 7)}
    else:
        (only,) = found
        assert set(only.fairness_weights) == set(weights.RELEASED_WEIGHTS[name])
        assert set(only.seeds) == set(scales.FIVE)
        assert (only.dataset, only.rule, only.num_trees, only.height) == (name, "released", 3, 4)


def test_a_wrong_sweep_is_refused(tmp_path):
    path = tmp_path / "wrong.yaml"
    path.write_text(yaml.safe_dump({"program": "x.py", "method": "gird", "parameters": {"seed": {"values": [0]}}}))
    with pytest.raises(ValueError, match="not a sweep of W&B"):
        list(sweep.configs_of(path))
    for change, message in (({"method": "random"}, "method random"), ({"parameters": {"colour": {"values": ["red"]}}},
                            "unknown parameter colour"), ({"parameters": {"seed": {"values": [0]}}}, "is missing")):
        right = {"program": "x.py", "method": "grid", "parameters": {"seed": {"values": [0]}}}
        path.write_text(yaml.safe_dump(right | change))
        with pytest.raises(ValueError, match=message):
            list(sweep.configs_of(path))
    with pytest.raises(ValueError, match="unknown parameter colour"):
        sweep.experiment_of({"dataset": "adult", "fairness_weight": 0.1, "seed": 0, "colour": "red"})


def test_every_parameter_of_a_sweep_is_read_as_its_kind():
    kinds = sweep.kinds()
    assert set(kinds) == set(sweep.parameters())
    texts = {"decay": "0.01", "num_trees": "2", "fraction": "0.5", "record_gradients": "False", "order": "file"}
    assert {name: kinds[name](text) for name, text in texts.items()} == {
        "decay": 0.01, "num_trees": 2, "fraction": 0.5, "record_gradients": False, "order": "file"}


def test_agents_may_add_to_one_file_each_point_once_and_in_order(tmp_path):
    """Sixteen runs, in any order and each given to two agents, as it may be when one was thought to be dead."""
    frames = [pd.DataFrame({"fairness_weight": weight, "seed": seed, "step": [9, 100], "accuracy": 0.1 * seed})
              for weight in (0.0, 0.5, 2.0, 10.0) for seed in range(4)]
    path = tmp_path / "all.csv"
    with concurrent.futures.ThreadPoolExecutor(8) as agents:
        list(agents.map(lambda frame: sweep.append(frame, path), [*frames[::-1], *frames[::2], *frames[1::2]]))
    assert path.read_text() == pd.concat(frames).to_csv(index=False, float_format="%.6g")


def test_rows_with_other_columns_are_not_added_to_a_file(tmp_path):
    path = tmp_path / "all.csv"
    sweep.append(pd.DataFrame({"seed": [0], "accuracy": [0.8]}), path)
    for other, told in (({"seed": [0], "seconds": [9.0]}, "accuracy, seconds"),
                        ({"accuracy": [0.8], "seed": [0]}, "their order")):
        with pytest.raises(ArgumentError, match=rf"all\.csv has other columns .*{told}.*choose another file"):
            sweep.append(pd.DataFrame(other), path)
    assert path.read_text() == "seed,accuracy\n0,0.8\n"


def test_a_local_sweep_tells_in_one_line_that_its_folder_cannot_be_written_to(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(runner, "finished", lambda *_: pytest.fail("an experiment was begun"))
    monkeypatch.setattr(sys, "argv", ["sweep.py", "--local", str(SCRIPTS / "sweep_configs" / "compas.yaml"),
                                      "--results", str(tmp_path / "file" / "results")])
    with pytest.raises(SystemExit, match=r"cannot be written to .*file/results: Not a directory.*--results"):
        sweep.main()


def test_an_agent_s_file_has_the_same_columns_for_every_weight(tmp_path, monkeypatch):
    monkeypatch.setenv("WANDB_MODE", "disabled")
    for weight in (0.0, 0.1):
        sweep.run_one({"dataset": "synthetic", "rows": 300, "fairness_weight": weight, "seed": 0, "num_trees": 1,
                       "height": 1}, tmp_path / "all.csv")
    found = pd.read_csv(tmp_path / "all.csv")
    assert set(found["fairness_weight"]) == {0.0, 0.1} and set(found["height"]) == {1}


def test_matched_csv_is_what_the_two_figures_give(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["matched.py", "--results", str(tmp_path)])
    for name in matched.SOURCES:
        shutil.copy(ROOT / "results" / name, tmp_path)
    runpy.run_path(str(SCRIPTS / "matched.py"), run_name="__main__")
    assert (tmp_path / "matched.csv").read_bytes() == (ROOT / "results" / "matched.csv").read_bytes()
    (tmp_path / "figure2.csv").unlink()
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(SCRIPTS / "matched.py"), run_name="__main__")
    assert end.value.code == 1 and "make figure2" in capsys.readouterr().err
