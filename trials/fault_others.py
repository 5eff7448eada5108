"""Two runs in one folder at the same time, and a W&B that does not answer or has nowhere to write."""

import contextlib
import copy
import threading

from trials.fault_cases import SAME, TOLD, WRONG, Case, Subject, last_sentence
from trials.fault_disks import can_mount, mounted
from trials.fault_processes import Fault
from trials.fault_programs import AgentRun, FigureRun

CLOSED = "http://127.0.0.1:9"  # where nobody listens
KEY = "0" * 40


def together(subject, names=None):
    """Both begin at once. Either both end with the same bytes, or one of them says that the other is there."""
    def happen(folder):
        folder.mkdir(parents=True, exist_ok=True)
        ended = []
        threads = [threading.Thread(target=lambda: ended.append(subject.program.run(folder))) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if len(ended) < 2:
            return WRONG, "the trial failed: one of the two could not be run"
        bad = [running for running in ended if not running.good]
        for running in ended:
            if "Traceback" in running.said:
                return WRONG, f"a traceback: {last_sentence(running.said)}"
        for said in (last_sentence(running.said) for running in bad):
            if names is None or not all(name in said for name in names):
                return WRONG, f"one of the two did not come to its end: {said}"
        if len(bad) == 2:
            return WRONG, "neither came to its end"
        nevertheless = "" if names is None else "both came to their ends nevertheless"
        outcome, detail = subject.compared(folder, "" if bad else nevertheless)
        return (TOLD, last_sentence(bad[0].said)) if outcome == SAME and bad else (outcome, detail)
    return Case(subject.name, "two runs in one folder", "at the same time", happen)


class LoggedFigure(FigureRun):
    name, further = "figure", ()


def tracking(figure, work):
    """Whatever W&B does, the numbers are those of a run without it."""
    quiet = {"WANDB_SILENT": "true", "WANDB_DIR": str(work / "wandb")}
    (work / "wandb").mkdir(exist_ok=True)
    agent = Subject(AgentRun(work / "shared"), work / "agent", Fault(environment={"WANDB_MODE": "disabled"}))
    logged = copy.copy(figure)
    logged.program = LoggedFigure(work / "shared")
    unreachable = quiet | {"WANDB_BASE_URL": CLOSED, "WANDB_API_KEY": KEY, "WANDB_MODE": ""}
    for subject in (logged, agent):
        yield Case(subject.name, "W&B", "unreachable", lambda folder, subject=subject: subject.judged(
            folder, fault=Fault(environment=unreachable)))
        yield Case(subject.name, "W&B", "its folder is read-only", lambda folder, subject=subject: read_only(
            subject, folder, quiet | {"WANDB_MODE": "offline"}))


def read_only(subject, folder, environment):
    place = folder.with_name(f"{folder.name}-wandb")
    place.mkdir(exist_ok=True)
    place.chmod(0o555)  # which does not keep root from writing; a disk that is read-only does
    with mounted(place, "ro") if can_mount() else contextlib.nullcontext():
        return subject.judged(folder, fault=Fault(environment=environment | {"WANDB_DIR": str(place)}))
