"""`aranyani run`: what it learns is what the library learns from the same table, whatever the table comes in."""

import gzip
import io
import json
import os
import sys
import time

import numpy as np
import pandas as pd
import pytest

import aranyani_tf as ar
import forked
from aranyani_tf.command.main import main
from aranyani_tf.command.run_file import load_run
from aranyani_tf.streams.table_form import TableForm
from aranyani_tf.streams.table_options import TableOptions
from aranyani_tf.streams.table_reader import Table
from aranyani_tf.streams.table_rows import learn
from command_rows import CHOSEN, assert_same_model, people, run, weights


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    people(9000).to_csv(folder / "people.csv", index=False)
    people(3000).to_csv(folder / "few.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def by_csv(folder):
    run(folder / "people.csv", folder / "by_csv.keras")
    return load_run(folder / "by_csv.keras")


@pytest.mark.parametrize("preprocessing", ["one_hot", "standardized"])
def test_the_model_is_that_of_the_stream_to_the_last_bit(folder, tmp_path, preprocessing):
    """Scales of all rows round by how rows are cut, and the library's pieces are longer: so of less than a piece."""
    run(folder / "few.csv", tmp_path / "m.keras", "--preprocessing", preprocessing)
    tabular, state = load_run(tmp_path / "m.keras")
    stream = ar.Stream.from_csv(folder / "few.csv", label="hired", group="sex", preprocessing=preprocessing)
    model = ar.Aranyani(fairness_weight=ar.ParityTarget(0.05), num_trees=2, height=3, seed=0)
    model.fit(stream, verbose=0)
    for left, right in zip(tabular.model.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(left, right)
    assert tabular.model.fairness_weight == model.fairness_weight
    assert tabular.so_far() == pytest.approx(model.so_far(), rel=1e-6)
    assert state.rows_read == len(stream) and state.num_bad == 0
    assert tabular.form.encoder.contents() == stream.form.encoder.contents()
    assert tabular.predict({"age": 40, "city": "Lima", "sex": "f", "score": 1.0}) in ("no", "yes")


def test_online_it_is_that_of_single_rows_to_the_last_bit(folder, by_csv):
    """A `TabularModel` that is given the rows one by one, as dicts, knows nothing of pieces."""
    rows = people(9000)
    table, options = Table.of_frame(rows, "people"), TableOptions.of("hired", "sex", preprocessing="online")
    form = TableForm.of_table(table, options)
    learn(form, table)  # the names of labels and groups; an online form keeps nothing else
    alone = ar.TabularModel(ar.Aranyani(fairness_weight=ar.ParityTarget(0.05), num_trees=2, height=3, seed=0), form)
    with alone.live() as live:
        for row in rows.to_dict("records"):
            live.learn(row)
    tabular, state = by_csv
    for left, right in zip(weights(tabular), weights(alone), strict=True):
        np.testing.assert_array_equal(left, right)
    assert tabular.form.encoder.contents() == form.encoder.contents() and state.rows_read == 9000


def test_rows_of_a_slow_pipe_are_learned_when_they_come(tmp_path):
    """The first piece has to be whole; after it, nobody waits for more than there is."""
    os.mkfifo(tmp_path / "pipe")
    lines, said = people(6000).to_csv(index=False).splitlines(keepends=True), tmp_path / "said.csv"
    process = forked.start(from_pipe, str(tmp_path / "pipe"), str(tmp_path / "m.keras"), str(said))
    with open(tmp_path / "pipe", "w", encoding="utf-8") as pipe:
        for start, end in ((0, 4097), (4097, 4098), (4098, 5001)):
            pipe.write("".join(lines[start:end]))
            pipe.flush()
            give_up = time.monotonic() + 60
            while not said.is_file() or said.read_text(encoding="utf-8").count("\n") < end:
                assert process.is_alive() and time.monotonic() < give_up
                time.sleep(0.01)
        pipe.write("".join(lines[5001:]))
    process.join()
    assert process.exitcode == 0
    people(6000).to_csv(tmp_path / "people.csv", index=False)
    run(tmp_path / "people.csv", tmp_path / "whole.keras")
    found, whole = (load_run(tmp_path / f"{name}.keras")[0] for name in ("m", "whole"))
    for left, right in zip(weights(found), weights(whole), strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "csv.gz", "tsv", "csv through a pipe", "jsonl through a pipe"])
def test_other_files_and_pipes_give_the_same_model(folder, tmp_path, by_csv, kind, monkeypatch):
    frame, path, further = people(9000), tmp_path / f"people.{kind.split()[0]}", ()
    if kind.startswith("jsonl"):
        frame.to_json(path, orient="records", lines=True, double_precision=15)
    elif kind == "parquet":
        frame.to_parquet(path)
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress((folder / "people.csv").read_bytes()))
    else:
        frame.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    if "pipe" in kind:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
        path, further = "-", ("--format", kind.split()[0])
    run(path, tmp_path / "m.keras", *further)
    assert_same_model(load_run(tmp_path / "m.keras")[0], by_csv[0])


def test_a_dataset_is_its_table(tmp_path, capsys):
    assert main(["data", "compas", "--out", str(tmp_path / "compas.csv")]) == 0
    assert "--label is_recid --group race" in capsys.readouterr().out
    run(tmp_path / "compas.csv", tmp_path / "one.keras", label="is_recid", group="race")
    run(None, tmp_path / "other.keras", "--dataset", "compas", label=None, group=None)
    assert_same_model(load_run(tmp_path / "one.keras")[0], load_run(tmp_path / "other.keras")[0])


def test_what_it_says_is_what_the_predictions_say(folder, tmp_path, by_csv, capsys):
    """The table by group, accuracy and gap, beside pandas on the file of predictions."""
    run(folder / "people.csv", tmp_path / "m.keras", "--predictions", tmp_path / "said.csv")
    told = capsys.readouterr().out
    assert_same_model(load_run(tmp_path / "m.keras")[0], by_csv[0])
    said, rows = pd.read_csv(tmp_path / "said.csv"), people(9000)
    assert said["row"].tolist() == list(range(9000))
    assert (said["label"] == rows["hired"]).all() and (said["group"] == rows["sex"]).all()
    probable = np.where(said["probability of yes"] > said["probability of no"], "yes", "no")
    assert (said["said"] == probable).mean() > 0.9999  # six digits may tie
    right, selected = said["said"] == said["label"], said["said"] == "yes"
    for group in ("f", "m"):
        here = said["group"] == group
        expected = [f"{here.sum():,}", *(f"{value:.3f}" for value in (
            selected[here].mean(), right[here].mean(), selected[here & (said["label"] == "yes")].mean()))]
        assert next(line.split() for line in told.splitlines() if line.startswith(group)) == [group, *expected]
    rates = selected.groupby(said["group"]).mean()
    assert f"demographic parity: {abs(rates['f'] - rates['m']):.3f} over all rows" in told
    assert f"accuracy {100 * right.mean():.1f} %" in told
    assert f"the model is in {tmp_path / 'm.keras'}" in told


def test_labels_and_groups_can_be_named_for_a_file_that_begins_with_one_of_them(tmp_path, capsys):
    people(12_000).sort_values("hired", kind="stable").to_csv(tmp_path / "sorted.csv", index=False)
    assert main(["run", str(tmp_path / "sorted.csv"), *CHOSEN, "--out", str(tmp_path / "m.keras")]) == 2
    assert "only one value, no" in (told := capsys.readouterr().err) and "--labels A,B" in told
    run(tmp_path / "sorted.csv", tmp_path / "m.keras", "--labels", "no,yes", "--groups", "m,f")
    tabular, state = load_run(tmp_path / "m.keras")
    assert tabular.label_names == ("no", "yes") and tabular.group_names == ("m", "f") and state.num_bad == 0


def test_the_fairness_weight_stands_still_where_it_is_given(folder, tmp_path):
    run(folder / "few.csv", tmp_path / "m.keras", "--fairness-weight", "3", "--level", "leaf", "--decay", "0.001",
        "--notion", "equal_opportunity", target=None)
    model = load_run(tmp_path / "m.keras")[0].model
    assert model.fairness_weight == 3 and model.parity_target is None and model.level == "leaf"
    assert model.decay == 0.001 and isinstance(model.notion, ar.EqualOpportunity)


def test_the_page_needs_nothing_else(folder, tmp_path):
    run(folder / "people.csv", tmp_path / "m.keras", "--plot", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and page.count("<svg") == 1 and len(page) < 200_000
    assert "<script" not in page and "src=" not in page and "demographic parity" in page and "target" in page
    assert "9,000 rows" in page and "people.csv: hired by sex" in page


def test_keras_loads_the_file_as_any_other(folder, tmp_path):
    import keras

    run(folder / "few.csv", tmp_path / "m.keras")
    tabular = keras.saving.load_model(tmp_path / "m.keras")
    assert isinstance(tabular, ar.TabularModel) and tabular.so_far()["rows"] == 3000
    tabular.predict_then_learn(people(10, seed=5))
    tabular.save(tmp_path / "later.keras")  # which no longer says how far the run was
    assert main(["run", str(folder / "few.csv"), "--resume", str(tmp_path / "later.keras")]) == 2


def from_pipe(path, out, said):
    sys.stdin = open(path, encoding="utf-8")  # noqa: SIM115  of a process of its own
    run("-", out, "--predictions", said)


def measure(path, out, answer):
    import resource

    run(path, out)
    with open(answer, "w", encoding="utf-8") as file:
        json.dump(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file)


def test_memory_does_not_grow_with_the_file(tmp_path):
    peaks = []
    for num_rows in (10_000, 80_000):
        path, out = tmp_path / f"{num_rows}.csv", tmp_path / f"{num_rows}.keras"
        people(num_rows).to_csv(path, index=False)
        process = forked.start(measure, str(path), str(out), str(tmp_path / "peak.json"))
        process.join()
        peaks.append(json.loads((tmp_path / "peak.json").read_text(encoding="utf-8")))
    assert peaks[1] - peaks[0] < 8 * 1024  # kB; as arrays of float32 the rows more would be alone 2 MB, as texts 25


def test_weights_differ_between_seeds(folder, tmp_path):
    """So that the tests of equality above can fail."""
    run(folder / "few.csv", tmp_path / "one.keras")
    run(folder / "few.csv", tmp_path / "other.keras", "--seed", "1")
    pairs = zip(*(weights(load_run(tmp_path / f"{name}.keras")[0]) for name in ("one", "other")), strict=True)
    assert not all(np.array_equal(left, right) for left, right in pairs)
