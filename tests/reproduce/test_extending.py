"""docs/extending.md, done: its files go into a copy of `reproduce/`, and what it promises is there."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest

import aranyani_tf as ar
import forked
from aranyani_tf.errors import ArgumentError
from harness import experiments, registry

ROOT = Path(__file__).parents[2]
# All in one process and one worker, which imports TensorFlow and finds the page's files for itself; the field's are
# forked. Matched are the curves of one's own method: more take long.
EVERYTHING = """
import multiprocessing
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
results, committed = map(Path, sys.argv[2:])
import field, figure2, lending, matched, sweep
import pandas as pd
from harness import grids, scales
from harness.runner import complete, run_all

if __name__ == "__main__":
    own = [each for each in grids.figure2(scales.TINY) if each.method == "own_logistic"]
    options = {"results": results, "processes": 1, "progress": False}
    complete("all", [*own, *lending.FIGURE.experiments(scales.TINY)], **options)
    fork = multiprocessing.get_context("fork")
    multiprocessing.get_context = lambda method=None: fork
    for arguments in (["--method", "coin"], ["--method", "own_logistic"]):  # the second joins the first
        field.main(["--tiny", "--dataset", "loans", "--processes", "1", "--results", str(results), *arguments])
    records = pd.concat([pd.read_csv(committed), run_all("figure2", own, **options)], ignore_index=True)
    figure = figure2.draw(records)
    (results / "legend.txt").write_text("\\n".join(text.get_text() for text in figure.legends[0].get_texts()))
    (results / "reading.txt").write_text(figure2.read(records, gap=1.0))
    some = records["rule"].isin(["none", "released"]) & records["method"].isin(["own_logistic", "majority"])
    matched.matched(records[some]).to_csv(results / "matched.csv", index=False)
    lending.FIGURE.main(["--tiny", "--no-wandb", "--results", str(results)])
    sweep.run_one({"method": "own_logistic", "dataset": "loans", "fairness_weight": 0.3, "seed": 0, "rows": 300},
                  results / "sweep.csv")
"""


def files_of(page):
    """The files that the page shows: path → content."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return dict(re.findall(r"^`(reproduce/\S+\.py)`\n\n```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL))


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the scripts with the files of the page, and without anybody else's."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(ROOT / "reproduce", folder / "reproduce", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Makefile", "setup.py", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "locks", folder / "locks")
    for path in (folder / "reproduce" / "extensions").glob("[!_]*.py"):
        path.unlink()
    for path, content in files_of("extending.md").items():
        (folder / path).write_text(content, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def results(project):
    """What is there once everything was run."""
    (project / "everything.py").write_text(EVERYTHING)
    done = forked.python(project / "everything.py", project / "reproduce", project / "results",
                         ROOT / "results" / "figure2.csv", cwd=project,
                         env=os.environ | {"WANDB_MODE": "disabled", "PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr[-3000:]
    (project / "results" / "said.txt").write_text(done.stdout)
    return project / "results"


def test_the_page_has_a_file_of_each_kind_in_some_twenty_lines():
    files = files_of("extending.md")
    assert list(files) == ["reproduce/extensions/own_logistic.py", "reproduce/extensions/coin.py",
                           "reproduce/extensions/loans.py",
                           "reproduce/extensions/narrow.py", "reproduce/lending.py"]
    for path, content in files.items():
        lines = [line for line in content.splitlines() if line.strip()]
        assert len(lines) <= 32 and max(map(len, lines)) <= 120, path


def test_a_method_of_one_s_own_is_in_figure_2_in_matched_and_in_a_sweep(results):
    records = pd.read_csv(results / "figure2.csv")
    own = records[records["method"] == "own_logistic"]
    assert set(own["dataset"]) == {"adult", "census", "compas"} and set(own["fairness_weight"]) == {0.0, 3.0}
    assert (own.groupby(["dataset", "fairness_weight"])["step"].max() == 300).all() and set(own["rule"]) == {"none"}
    assert "Logistic regression" in (results / "legend.txt").read_text().splitlines()
    assert (results / "reading.txt").read_text().count("Logistic regression") == 3
    assert set(pd.read_csv(results / "matched.csv").query("method == 'own_logistic'")["dataset"]) == set(own["dataset"])
    in_sweep = pd.read_csv(results / "sweep.csv")
    assert set(in_sweep["method"]) == {"own_logistic"} and set(in_sweep["fairness_weight"]) == {0.3}
    assert in_sweep["accuracy"].iloc[-1] > 0.5  # it learns


def test_methods_of_one_s_own_join_the_field_on_a_dataset_of_one_s_own(results):
    found = pd.read_csv(results / "field_tiny.csv")
    assert set(found["method"]) == {"coin", "own_logistic"} and set(found["dataset"]) == {"loans"}
    assert len(found) == 2 * 2 * 3 and set(found["seeds"]) == {2}
    needed = found.drop_duplicates("method").set_index("method")["group_needed"]
    assert needed.to_dict() == {"own_logistic": "to learn", "coin": "to predict"}
    assert found.loc[found["method"] == "own_logistic", "accuracy"].min() > 0.5  # it learns
    assert found["setting"].str.startswith(("told the target; told this notion", "λ of 5, chosen")).all()
    told = (results / "field_tiny.md").read_text()
    assert "Coin by group" in told and "Logistic regression" in told


def test_a_figure_with_a_dataset_and_a_rule_of_one_s_own(results):
    records = pd.read_csv(results / "lending_tiny.csv")
    assert set(records["dataset"]) == {"loans"}
    pairs = set(zip(records["method"], records["rule"], strict=True))
    assert pairs == {("aranyani", "narrow"), ("own_logistic", "none")}
    for ending in ("png", "pdf"):
        assert (results / f"lending_tiny.{ending}").stat().st_size > 5_000
    assert "Accuracy / demographic parity: Aranyani λ=0 " in (results / "said.txt").read_text()


def test_make_knows_a_new_figure(project):
    for target, told in (("lending", "reproduce/lending.py"), ("figure2", "reproduce/figure2.py")):
        done = subprocess.run(["make", "-n", target], cwd=project, capture_output=True, text=True)
        assert done.returncode == 0 and told in done.stdout, done.stderr
    listed = subprocess.run(["make", "help"], cwd=project, capture_output=True, text=True).stdout
    assert re.search(r"make lending +Loans: Aranyani with the narrow rule", listed)
    order = re.findall(r"^  make (\w+)", listed.split("One figure each")[1], flags=re.MULTILINE)
    assert order[:4] == ["figure1", "figure2", "figure2_beyond", "figure3"] and "lending" in order[13:]


@pytest.fixture
def unchanged():
    """What a test registers is forgotten after it."""
    before = dict(registry.methods()), dict(registry.rules()), dict(ar.datasets.LOADERS)
    yield
    for now, then in zip((registry.methods(), registry.rules(), ar.datasets.LOADERS), before, strict=True):
        now.clear()
        now.update(then)


def known(seed, fairness_weight):
    return None


@pytest.mark.parametrize(("wrong", "message"), [
    ({"name": "aranyani"}, r"there is a method 'aranyani' already, of methods\.forests"),
    ({"name": "majority"}, "not 'majority'"), ({"name": "two words"}, "must be a word"),
    ({"marker": "?!"}, "marker must be one of Matplotlib's"), ({"color": "reddish"}, "color must be one of"),
    ({"learner": 3}, "learner must be a function"), ({"fairness_weights": (-1.0,)}, "fairness_weight must be")])
def test_a_method_that_could_not_be_drawn_or_run_is_refused_at_once(unchanged, wrong, message):
    right = {"name": "mine", "label": "Mine", "marker": "*", "learner": known}
    with pytest.raises(ArgumentError, match=message):
        registry.register_method(**(right | wrong))
    registry.register_method(**right)


def test_a_learner_says_by_its_weights_whether_it_has_a_use_for_them(unchanged):
    registry.register_method("blind", label="Blind", marker="*", learner=known)
    registry.register_method("fair", label="Fair", marker="*", learner=known, fairness_weights=(0, 1))
    blind, fair = registry.method("blind"), registry.method("fair")
    assert "fairness_weights" in blind.ignores and "fairness_weights" not in fair.ignores
    assert blind.is_added and blind.rule == "none" and len({blind.color, fair.color}) == 2
    with pytest.raises(ArgumentError, match=r"fairness_weights=\(0\.5,\) has no effect on the method 'blind'"):
        experiments.Experiment("synthetic", (0.5,), (0,), method="blind")
    experiments.Experiment("synthetic", (0.5,), (0,), method="fair")
    with pytest.raises(ArgumentError, match=r"decay=0\.1 has no effect on the method 'fair'"):
        experiments.Experiment("synthetic", (0.5,), (0,), method="fair", decay=0.1)
    with pytest.raises(ArgumentError, match=r"unknown method 'nobody'.*a file in reproduce/extensions/"):
        registry.method("nobody")


def test_a_rule_is_refused_if_it_is_there_or_sets_what_an_experiment_sets(unchanged):
    with pytest.raises(ArgumentError, match=r"there is a rule 'paper' already, of harness\.registry"):
        registry.register_rule("paper", penalty=ar.L2())
    with pytest.raises(ArgumentError, match="the rule 'mine' cannot have decay, which an experiment sets itself"):
        registry.register_rule("mine", decay=0.1)
    registry.register_rule("mine", penalty=ar.L2())
    assert experiments.Experiment("synthetic", (0.5,), (0,), rule="mine").rule == "mine"


def test_a_dataset_s_name_belongs_to_one_function(unchanged):
    def rows():
        return ar.Stream([[1.0], [2.0]], [0, 1], [1, 0])

    ar.datasets.register_dataset("mine", rows)
    ar.datasets.register_dataset("mine", rows)
    assert "mine" in ar.datasets.names() and len(ar.datasets.load("mine")) == 2
    for loader in (lambda: rows(), ar.datasets.adult):
        with pytest.raises(ArgumentError, match="there is a dataset 'mine' already"):
            ar.datasets.register_dataset("mine", loader)
    with pytest.raises(ArgumentError, match=r"there is a dataset 'adult' already, of aranyani_tf\.datasets\.adult"):
        ar.datasets.register_dataset("adult", rows)
    for name, loader, message in (("a b", rows, "must be a word"), ("other", 3, "must be a function")):
        with pytest.raises(ArgumentError, match=message):
            ar.datasets.register_dataset(name, loader)
    ar.datasets.register_dataset("numbers", lambda: [1, 2])
    with pytest.raises(ArgumentError, match="the dataset 'numbers' must give a Stream, got list"):
        ar.datasets.load("numbers")
