"""The trial of faults: it tells right from wrong, and a run that is killed or damaged goes on as it should."""

import random
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "examples" / "service"))

from trials import fault_disks, fault_flips, fault_kills, fault_others, fault_processes  # noqa: E402
from trials.fault_cases import SAME, TOLD, WRONG, Subject, flip, without_places  # noqa: E402
from trials.fault_processes import Fault  # noqa: E402
from trials.fault_programs import CommandRun, Program  # noqa: E402

CAREFUL = "import os; open('new', 'w').write('all of it'); os.replace('new', 'result')"
CARELESS = "import os; os.path.exists('result') or [open('result', 'a').write(word) for word in ('all ', 'of it')]"
TELLS = ("import os, sys\nif os.path.exists('result') and open('result').read() != 'all of it': sys.exit('result is "
         "damaged; remove it')\nopen('result', 'w').write('all of it')")


class Writer(Program):
    """A script that leaves one file."""

    name = "writer"

    def __init__(self, shared, content):
        super().__init__(shared)
        self.script = self.shared / "writer.py"
        self.script.write_text(content)

    def arguments(self, folder):
        return (self.script,)


@pytest.fixture(scope="module", autouse=True)
def server():
    """With what these need alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fault_processes, "PRELOADED", ["aranyani_tf"])
        yield


@pytest.mark.parametrize(("content", "outcome"), [(CAREFUL, SAME), (CARELESS, WRONG)])
def test_a_writer_that_leaves_half_a_file_is_found_out(tmp_path, content, outcome):
    subject = Subject(Writer(tmp_path / "shared", content), tmp_path / "whole")
    assert subject.changes == 2
    case = fault_kills.at_change(subject, 1, 0.0)
    row = case.row(tmp_path / "killed")
    assert row["outcome"] == outcome and (outcome == SAME or "result" in row["detail"])


def test_damage_that_is_told_and_mended_counts_as_told(tmp_path):
    subject = Subject(Writer(tmp_path / "shared", TELLS), tmp_path / "whole")
    for names, outcome in ((("result",), TOLD), (("another file",), WRONG)):
        (case,) = fault_flips.flips(subject, subject.copy, lambda folder: folder / "result", names, 0, told="it")
        assert case.row(tmp_path / names[0])["outcome"] == outcome


def test_a_disk_that_fills_up_is_told_by_a_limit_where_none_can_be_mounted(tmp_path):
    content = "with open('new', 'w') as file: file.write('all of it' * 10_000)"
    running = Writer(tmp_path / "shared", content).run(tmp_path / "run", Fault(change=0, most_bytes=20_000))
    assert not running.good and "File too large" in running.said


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_fault_that_did_nothing_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(fault_disks, "can_mount", lambda: False)
    subject = Subject(Writer(tmp_path / "shared", CAREFUL), tmp_path / "whole")
    (case,) = fault_disks.full_disks(subject, (0.5,))
    row = case.row(tmp_path / "full")
    assert (row["outcome"], row["detail"]) == (SAME, "it came to its end nevertheless")
    both = fault_others.together(subject, ("another",)).row(tmp_path / "both")
    assert (both["outcome"], both["detail"]) == (SAME, "both came to their ends nevertheless")
    monkeypatch.setattr(subject.program, "run", lambda folder: 1 / 0)
    assert fault_others.together(subject).row(tmp_path / "neither")["outcome"] == WRONG


def test_a_traceback_is_wrong_though_the_run_came_to_its_end(tmp_path):
    said = CAREFUL + "; os.path.exists(\"again\") and print(\"Traceback\"); open(\"again\", \"w\")"
    program = Writer(tmp_path / "shared", said)
    program.passing = ("again",)
    subject = Subject(program, tmp_path / "whole")
    assert subject.judged(tmp_path / "whole") == (WRONG, "a traceback: Traceback")


def test_what_is_told_has_no_places_of_this_machine(tmp_path):
    said = (f"{tmp_path}/case 1/a, {tmp_path}/b, {ROOT}/c, {Path.home()}/d, .part-0123456789abcdef-e and "
            ".lock-0123456789abcdef-.part-0123456789abcdef-f")
    assert without_places(said, tmp_path / "case 1") == "…/a, …/b, …/c, …/d, .part-…-e and .lock-…-.part-…-f"


def test_one_bit_is_turned_over(tmp_path):
    (tmp_path / "file").write_bytes(bytes(range(100)))
    flip(tmp_path / "file", random.Random(0))
    differ = [new ^ old for new, old in zip((tmp_path / "file").read_bytes(), range(100), strict=True) if new != old]
    assert len(differ) == 1 and differ[0].bit_count() == 1


def test_aranyani_run_is_killed_while_it_saves_and_goes_on(tmp_path):
    subject = Subject(CommandRun(tmp_path / "shared", rows=9000), tmp_path / "whole")
    assert set(subject.expected) == {"model.keras", "said.csv"}
    row = fault_kills.at_change(subject, subject.changes - 3, 0.0).row(tmp_path / "killed")
    assert row["outcome"] == SAME, row
