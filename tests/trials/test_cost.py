"""The cost model: its counts against the engine's layout, its fit, the committed runs, and the command."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from aranyani_tf.command import cost_command
from aranyani_tf.command.cost_model import (
    ENGINES,
    LEVELS,
    REFERENCE,
    TERMS,
    CostModel,
    counts,
    read_cost_model,
    sizes_of,
    state_bytes,
)
from aranyani_tf.command.main import main
from aranyani_tf.engine import layout
from aranyani_tf.errors import ArgumentError, DamagedFileError
from trials import cost, cost_fit, cost_points

ROOT = Path(__file__).parents[2]
CSV = ROOT / "results" / "cost.csv"
GRID = ["cost", "--rows", "1e9", "--features", "40", "--settings", "100", "--cores", "2"]


def shape_of(job):
    return layout.Shape(job.trees, job.height, job.features + 1, 2, job.groups, job.groups, LEVELS.index(job.level),
                        1, False)


@pytest.mark.parametrize("kind", ["fit", "held_out"])
def test_sizes_are_those_of_the_engine(kind):
    for job in cost_points.points(kind, quick=False, seed=0):
        shape = shape_of(job)
        slots, leaves, values, rows, columns = layout.sizes.py_func(shape)
        assert sizes_of(job) == (shape.num_inputs, slots, leaves, values, rows * columns)
        padding = 4 * layout.LINE * 6
        assert 0 <= 4 * layout.num_numbers(shape) - state_bytes(job) < padding


def test_held_out_runs_are_of_other_sizes():
    known, other = (list(cost_points.points(kind, quick=False, seed=0)) for kind in ("fit", "held_out"))
    assert 60 <= len(known) <= 100 and len(other) >= 20
    for name in ("features", "trees", "chunk"):
        assert not {getattr(job, name) for job in known} & {getattr(job, name) for job in other}
    assert {job.level for job in other} == set(LEVELS) and {job.engine for job in other} == set(ENGINES)


def made_up(seconds, noise=0.0):
    """Runs that cost exactly what such a model says."""
    random, records = np.random.default_rng(0), []
    for kind in ("fit", "held_out"):
        for job in cost_points.points(kind, quick=False, seed=1):
            cpu = sum(count * seconds[term] for term, count in counts(job).items()) * np.exp(noise * random.normal())
            busy = random.uniform(1, 2)  # slows the run and the reference beside it
            records.append({"kind": kind, **job._asdict(), "start_seconds": 0.1, "cpu_seconds": cpu * busy,
                            "reference_seconds": 0.05 * busy})
    table = cost_fit.with_seconds(pd.DataFrame(records))
    return pd.concat([table, pd.DataFrame([{"kind": "process", "start_seconds": 4.0, "megabytes": 700.0}])])


def test_known_coefficients_are_found_again_whatever_else_the_machine_does():
    wanted = {"fit": 0.02, "chunk": 8e-3, "row": 5e-7, "input": 6e-9, "weight": 4e-10, "cell loop": 1e-8,
              "cell weight": 8e-11, "column": 3e-10, "leaf loop": 7e-9, "leaf": 1e-9, "gap": 5e-10, "far": 1e-10}
    assert tuple(wanted) == TERMS
    table = made_up(wanted)
    model = cost_fit.fitted(table, "somewhere")
    for job in cost_points.points("held_out", quick=False, seed=1):
        exact = sum(count * wanted[term] for term, count in counts(job).items())
        slowest = table["reference_seconds"].min() / 0.05  # the least busy of all runs was busy, too
        assert model.fit_seconds(job) == pytest.approx(exact * slowest, rel=0.01)
    assert model.measured["held_out"] == model.measured["within_20_percent"] >= 20
    assert cost_fit.fitted(made_up(wanted, noise=0.5), "").measured["within_20_percent"] < 20


def test_the_package_has_the_coefficients_of_the_committed_runs():
    table, model = pd.read_csv(CSV), read_cost_model()
    assert cost_fit.fitted(table, model.measured["machine"]) == model, "run `make cost`"
    held_out = table[table["kind"] == "held_out"]
    assert cost_fit.errors_of(model, held_out).to_numpy() == pytest.approx(held_out["error"].to_numpy(), abs=2e-3)
    assert len(held_out) >= 20 and (held_out["error"].abs() <= 0.2).mean() >= 0.75
    assert (held_out["error"].abs().median()) < 0.15


def test_more_of_anything_costs_more():
    model = read_cost_model()
    for engine in ENGINES:
        for level in LEVELS:
            job = REFERENCE._replace(engine=engine, level=level, rows=10**6)
            for name in ("rows", "features", "height", "trees"):
                assert model.fit_seconds(job._replace(**{name: 2 * getattr(job, name)})) > model.fit_seconds(job), name
            for other, than in ((job._replace(chunk=1024), job), (job._replace(groups=8), job._replace(groups=4))):
                more, less = model.fit_seconds(other), model.fit_seconds(than)
                assert more > less if engine == "numba" else more >= less  # of XLA there are few runs


def test_a_bad_shape_is_refused():
    for wrong, told in (({"rows": 0}, "rows"), ({"groups": 1}, "groups"), ({"level": "root"}, "level"),
                        ({"height": 40}, "height")):
        with pytest.raises(ArgumentError, match=told):
            REFERENCE._replace(**wrong).checked()


def test_the_command_tells_seconds_hours_memory_and_machines(capsys):
    model = read_cost_model()
    seconds = model.run_seconds(REFERENCE._replace(rows=10**9, features=40))
    assert main([*GRID, "--machines", "4"]) == 0
    told = capsys.readouterr().out
    assert f"{10**9 / seconds:,.0f} rows a second" in told and f"{100 * seconds / 3600:,.3g} core-hours" in told
    assert f"{cost_command.spelled(13 * seconds)} on machines of 2 cores: 4; in 13 rounds" in told
    assert "MB a process" in told and "Not measured" not in told
    hours = 2.5 * model.run_seconds(REFERENCE._replace(rows=10**9, features=40, chunk=99_999)) / 3600
    assert main([*GRID, "--hours", f"{hours:.6f}", "--chunk", "99999"]) == 0
    told = capsys.readouterr().out
    assert "hours: 25, with up to 2 settings a core" in told and "Not measured: chunk 99,999" in told


def test_what_cannot_be_is_told(capsys):
    for wrong, told in ((["--hours", "0.01"], "no number of machines makes it shorter"), (["--hours", "0"], "hours"),
                        (["--machines", "0"], "machines"), (["--settings", "0"], "settings")):
        assert main([*GRID, *wrong]) == 2
        assert told in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["cost", "--rows", "1.5", "--features", "4"])
    assert "a whole number is needed, such as 1000 or 1e9; got '1.5'" in capsys.readouterr().err


def test_calibration_scales_all_by_a_run_here(monkeypatch, capsys):
    from aranyani_tf.command import cost_run

    small = REFERENCE._replace(rows=2000)
    monkeypatch.setattr(cost_command, "REFERENCE", small)
    monkeypatch.setattr(cost_run, "on_one_thread", lambda: None)  # the other tests' TensorFlow has begun
    model = cost_command.calibrated(read_cost_model())
    assert 0 < model.scale < 100 and model.fit_seconds(small) == pytest.approx(
        model.scale * read_cost_model().fit_seconds(small))
    monkeypatch.setattr(cost_command, "calibrated", lambda model: model._replace(scale=2.0))
    assert main([*GRID, "--calibrate"]) == 0
    assert f"as measured on {model.measured['machine']}, times 2.00 by a run on this machine; of" in (
        capsys.readouterr().out)


def test_a_stopped_run_is_taken_up_only_if_it_was_of_the_same_jobs(tmp_path):
    jobs = [("fit", REFERENCE._replace(features=features)) for features in (4, 8, 16)]
    kept = tmp_path / "cost.csv"
    assert cost.taken_up(kept, jobs) == []
    pd.DataFrame([{"kind": kind, **job._asdict(), "cpu_seconds": 1.0} for kind, job in jobs[:2]]).to_csv(
        kept, index=False)
    assert [record["features"] for record in cost.taken_up(kept, jobs)] == [4, 8]
    for others in (jobs[1:], jobs[:1], [("held_out", job) for _, job in jobs]):
        assert cost.taken_up(kept, others) == []


def test_an_edited_file_of_coefficients_is_told(tmp_path):
    from aranyani_tf.command.cost_model import COEFFICIENTS

    path = tmp_path / "cost.json"
    path.write_text(COEFFICIENTS.read_text(encoding="utf-8").replace("0.", "1.", 1), encoding="utf-8")
    with pytest.raises(DamagedFileError, match="was edited"):
        read_cost_model(path)


def test_the_script_measures_and_shows(monkeypatch, tmp_path, capsys):
    """One run of each kind, by the engine alone: XLA would compile for seconds."""
    few = REFERENCE._replace(rows=3000, chunk=1024)
    monkeypatch.setattr(sys, "argv", ["cost.py", "--quick", "--repeats", "1", "--output", str(tmp_path / "cost.csv")])
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    monkeypatch.setattr(cost_points, "points", lambda kind, quick, seed: [few, few._replace(features=20)])
    monkeypatch.setattr("trials.cost_runs.processes", lambda: [{"start_seconds": 4.0, "megabytes": 700.0}] * 2)
    monkeypatch.setattr(cost_fit, "ENGINES", ("numba",))
    runpy.run_path(str(ROOT / "trials" / "cost.py"), run_name="__main__")
    table = pd.read_csv(tmp_path / "cost.csv")
    assert table["kind"].tolist() == ["fit"] * 2 + ["held_out"] * 2 + ["process"] * 2
    assert (table["seconds"].dropna() > 0).all() and "held_out: " in capsys.readouterr().out


def test_memory_grows_with_the_model_not_with_the_stream():
    model: CostModel = read_cost_model()
    assert model.megabytes(REFERENCE) == model.megabytes(REFERENCE._replace(rows=10**12))
    large = REFERENCE._replace(features=768, height=6, trees=16, level="leaf")
    assert model.megabytes(large) - model.megabytes(REFERENCE) > 2 * state_bytes(large) / 2**20
    found = pd.read_csv(CSV).query("kind == 'process'")
    for row in found.itertuples():
        job = REFERENCE._replace(**{name: getattr(row, name) for name in ("features", "height", "trees", "level")},
                                 chunk=int(row.chunk))
        assert model.megabytes(job) == pytest.approx(row.megabytes, rel=0.25)
