"""Weights & Biases: what a run of a sweep tells, and that no experiment fails for want of its log."""

import math
import os
import re
import statistics
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
import wandb
from wandb.integration.keras import WandbMetricsLogger

import aranyani_tf as ar
import forked
import sweep
import wandb_files
from harness import experiments, tracking

ROOT = Path(__file__).parents[2]
SMALL = {"dataset": "synthetic", "rows": 3000, "num_trees": 1, "height": 1}


@pytest.fixture
def offline(tmp_path, monkeypatch):
    """Runs go to files in this folder."""
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    wandb.teardown()  # it reads its environment once
    yield tmp_path
    wandb.teardown()


def runs_in(folder):
    return sorted(folder.glob("wandb/offline-run-*/*.wandb"))


def test_a_sweep_s_run_has_a_name_a_group_all_settings_and_no_constant_among_its_metrics(offline):
    for seed in (0, 1):
        records = sweep.run_one(SMALL | {"fairness_weight": 0.1, "seed": seed, "decay": 0.01})
    first, second = map(wandb_files.run, runs_in(offline))
    setting = "synthetic aranyani released λ=0.1 num_trees=1 height=1 decay=0.01 rows=3000"
    assert {first.display_name, second.display_name} == {f"{setting} seed 0", f"{setting} seed 1"}
    assert first.run_group == second.run_group == setting  # so that W&B can average over the seeds
    config = wandb_files.config(runs_in(offline)[0])
    assert set(sweep.parameters()) <= set(config) and config["method"] == "aranyani"
    assert config["preprocessing"] == "released" and config["fairness_weight"] == 0.1 and config["decay"] == 0.01
    history = list(wandb_files.history(runs_in(offline)[1]))
    assert [entry["step"] for entry in history] == records["step"].tolist()
    metrics = {name for name in history[-1] if not name.startswith("_")}
    assert metrics.isdisjoint(config) and {"accuracy", "demographic_parity", "fair_accuracy"} <= metrics
    last = records.iloc[-1]
    assert history[-1]["fair_accuracy"] == pytest.approx(
        last["accuracy"] - max(last["demographic_parity"] - 0.05, 0), abs=1e-6)


def test_curves_are_logged_while_the_model_learns(monkeypatch):
    seen, events = [], []
    monkeypatch.setattr(tracking, "start", lambda config, **_: type("Run", (), {
        "log": lambda self, values, step: events.append(("log", step)), "finish": lambda self: None})())
    learn = ar.Aranyani.predict_then_learn

    def learning(self, x, y, a):
        seen.append(len(x))
        events.append(("learn", sum(seen)))
        return learn(self, x, y, a)

    monkeypatch.setattr(ar.Aranyani, "predict_then_learn", learning)
    sweep.run_one(SMALL | {"fairness_weight": 0.1, "seed": 0})
    assert events.index(("log", 100)) < events.index(("learn", 3000)) < events.index(("log", 3000))
    logged = [step for kind, step in events if kind == "log"]
    assert logged == sorted(set(logged)) and logged[-1] == 3000  # each once


@pytest.mark.parametrize("settings", [
    {"held_out": 0.1}, {"record_gradients": True}, {"method": "reservoir_500"},
    {"method": "ht", "rule": "none", "num_trees": 3, "height": 4}])  # the defaults, which it has no use for
def test_every_method_s_curve_is_logged_in_full(monkeypatch, settings):
    logged = []
    monkeypatch.setattr(tracking, "start", lambda config, **_: type("Run", (), {
        "log": lambda self, values, step: logged.append(step), "finish": lambda self: None})())
    weight = 0.0 if "ht" in settings.values() else 0.1
    records = sweep.run_one(SMALL | {"rows": 400, "fairness_weight": weight, "seed": 0} | settings)
    assert logged == records["step"].tolist()


def test_records_that_are_watched_are_those_of_the_grid():
    one = experiments.Experiment("synthetic", (0.1,), (3,), rows=3000, num_trees=1, height=2)
    told = []
    watched, grid = one.run(on_record=told.append), one.run()
    pd.testing.assert_frame_equal(watched, grid, atol=2e-3)
    assert [record["accuracy"] for record in told] == watched["accuracy"].tolist()


def test_fair_accuracy_ranks_the_most_accurate_of_the_fair_enough_first():
    adult = {0.0: (0.835, 0.190), 0.1: (0.829, 0.122), 10.0: (0.795, 0.050), 1e9: (0.759, 0.0)}
    assert max(adult, key=lambda weight: tracking.fair_accuracy(*adult[weight])) == 10.0


def test_a_weight_that_a_method_would_ignore_is_refused_on_the_command_line(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["sweep.py", "--dataset", "adult", "--method", "ht", "--rule", "none",
                                      "--fairness_weight", "5", "--seed", "0"])
    monkeypatch.setattr(tracking, "start", lambda *_, **__: pytest.fail("a run was begun"))
    with pytest.raises(SystemExit):
        sweep.main()
    assert "fairness_weights=(5.0,) has no effect on the method 'ht'" in capsys.readouterr().err


@pytest.mark.parametrize(("wrong", "message"), [
    ({"share": 0.9}, r"share must be above 0 and at most 0\.\d+, which the smallest group"),
    ({"height": 11}, "height must be a whole number"), ({"decay": 2.0}, "decay must be"),
    ({"method": "reservoir_500", "decay": 0.01}, "Reservoir is for the node level"),
    ({"groups": "race"}, "has only one grouping"), ({"fairness_weight": -1.0}, "fairness_weight must be"),
    ({"held_out": 2.0}, "share must lie between 0 and 1")])
def test_what_the_data_or_the_model_refuses_is_told_before_a_run_is_begun(monkeypatch, capsys, wrong, message):
    settings = {"dataset": "synthetic", "rows": 300, "fairness_weight": 0.1, "seed": 0} | wrong
    monkeypatch.setattr(sys, "argv", ["sweep.py", *(f"--{name}={value}" for name, value in settings.items())])
    monkeypatch.setattr(tracking, "start", lambda *_, **__: pytest.fail("a run was begun"))
    with pytest.raises(SystemExit):
        sweep.main()
    assert re.search(message, capsys.readouterr().err)


def test_a_sweep_whose_service_does_not_answer_runs_and_is_logged_offline(tmp_path):
    environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()} | {
        "WANDB_BASE_URL": "http://127.0.0.1:9", "WANDB_API_KEY": "local-" + 40 * "0", "WANDB_DIR": str(tmp_path)}
    environment.pop("WANDB_MODE", None)
    begin = time.time()
    result = forked.python(
        ROOT / "reproduce" / "sweep.py", "--dataset", "synthetic", "--rows", "300", "--num_trees", "1", "--height", "1",
        "--fairness_weight", "0.1", "--seed", "0", "--csv", tmp_path / "all.csv", env=environment)
    assert result.returncode == 0, result.stderr
    assert "W&B does not answer" in result.stderr and "logged offline" in result.stderr
    assert len(pd.read_csv(tmp_path / "all.csv")) > 1 and len(runs_in(tmp_path)) == 1
    assert time.time() - begin < 70  # of which some for TensorFlow; it was 98 s, and nothing was run


def test_whatever_w_and_b_raises_the_experiment_goes_on(monkeypatch):
    class Full:
        def log(self, values, step):
            raise OSError("No space left on device")

    monkeypatch.setattr(tracking, "start", lambda config, **_: Full())
    with pytest.warns(UserWarning, match=r"W&B could not log \(No space left on device\); the experiment goes on"):
        records = sweep.run_one(SMALL | {"rows": 300, "fairness_weight": 0.1, "seed": 0})
    assert records["step"].max() == 300


def test_what_is_not_known_is_logged_as_nan_and_so_is_the_score_that_needs_it(offline):
    run = tracking.ModelRun({"seed": 0, "method": "aranyani"}, "any")
    run.log({"step": 100, "accuracy": 0.8, "demographic_parity": float("nan"), "decay": float("nan")})
    run.finish()
    (logged,) = wandb_files.history(runs_in(offline)[0])
    assert math.isnan(logged["demographic_parity"]) and math.isnan(logged["fair_accuracy"])
    assert logged["accuracy"] == 0.8 and "decay" not in logged  # a setting, not a metric


def test_the_process_that_logs_has_the_standard_library_s_statistics_not_ours(monkeypatch, tmp_path):
    (tmp_path / "wandb.py").write_text("import statistics\nraise ImportError(statistics.__file__)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.warns(UserWarning, match=f"ImportError: {re.escape(statistics.__file__)}"):
        assert not tracking.log_safely("figure2", pd.DataFrame({"dataset": ["adult"], "method": ["ht"]}))


def test_the_tail_of_a_failure_is_told_not_its_last_line_alone(monkeypatch, tmp_path):
    records = pd.DataFrame({"dataset": ["adult"], "method": ["aranyani"]})
    (tmp_path / "wandb.py").write_text("import sys\nfor n in range(30): print('line', n, file=sys.stderr)\n"
                                       "raise ImportError('no wandb here')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.warns(UserWarning, match=r"W&B could not log; the results are saved") as caught:
        assert not tracking.log_safely("figure2", records)
    message = str(caught[0].message)
    assert "Traceback" in message and "ImportError: no wandb here" in message and "line 29" in message
    assert "line 2\n" not in message and len(message.splitlines()) == 22


def test_a_w_and_b_that_hangs_is_ended(monkeypatch, tmp_path):
    (tmp_path / "wandb.py").write_text("import time; time.sleep(100)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    begin = time.time()
    with pytest.warns(UserWarning, match="not finished within 2 s and was ended"):
        assert not tracking.log_safely("figure2", pd.DataFrame({"dataset": ["adult"], "method": ["ht"]}), seconds=2)
    assert time.time() - begin < 10


def test_keras_s_own_logger_for_w_and_b_works_with_fit(offline):
    """The example of the README."""
    stream = ar.datasets.load("synthetic", num_rows=4000)
    model = ar.Aranyani(num_trees=1, height=2, seed=0)
    with wandb.init(project="aranyani_tf", config={"fairness_weight": model.fairness_weight}):
        model.fit(stream.chunks(1000), callbacks=[WandbMetricsLogger(log_freq="batch")], verbose=0)
    (run,) = runs_in(offline)
    logged = [entry["batch/demographic_parity"] for entry in wandb_files.history(run)
              if "batch/demographic_parity" in entry]
    assert len(logged) == 4
    assert logged[-1] == pytest.approx(float(model.get_metrics_result()["demographic_parity"]), abs=1e-6)
    assert wandb_files.config(run)["fairness_weight"] == model.fairness_weight
