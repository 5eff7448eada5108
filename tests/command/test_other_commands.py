"""`aranyani evaluate`, `explain` and `data`, and what is said when something is wrong."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, recall_score

import aranyani_tf as ar
from aranyani_tf import datasets
from aranyani_tf.command.main import main
from aranyani_tf.command.run_file import load_tabular
from aranyani_tf.datasets.tables import TABLES, table
from aranyani_tf.files import sha256
from command_rows import CHOSEN, people, run

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    people(5000).to_csv(folder / "people.csv", index=False)
    people(2000, seed=1).to_csv(folder / "later.csv", index=False)
    run(folder / "people.csv", folder / "online.keras")
    run(folder / "people.csv", folder / "node.keras", "--preprocessing", "one_hot", "--level", "node")
    return folder


@pytest.mark.parametrize("name", ["online", "node"])
def test_evaluate_says_what_others_say_of_the_predictions(folder, tmp_path, name, capsys):
    model, before = folder / f"{name}.keras", sha256(folder / f"{name}.keras")
    assert main(["evaluate", str(model), str(folder / "later.csv"), "--predictions", str(tmp_path / "said.csv")]) == 0
    told, said = capsys.readouterr().out, pd.read_csv(tmp_path / "said.csv")
    assert f"accuracy {100 * accuracy_score(said['label'], said['said']):.1f} %" in told
    rates = []
    for group, rows in said.groupby("group"):
        rates.append((rows["said"] == "yes").mean())
        expected = [f"{len(rows):,}", f"{rates[-1]:.3f}", f"{accuracy_score(rows['label'], rows['said']):.3f}",
                    f"{recall_score(rows['label'], rows['said'], pos_label='yes'):.3f}"]
        assert next(line.split() for line in told.splitlines() if line.startswith(group)) == [group, *expected]
    assert f"demographic parity {abs(rates[0] - rates[1]):.3f}" in told
    assert sha256(model) == before
    tabular = load_tabular(model)
    expected = tabular.evaluate(people(2000, seed=1), verbose=0, return_dict=True)["accuracy"]
    assert f"accuracy {100 * expected:.1f}" in told


def test_explain_names_the_features_with_the_largest_weights(folder, capsys):
    assert main(["explain", str(folder / "node.keras"), "--top", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    tabular = load_tabular(folder / "node.keras")
    kernel, names = tabular.model.forest.node_kernel.numpy(), tabular.form.encoder.feature_names
    assert len(lines[1:15]) == 2 * 7
    means = tabular.model.statistics.decision_mean.numpy()  # (group, tree, node)
    for line, (tree, node) in zip(lines[1:15], np.ndindex(2, 7), strict=True):
        first, second = sorted(range(len(names)), key=lambda each: -abs(kernel[tree, each, node]))[:2]
        told = f"{names[first]} {kernel[tree, first, node]:+.2f}, {names[second]} {kernel[tree, second, node]:+.2f}"
        assert line.split()[:2] == [str(tree), str(node)] and told in line
        assert line.split()[-1] == f"{abs(means[0, tree, node] - means[1, tree, node]):.3f}"


def test_explain_measures_gaps_on_rows(folder, capsys, tmp_path):
    picture = tmp_path / "trees.svg"
    assert main(["explain", str(folder / "node.keras"), "--rows", str(folder / "later.csv"), "--plot", str(picture),
                 "--tree", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    tabular, rows = load_tabular(folder / "node.keras"), people(2000, seed=1)
    decisions = tabular.model.forest.node_decisions(tabular.form.encode(rows)).numpy()[:, 1]  # (row, node)
    women = (rows["sex"] == "f").to_numpy()
    gaps = abs(decisions[women].mean(axis=0) - decisions[~women].mean(axis=0))
    second = decisions[:, 0].mean()  # of rows that go to the left child of the root
    assert [line.split()[-1] for line in lines[1:8]] == [f"{gap:.3f}" for gap in gaps]
    assert [line.split()[-2] for line in lines[1:4]] == ["1.000", f"{second:.3f}", f"{1 - second:.3f}"]
    text = picture.read_text(encoding="utf-8")
    assert "<svg" in text and "probability of yes" in text and f"gap {gaps[0]:.3f}" in text


def test_explain_says_why_there_are_no_gaps(folder, capsys, tmp_path):
    assert main(["explain", str(folder / "online.keras"), "--plot", str(tmp_path / "trees.png")]) == 0
    told = capsys.readouterr().out
    assert "no gaps: the model imposes fairness at its output" in told and " gap" not in told.splitlines()[0]
    assert (tmp_path / "trees.png").read_bytes().startswith(b"\x89PNG")


def test_data_lists_every_dataset_and_writes_tables(tmp_path, capsys):
    assert main(["data"]) == 0
    told = capsys.readouterr().out
    for name in datasets.names():
        assert f"\n{name}" in f"\n{told}"
    assert "32,561 rows, 14 features" in told and "Becker and Kohavi" in told
    assert main(["data", "adult", "--out", str(tmp_path / "adult.csv")]) == 0
    ours = ar.Stream.from_csv(tmp_path / "adult.csv", label="income", group="gender")
    np.testing.assert_array_equal(ours.features, datasets.load("adult", preprocessing="one_hot").features)
    assert main(["data", "adult", "--out", str(tmp_path / "adult.csv")]) == 2  # not over a file
    assert main(["data", "adult"]) == 0 and "Label: income" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["adult", "compas", "synthetic"])
def test_a_table_is_what_the_stream_was_made_of(name):
    found, stream = table(name), datasets.load(name)
    made = ar.Stream.from_dataframe(found.frame, label=found.label, group=found.group, exclude=found.exclude,
                                    drop_group=found.drop_group, preprocessing="released",
                                    scale=name == "adult")
    np.testing.assert_allclose(made.features, stream.features, rtol=1e-6)
    np.testing.assert_array_equal(made.labels, stream.labels)
    np.testing.assert_array_equal(made.groups, stream.groups)
    assert set(TABLES) <= set(datasets.names())


@pytest.mark.parametrize(("argv", "told"), [
    (["run", "people.csv", "--label", "hierd", "--group", "sex"], "no column 'hierd' in people.csv; there are: age"),
    (["run", "people.csv", "--group", "sex"], "--label is missing: the column that holds the label; there are: age"),
    (["run", "nowhere.csv", *CHOSEN], "there is no file nowhere.csv"),
    (["run", "people.csv", "--dataset", "adult"], "name a file, - for standard input, or --dataset NAME"),
    (["run", "--dataset", "adlut"], "there is no table 'adlut' among the datasets; there are: acs_employment, adult"),
    (["run", "people.csv", *CHOSEN, "--out", "online.keras"], "online.keras is there already"),
    (["run", "-", *CHOSEN, "--preprocessing", "one_hot"], "can be read only once"),
    (["run", "-", *CHOSEN, "--format", "parquet"], "Parquet cannot be read from standard input"),
    (["run", "people.keras", *CHOSEN], "there is no file people.keras"),
    (["run", "online.keras", *CHOSEN], "pass --format, one of csv, jsonl, parquet"),
    (["run", "people.csv", *CHOSEN, "--parity-target", "1.5"], "target must be a finite number"),
    (["run", "people.csv", *CHOSEN, "--categorical", "town"], "no column 'town'"),
    (["run", "people.csv", *CHOSEN, "--labels", "no,no"], "--labels must name at least two values of 'hired'"),
    (["run", "people.csv", "--resume", "people.csv"], "people.csv is no .keras file by its name"),
    (["evaluate", "online.keras", "nowhere.csv"], "there is no file nowhere.csv"),
    (["evaluate", "online.keras", "other.csv"], "no column 'age' in other.csv; there are: x, y"),
    (["explain", "nowhere.keras"], "there is no file nowhere.keras"),
    (["explain", "online.keras", "--plot", "tree.gif"], "--plot must end in one of .png, .svg, .pdf"),
    (["explain", "online.keras", "--tree", "7"], "--tree must be from 0 to 1, got 7"),
    (["data", "adlut"], "unknown dataset 'adlut'; known are acs_employment, adult"),
])
def test_what_is_wrong_is_said_in_one_line(folder, monkeypatch, capsys, argv, told):
    monkeypatch.chdir(folder)
    (folder / "other.csv").write_text("x,y\n1,2\n", encoding="utf-8")
    assert main(argv) == 2
    said = capsys.readouterr()
    assert said.err.startswith("aranyani: ") and said.err.count("\n") == 1 and told in said.err
    assert not (folder / "model.keras").exists()


@pytest.mark.parametrize("name", ["run", "evaluate", "explain", "data", "cost"])
def test_each_command_has_examples_that_can_be_parsed(name, capsys):
    from aranyani_tf.command.main import COMMANDS, make_parser

    with pytest.raises(SystemExit) as end:
        main([name, "--help"])
    told = capsys.readouterr().out
    (module,) = (each for each in COMMANDS if each.__name__.endswith(f".{name}_command"))
    assert end.value.code == 0 and module.EXAMPLES
    for example in module.EXAMPLES:
        assert example in told
        make_parser().parse_args(example.rpartition("| ")[2].split()[1:])


def test_the_console_script_says_nothing_of_tensorflow(tmp_path):
    """In an interpreter of its own, which imports TensorFlow."""
    environment = {name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"}
    done = subprocess.run([sys.executable, str(ROOT / "aranyani_command.py"), "run", "nowhere.csv", *CHOSEN], text=True,
                          capture_output=True, cwd=tmp_path, env=environment | {"PYTHONPATH": str(ROOT)})
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == "aranyani: there is no file nowhere.csv\n"
