"""A run that is stopped and goes on: the same model, to the last bit, as if nobody had stopped it."""

import os
import signal
import time

import pytest

import forked
from aranyani_tf.command.main import main
from aranyani_tf.command.run import Run
from aranyani_tf.command.run_file import load_run
from command_rows import CHOSEN, assert_same_model, people, run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A file with bad rows in it, and the model and the predictions of a run that nobody has stopped."""
    folder = tmp_path_factory.mktemp("rows")
    lines = people(60_000).to_csv(index=False).splitlines()
    for number in range(900, 60_000, 1700):
        lines[number] = "nobody,at,all" if number % 2 else f",{lines[number].partition(',')[2]}"
    (folder / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run(folder / "people.csv", folder / "whole.keras", "--predictions", folder / "whole.csv")
    return folder


INTERRUPTED = [piece * 4096 for piece in (1, 4, 7, 10, 13)]  # of fifteen


def assert_as_if_never_stopped(folder, tmp_path):
    (tabular, state), (whole, whole_state) = (load_run(path) for path in (tmp_path / "m.keras", folder / "whole.keras"))
    assert_same_model(tabular, whole)
    for name in ("rows_read", "num_bad", "first_bad", "record", "num_pieces", "prediction_bytes"):
        assert getattr(state, name) == getattr(whole_state, name)
    assert state.rows_read == 60_000 and state.num_bad == 35 and state.first_bad.startswith("row 899: ")
    assert (tmp_path / "said.csv").read_bytes() == (folder / "whole.csv").read_bytes()


def begin(folder, tmp_path, *further):
    return ["run", str(folder / "people.csv"), *CHOSEN, "--parity-target", "0.05", "--out", str(tmp_path / "m.keras"),
            "--predictions", str(tmp_path / "said.csv"), *further]


def go_on(folder, tmp_path):
    return main(["run", str(folder / "people.csv"), "--resume", str(tmp_path / "m.keras"), "--quiet"])


def test_ctrl_c_at_every_third_piece(folder, tmp_path, monkeypatch, capsys):
    """Signals come while a piece is learned: that one is finished, and no other is begun."""
    learn = Run.learn

    def learn_then_interrupt(self, rows, answers):
        if rows.end in INTERRUPTED:
            signal.raise_signal(signal.SIGINT)
        learn(self, rows, answers)

    monkeypatch.setattr(Run, "learn", learn_then_interrupt)
    assert main(begin(folder, tmp_path)) == 130
    told = capsys.readouterr().out
    assert "stopped after 4,096 rows; to go on:" in told
    assert f"aranyani run {folder / 'people.csv'} --resume {tmp_path / 'm.keras'}" in told
    statuses = []
    while load_run(tmp_path / "m.keras")[1].rows_read < 60_000:
        statuses.append(go_on(folder, tmp_path))
    assert statuses == [130, 130, 130, 130, 0]
    assert_as_if_never_stopped(folder, tmp_path)


def command(argv):
    raise SystemExit(main(argv))


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_signals_from_outside_at_some_moment(folder, tmp_path, number, status):
    process = forked.start(command, begin(folder, tmp_path, "--save-every", "8000"))
    wanted = tmp_path / "m.keras" if number == signal.SIGKILL else tmp_path / "said.csv"
    while not (wanted.is_file() and wanted.stat().st_size > 1000):  # more than the header
        assert process.is_alive()
        time.sleep(0.001)
    os.kill(process.pid, number)
    process.join()
    assert process.exitcode == status
    rows_read = load_run(tmp_path / "m.keras")[1].rows_read
    assert 0 < rows_read < 60_000 and rows_read % 4096 == 0
    if number == signal.SIGKILL:  # what was written after the save is written again
        assert (tmp_path / "said.csv").stat().st_size >= load_run(tmp_path / "m.keras")[1].prediction_bytes
    assert go_on(folder, tmp_path) == 0
    assert_as_if_never_stopped(folder, tmp_path)


def interrupted(path, out, *further):
    """A run that stops after its first piece."""
    with pytest.MonkeyPatch.context() as patch:
        learn = Run.learn
        patch.setattr(Run, "learn", lambda self, *rows: (signal.raise_signal(signal.SIGINT), learn(self, *rows)))
        return main(["run", str(path), *CHOSEN, "--out", str(out), *further])


def test_another_source_is_refused(tmp_path, capsys):
    people(9000).to_csv(tmp_path / "people.csv", index=False)
    assert interrupted(tmp_path / "people.csv", tmp_path / "m.keras") == 130
    before = (tmp_path / "m.keras").read_bytes()
    people(9000).to_csv(tmp_path / "other.csv", index=False)

    def refused(path):
        assert main(["run", str(path), "--resume", str(tmp_path / "m.keras")]) == 2
        told = capsys.readouterr().err
        assert told.startswith("aranyani: ") and told.count("\n") == 1
        return told

    assert "was in people.csv, and is to go on in other.csv" in refused(tmp_path / "other.csv")
    people(9000, seed=1).to_csv(tmp_path / "people.csv", index=False)
    assert "the first 100 rows" in refused(tmp_path / "people.csv")
    people(9000).drop(columns="score").to_csv(tmp_path / "people.csv", index=False)
    assert "has other columns" in refused(tmp_path / "people.csv")
    people(9000)[:200].to_csv(tmp_path / "people.csv", index=False)
    assert "has 200 rows, and 4,096 of it were read before" in refused(tmp_path / "people.csv")
    assert (tmp_path / "m.keras").read_bytes() == before


def test_what_was_settled_stays(tmp_path, capsys):
    people(9000).to_csv(tmp_path / "people.csv", index=False)
    assert interrupted(tmp_path / "people.csv", tmp_path / "m.keras") == 130
    again = ["run", str(tmp_path / "people.csv"), "--resume", str(tmp_path / "m.keras"), "--quiet"]
    assert main([*again, "--trees", "5"]) == 2
    assert "--trees was settled when the run began" in capsys.readouterr().err
    assert main([*again, "--trees", "2", "--label", "hired"]) == 0  # as it was
    assert load_run(tmp_path / "m.keras")[1].rows_read == 9000


def test_a_file_that_has_grown_goes_on(tmp_path):
    rows = people(9000)
    rows[:5000].to_csv(tmp_path / "people.csv", index=False)
    run(tmp_path / "people.csv", tmp_path / "m.keras", "--predictions", tmp_path / "said.csv")
    rows.to_csv(tmp_path / "people.csv", index=False)
    assert main(["run", str(tmp_path / "people.csv"), "--resume", str(tmp_path / "m.keras"), "--quiet"]) == 0
    tabular, state = load_run(tmp_path / "m.keras")
    assert state.rows_read == 9000 and tabular.so_far()["rows"] == 9000
    numbers = [line.split(",")[0] for line in (tmp_path / "said.csv").read_text(encoding="utf-8").splitlines()]
    assert numbers == ["row", *map(str, range(9000))]


def test_predictions_that_were_cut_short_are_not_gone_on_with(tmp_path, capsys):
    people(9000).to_csv(tmp_path / "people.csv", index=False)
    said = tmp_path / "said.csv"
    assert interrupted(tmp_path / "people.csv", tmp_path / "m.keras", "--predictions", str(said)) == 130
    said.write_bytes(said.read_bytes()[:100])
    assert main(["run", str(tmp_path / "people.csv"), "--resume", str(tmp_path / "m.keras")]) == 2
    assert "is not what the run has written" in capsys.readouterr().err
