"""One bit of one file turned over, or files removed, and then the program goes on."""

import random
import shutil

from trials.fault_cases import Case, Subject, flip
from trials.fault_processes import ROOT, Fault, Fresh
from trials.fault_programs import DatasetRun, EmbeddedSweep, Program

DATA = "compas.parquet"
LED_ELSEWHERE = """import sys
from pathlib import Path

from aranyani_tf.command.main import main
from aranyani_tf.datasets import shipped

shipped.FOLDERS = (Path({folder!r}),)
sys.exit(main())
"""


class ReportRun(Program):
    """`make report` over a copy of the committed results."""

    name, kind = "report", Fresh

    def arguments(self, folder):
        return ROOT / "reproduce" / "report.py", "--results", folder

    def result(self, folder):
        return {"index.html": super().result(folder)["index.html"]}


def flips(subject, make, file, names, seed, count=1, at=None, told=None):
    """`make` fills a folder with what a run has left half way; `file` finds the one that is damaged then."""
    for number in range(count):
        chance = random.Random(f"{seed} {subject.name} {told} {number} {at}")

        def happen(folder, chance=chance):
            make(folder)
            path = file(folder)
            content = path.read_bytes()
            where = flip(path, chance, at)
            outcome, detail = subject.judged(folder, names=(path.name, *names),
                                             repair=lambda: path.write_bytes(content))
            return outcome, f"{where}: {detail or 'made again, or of no consequence'}"

        yield Case(subject.name, "a byte flipped", told, happen)


def part_way(subject, work, fault):
    """A function that gives a folder of a run that was killed, always the same one."""
    half = work / f"{subject.name} half"
    subject.program.run(half, fault)
    return lambda folder: shutil.copytree(half, folder, dirs_exist_ok=True)


def in_figure(figure, seed):
    def first(folder):
        return sorted((folder / ".parts").glob("*.csv"))[0]

    yield from flips(figure, figure.copy, first, (), seed, 3, told="a part in results/.parts")
    yield from flips(figure, figure.copy, lambda folder: folder / "drift_tiny.csv", (), seed, told="its results CSV")


def in_run(command, work, seed, count):
    half = part_way(command, work, Fault(change=int(0.7 * command.changes)))
    yield from flips(command, half, lambda folder: folder / "model.keras", ("copy",), seed, count,
                     told="the checkpoint")
    yield from flips(command, half, lambda folder: folder / "said.csv", ("is not what",), seed, 2, at=200_000,
                     told="the predictions so far")


def in_service(service, work, seed, count):
    half = part_way(service, work, Fault(feedbacks=len(service.program.people) * 3 // 4))

    def last(pattern):
        return lambda folder: [path for path in sorted(folder.glob(pattern)) if path.stat().st_size][-1]

    for told, pattern in (("the journal", "journal-*.jsonl"), ("the save's state", "state.json"),
                          ("the save's model", "model-*.keras"), ("the save's ids", "learned-*.txt"),
                          ("the predictions that wait", "predictions.jsonl")):
        yield from flips(service, half, last(pattern), ("copy",), seed, count, told=told)
    yield from flips(service, half, last("journal-*.jsonl"), ("copy",), seed, at=-1, told="the journal's last line end")
    for told, pattern in (("the journal", "journal-*.jsonl"), ("the save's model", "model-*.keras"),
                          ("the save's ids", "learned-*.txt")):
        yield Case(service.name, "files removed", told,
                   lambda folder, pattern=pattern: removed(service, half, folder, pattern))


def removed(service, make, folder, pattern):
    """All files of a kind are gone; their names are told, and copies do."""
    make(folder)
    contents = {path: path.read_bytes() for path in folder.glob(pattern)}
    for path in contents:
        path.unlink()
    last = max(path for path, content in contents.items() if content)
    return service.judged(folder, names=(last.name, "copy"),
                          repair=lambda: [path.write_bytes(content) for path, content in contents.items()])


def in_shipped_data(work, seed):
    """In a copy, to which the command is led."""
    copy, command = work / "shipped", work / "shared" / "led_elsewhere.py"
    copy.mkdir()
    shutil.copy(ROOT / "data" / DATA, copy)
    command.write_text(LED_ELSEWHERE.format(folder=str(copy)), encoding="utf-8")
    shipped = Subject(DatasetRun(work / "shared", "compas", command=command), work / "compas")
    yield from flips(shipped, lambda folder: folder.mkdir(), lambda folder: copy / DATA, ("git checkout",), seed,
                     told="a shipped data file")


def in_embeddings(work, seed):
    """That a user has made."""
    program = EmbeddedSweep(work / "shared")
    made = Subject(program, work / "embedded")
    yield from flips(made, lambda folder: None, lambda folder: program.embeddings / "features.npy", ("make it again",),
                     seed, told="a dataset of embeddings")


def in_results(work, seed):
    """A committed CSV, and the page that is made of all of them."""
    folder = work / "report"
    shutil.copytree(ROOT / "results", folder, ignore=shutil.ignore_patterns(".parts", "*_quick*"))
    report = Subject(ReportRun(work / "shared"), folder)
    for name in ("figure2.csv", "claims.csv"):
        yield from flips(report, report.copy, lambda folder, name=name: folder / name, ("make ", "git checkout"), seed,
                         told=f"results/{name}")
