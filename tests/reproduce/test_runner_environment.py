"""`environment.json`: every run once, with what it made."""

import ast
import json
import os
import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pandas as pd
import pytest

from harness import figure_names, fingerprints
from harness import provenance as environment

ROOT = Path(__file__).parents[2]


def test_a_run_is_told_once_and_what_is_made_again_leaves_its_older_run(tmp_path):
    path = tmp_path / "environment.json"
    for names in (["figure1", "figure2"], ["table1"], ["figure2"], ["figure1"]):
        environment.write_environment(path, names, environment.Clock(), seeds=[0, 1])
    runs = json.loads(path.read_text())
    assert [run["made"] for run in runs] == [["table1"], ["figure2"], ["figure1"]]
    assert runs[0]["seeds"] == [0, 1] and {"tensorflow", "keras", "river"} <= set(runs[0]["versions"])
    assert len(runs[0]["commit"]) == 40 and runs[0]["duration_seconds"] >= 0


def test_the_committed_list_has_every_result_once_each_of_a_commit_with_nothing_uncommitted():
    runs = json.loads((ROOT / "results" / "environment.json").read_text())
    made = [name for run in runs for name in run["made"]]
    assert len(made) == len(set(made))
    own = re.compile(r".*_quick(_runs)?|sweep_.*")  # a user's runs, which are not committed
    assert {path.stem for path in (ROOT / "results").glob("*.csv") if not own.fullmatch(path.stem)} == set(made)
    others = {"matched", "table1", "table2", "benchmark", "theory", "memory", "claims", "service", "field",
              "field_runs", "recipes", "paired", "faults", "processors", "fuzz", "extremes", "cost", "agents", "scale",
              "soak"}
    assert {*figure_names.figure_names(), *others} == set(made)
    assert all(run["commit"] and run["uncommitted_changes"] is False for run in runs)


def test_a_list_that_an_earlier_version_wrote_does_not_lose_a_run_at_its_end(tmp_path):
    path = tmp_path / "environment.json"
    path.write_text(json.dumps({"figure2": {"commit": "0" * 40, "seeds": [0]}}))
    environment.write_environment(path, ["figure1"], environment.Clock())
    assert [run["made"] for run in json.loads(path.read_text())] == [["figure1"]]


def test_every_library_that_is_imported_is_declared_and_pinned():
    declared, pinned = ((ROOT / name).read_text().lower() for name in ("setup.py", "constraints.txt"))
    distributions = packages_distributions()
    paths = [path for folder in ("aranyani_tf", "reproduce", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    for path in paths:
        for module in fingerprints.imported(ast.parse(path.read_bytes())):
            name = module.split(".")[0]
            if name in sys.stdlib_module_names or name == "aranyani_tf" or fingerprints.file_of(name, ROOT) or (
                    ROOT / "examples" / "service" / f"{name}.py").is_file():
                continue
            (distribution,) = set(distributions.get(name, [name]))  # that of an extra may not be here
            wanted = distribution.lower().replace("_", "-")
            assert re.search(rf'"{wanted}[\[">]', declared), f"{path.name} imports {name}, which setup.py lacks"
            assert re.search(rf"^{wanted}==", pinned, flags=re.MULTILINE), f"constraints.txt does not pin {wanted}"


@pytest.mark.parametrize(("script", "arguments", "name"), [
    ("reproduce/table1.py", ["--output", "own.csv"], "own"),
    ("reproduce/table2.py", ["--rows", "3000", "--repeats", "1", "--output", "table2.csv"], "table2"),
    ("benchmarks/speed.py", ["--only", "height", "--rounds", "1", "--scale", "0.001", "--output", "benchmark.csv"],
     "benchmark")])
def test_tables_and_the_benchmark_tell_theirs_and_tensorflow_is_quiet(tmp_path, script, arguments, name):
    if name == "benchmark":  # whose file has rows of two measures, of which one is made again
        pd.DataFrame({"measure": ["grove", "height"], "contender": ["kept", "made again"]}).to_csv(
            tmp_path / "benchmark.csv", index=False)
    unset = {key: value for key, value in os.environ.items() if key != "TF_CPP_MIN_LOG_LEVEL"}
    result = subprocess.run([sys.executable, ROOT / script, *arguments], capture_output=True, text=True, cwd=tmp_path,
                            env=unset)
    assert result.returncode == 0, result.stderr
    (run,) = json.loads((tmp_path / "environment.json").read_text())
    assert run["made"] == [name] and (tmp_path / f"{name}.csv").is_file()
    for chatter in ("cuda", "cuInit", "oneDNN", "absl::InitializeLog", "rebuild TensorFlow"):
        assert chatter not in result.stderr
    if name == "table2":
        table = pd.read_csv(tmp_path / "table2.csv").set_index("method")
        assert list(table.index) == ["HT", "AHT", "Aranyani", "Aranyani (MLP)", "Aranyani (Leaf)"]
        assert table.loc["HT", "ratio_to_ht"] == 1 and table.loc["Aranyani", "paper_minutes"] == 32.97
        assert (table["seconds"] > 0).all() and table["compile_seconds"].notna().sum() == 3
    if name == "benchmark":
        table = pd.read_csv(tmp_path / "benchmark.csv")
        assert table["measure"].tolist() == ["grove", *9 * ["height"]]
        assert table["contender"].iloc[0] == "kept" and "made again" not in set(table["contender"])
