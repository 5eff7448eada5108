"""Every figure's script from start to end, and the committed results."""

import importlib
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import figure1
import figure3
import figures
import forked
from aranyani_tf.baselines.reservoir import Reservoir
from harness import experiments, gradient_plots, race, readings, registry, scales, settings

ROOT = Path(__file__).parents[2]
RESULTS, SCRIPTS = ROOT / "results", ROOT / "reproduce"
NAMES = [figure.name for figure in figures.all_figures()]


def expected_runs(name):
    """How many runs a figure's experiments have in the tiny mode."""
    module = importlib.import_module(name)
    return sum(len(each.fairness_weights) * len(each.seeds)
               for each in dict.fromkeys(module.FIGURE.experiments(scales.TINY)))


def check_records(name, frame):
    assert tuple(frame.columns[:12]) == settings.FIRST_COLUMNS, name
    for column in ("accuracy", "demographic_parity", "equal_opportunity", "window_demographic_parity"):
        values = frame[column].dropna()
        assert len(values) and values.between(0, 1).all(), (name, column)
    runs = frame[frame["method"] != "majority"]
    run = [each for each in (*settings.CURVE, *settings.GRID) if each in runs]
    held_out = runs["held_out_accuracy"].notna() if "held_out_accuracy" in runs else False
    found = runs.assign(held_out=held_out).groupby([*run, "held_out"], dropna=False)["step"].max()
    assert len(found) == expected_runs(name), name
    assert found.isin([300, 270, 30, 225]).all(), name  # all rows; 10 % held out; fractions of COMPAS


def test_every_figure_from_start_to_end_in_a_tiny_mode(tmp_path, monkeypatch):
    random = np.random.default_rng(0)
    features, labels = random.normal(size=(320, 12)).astype("float16"), random.integers(0, 2, 320)
    np.savez(tmp_path / "faces.npz", features=features, labels=labels, groups=random.integers(0, 2, 320))
    monkeypatch.setenv("CELEBA", str(tmp_path / "faces.npz"))
    options = ["--tiny", "--no-wandb", "--results", tmp_path]
    result = forked.python(SCRIPTS / "figures.py", *options, cwd=tmp_path, as_tests=True)
    assert result.returncode == 0, result.stderr[-2000:]
    assert f"{len(NAMES)} figures in" in result.stdout
    for name in NAMES:
        for ending in ("csv", "png", "pdf"):
            assert (tmp_path / f"{name}_tiny.{ending}").stat().st_size > 500, name
        if name != "figure1":
            check_records(name, pd.read_csv(tmp_path / f"{name}_tiny.csv"))
    parts = pd.read_csv(tmp_path / "figure1_tiny.csv")
    sums = parts[parts["kind"] == "leaf"].groupby("tree")["probability"].sum()
    assert len(sums) == figure1.NUM_TREES and np.allclose(sums, 1, atol=1e-5)
    assert figure1.tree_answers(parts).mean() == pytest.approx(parts["forest_label_1"].iloc[0], abs=1e-5)
    # Stand-ins are called so, and what is missing is told.
    records = pd.read_csv(tmp_path / "figure3_tiny.csv")
    assert set(zip(records["dataset"], records["stands_in_for"], strict=True)) == {
        ("wiki_toxicity", "civil_comments"), ("celeba", "celeba")}
    titles = [axes.get_title() for axes in figure3.draw(records).axes]
    assert titles == ["Stand-in for CivilComments: Wikipedia toxicity by MPNet",
                      "Stand-in for CelebA: 300 of its images, features of a file"]
    alone = records[records["dataset"] == "wiki_toxicity"]
    assert len(figure3.draw(alone).axes) == 1 and "make figure3 CELEBA=FILE" in figure3.read(alone)
    assert "make figure3" not in figure3.read(records)
    # A second run has nothing to do, and a figure's own script finds its parts done.
    again = forked.python(SCRIPTS / "figure6.py", *options, cwd=tmp_path, as_tests=True)
    assert again.returncode == 0 and "2 of 2 experiments are done already" in again.stdout, again.stderr[-2000:]


@pytest.mark.parametrize("name", NAMES)
def test_a_committed_reading_is_what_the_committed_numbers_say(name):
    module = importlib.import_module(name)
    sections = readings.read_sections((RESULTS / "README.md").read_text(encoding="utf-8"))
    reading = module.read(pd.read_csv(RESULTS / f"{name}.csv"))
    assert reading in sections[name] and f"![{name}]({name}.png)" in sections[name]
    assert "nan" not in reading
    for ending in ("png", "pdf"):
        assert (RESULTS / f"{name}.{ending}").stat().st_size > 10_000


@pytest.mark.parametrize("name", [name for name in NAMES if name != "figure1"])
def test_committed_records_are_the_full_grid(name):
    frame = experiments.with_all_settings(pd.read_csv(RESULTS / f"{name}.csv"))
    wanted = {(*(getattr(each, setting) or 0 for setting in settings.CURVE), weight, seed)
              for each in importlib.import_module(name).FIGURE.experiments(scales.FULL)
              if not registry.method(each.method).is_added
              for weight in each.fairness_weights for seed in each.seeds}
    runs = frame[frame["method"] != "majority"][[*settings.CURVE, *settings.GRID]]
    runs = runs.astype(object).where(runs.notna(), 0)
    found = set(runs.drop_duplicates().itertuples(index=False, name=None))
    assert wanted <= found
    assert {run[0] for run in found - wanted} <= {"celeba"}  # which may have been there


def test_a_section_replaces_its_older_one_and_keeps_the_order(tmp_path):
    for name, text in (("figure10", "ten"), ("drift", "later"), ("figure2", "old"), ("figure2", "two")):
        readings.write_reading(tmp_path, name, "A title", text)
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\w+)$", text, flags=re.MULTILINE) == ["figure2", "figure10", "drift"]
    assert "two" in text and "old" not in text and text.count("# Results") == 1


def test_a_scale_keeps_the_first_and_the_last_value():
    assert scales.QUICK.some((1, 2, 3, 4, 5, 6, 7)) == (1, 4, 7) and scales.TINY.some(range(1, 11)) == (1, 10)
    assert scales.FULL.some([3, 1]) == (3, 1) and scales.QUICK.some((0.0, 1.0)) == (0.0, 1.0)


@pytest.mark.as_users  # the reservoir's program is compiled by XLA
def test_a_race_counts_time_and_state_of_both(monkeypatch):
    monkeypatch.setattr(race, "PIECE", 200)
    stream = experiments.Experiment("synthetic", (0.0,), (0,), rows=600).stream()
    method = registry.method("reservoir")
    of_model = {"num_trees": 1, "height": 2, **method.settings(stream, 2)}
    found = race.Race.between(method, of_model, {"fairness_weight": 1.0, "seed": 0}).records(stream, None)
    assert isinstance(method.model, type) and method.model is Reservoir
    assert (found["seconds"] > 0).all() and (found["aranyani_seconds"] > 0).all()
    samples = 2 * -(-600 // 512) * 512 * 14 * 4  # both groups' room, in float32
    assert found["state_bytes"].iloc[0] > samples > found["aranyani_state_bytes"].iloc[0]


def test_gradient_norms_are_means_since_the_checkpoint_before():
    records = pd.DataFrame({"fairness_weight": 0.1, "seed": 0, "step": [2, 5]})
    norms = pd.DataFrame({"fairness_weight": 0.1, "seed": 0, "step": [1, 2, 3, 4, 5], "task": [1.0, 3, 6, 6, 9]})
    assert experiments.with_norms(records, norms)["task"].tolist() == [2.0, 7.0]


def test_norms_of_ten_samples_a_step_belong_to_the_rows_at_their_end_and_no_record_is_dropped():
    records = pd.DataFrame({"fairness_weight": 0.1, "seed": 0, "step": [20, 25, 40, 48], "accuracy": 0.8})
    norms = pd.DataFrame({"fairness_weight": 0.1, "seed": 0, "step": [10, 20, 30, 40, 48], "task": [1.0, 3, 5, 7, 9]})
    found = experiments.with_norms(records, norms)
    assert found["step"].tolist() == [20, 25, 40, 48]
    np.testing.assert_array_equal(found["task"], [2, np.nan, 6, 9])  # no step ended between 20 and 25


def test_norms_of_a_piece_count_every_sample_once():
    records = pd.DataFrame({"seed": 0, "step": [1, 2, 4, 8], "norm": [8.0, 4.0, 3.0, 1.0]})
    found = gradient_plots.in_pieces(records, ["norm"], num_pieces=2)
    assert found["step"].tolist() == [4, 8] and found["norm"].tolist() == [(8 + 4 + 2 * 3) / 4, 1.0]


def test_a_wrong_path_to_celeba_is_told(monkeypatch):
    monkeypatch.setenv("CELEBA", "/no/such/file.npz")
    with pytest.raises(SystemExit, match=r"no/such/file.*make embeddings"):
        figure3.FIGURE.main(["--tiny"])
