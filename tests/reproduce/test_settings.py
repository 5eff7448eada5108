"""The settings of an experiment are listed once: a new one is known everywhere, without another line."""

import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import forked
from harness import experiments, settings, tracking

ROOT = Path(__file__).parents[2]
# What a project with one setting more would find: two runs that differ in nothing else are two runs everywhere.
ONE_MORE = """
import sys
sys.path.insert(0, sys.argv[1])
import matched, sweep
import pandas as pd
from harness import figure, matching, plots, tracking
from harness.experiments import Experiment, with_all_settings

everything = pd.concat([Experiment("synthetic", (0.0,), (0,), num_trees=1, height=1, rows=150, season=season).run()
                        for season in ("spring", "autumn")], ignore_index=True)
records = everything[everything["method"] != "majority"]
assert set(records["season"]) == {"spring", "autumn"}
assert len(plots.last_records(records)) == 2
assert matching.varied(records) == ["season"]
assert set(matched.matched(everything)["season"]) == {"spring", "autumn"}
assert len(matched.joined([records, records])) == len(records)
assert set(with_all_settings(records.drop(columns="season"))["season"]) == {"spring"}
assert "autumn" in figure.summary(records)
assert "season" in tracking.NOT_MEASURED and "season" in tracking.TOLD_WHERE_THEY_VARY
assert sweep.kinds()["season"] is str
assert "season=autumn" in sweep.name_of(Experiment("synthetic", (0.0,), (0,), season="autumn"))
"""


def test_a_new_setting_is_known_to_records_pictures_matched_sweeps_and_the_log(tmp_path):
    shutil.copytree(ROOT / "reproduce", tmp_path / "reproduce", ignore=shutil.ignore_patterns("__pycache__"))
    path = tmp_path / "reproduce" / "harness" / "settings.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('    order: str = "file"\n', '    order: str = "file"\n    season: str = "spring"\n'),
                    encoding="utf-8")
    result = forked.python("-c", ONE_MORE, tmp_path / "reproduce")
    assert result.returncode == 0, result.stderr[-2000:]


def test_every_field_is_a_column_of_the_records_unless_it_says_so():
    records = experiments.Experiment("synthetic", (0.0,), (0,), method="ht", rule="none", rows=150).run()
    columns = {each.name: each.metadata.get("column", each.name) for each in fields(experiments.Experiment)}
    assert {column for column in columns.values() if column} <= set(records.columns)
    assert {name for name, column in columns.items() if column is None} == {
        "record_gradients", "even_checkpoints", "rows"}
    assert tuple(records.columns[:12]) == settings.FIRST_COLUMNS
    assert set(settings.RUN) == {*settings.COLUMNS, "probability"}
    assert tracking.NOT_MEASURED.isdisjoint(set(records.columns) - {*settings.COLUMNS})


def test_the_process_that_logs_needs_no_tensorflow():
    program = "import sys, harness.tracking; assert not {'tensorflow', 'aranyani_tf'} & set(sys.modules)"
    result = subprocess.run([sys.executable, "-P", "-c", program], env={"PYTHONPATH": str(ROOT / "reproduce")},
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
