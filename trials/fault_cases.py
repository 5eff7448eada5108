"""What a case is, and how it is judged: the next run ends with the bytes of an undisturbed one, or tells the damage."""

import random
import re
import shutil
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from trials.fault_processes import ROOT, Fault
from trials.fault_programs import Program

SAME, TOLD, WRONG = "same bytes", "told", "WRONG"


@dataclass(frozen=True)
class Case:
    """One thing that happens to one program.

    Args:
        program: its name.
        fault: the kind.
        name: which of that kind.
        happen: function of an empty folder, gives the outcome and a few words.
    """

    program: str
    fault: str
    name: str
    happen: Callable[[Path], tuple[str, str]]

    def row(self, folder):
        began = time.monotonic()
        try:
            outcome, detail = self.happen(folder)
        except Exception as error:  # of the trial itself: nothing is said about the program
            outcome, detail = WRONG, f"the trial failed: {error!r} {traceback.format_exc().splitlines()[-3].strip()}"
        return {"program": self.program, "fault": self.fault, "case": self.name, "outcome": outcome,
                "detail": without_places(detail, folder), "seconds": round(time.monotonic() - began, 1)}


class Subject:
    """A program that was left alone once: what comes out, how long it takes, how often it changes its folder.

    Args:
        program: the program.
        folder: of the undisturbed run; it may have what the program reads.
        fault: an environment in which nothing happens to it.
        warm: whether it is run twice, so that the time is that of a run that meets nothing for the first time.
    """

    def __init__(self, program: Program, folder: Path, fault: Fault | None = None, warm: bool = False):
        self.program, self.folder = program, Path(folder)
        if warm:
            program.run(self.folder.with_name(f"{self.folder.name}-warm"), fault)
        running = program.run(self.folder, fault)
        if not running.good:
            raise RuntimeError(f"{program.name} does not even run undisturbed: {running.refusal} {running.said}")
        self.seconds, self.changes, self.expected = running.seconds, running.changes, program.result(self.folder)

    @property
    def name(self):
        return self.program.name

    def copy(self, to):
        """The folder of the undisturbed run, to be damaged."""
        return Path(shutil.copytree(self.folder, to, dirs_exist_ok=True))

    def judged(self, folder, *, names=(), repair=None, fault=None, kind=None):
        """Lets it go on, and judges.

        Args:
            names: what the program has to name if it does not come to the end.
            repair: function that does what it says then.
            fault: that stays for this run.
            kind: of process.
        """
        running = self.program.run(folder, fault, kind)
        if running.good and "Traceback" not in running.said:
            return self.compared(folder, "")
        complaint = running.refusal or last_sentence(running.said)
        if "Traceback" in running.said:
            return WRONG, f"a traceback: {complaint}"
        if repair is None or not all(name in complaint for name in names):
            return WRONG, f"ended with {running.status}: {complaint}"
        repair()
        again = self.program.run(folder, None, kind)
        if not again.good:
            return WRONG, f"after the repair it ended with {again.status}: {last_sentence(again.said)}"
        outcome, detail = self.compared(folder, complaint)
        return (TOLD, complaint) if outcome == SAME else (outcome, detail)

    def compared(self, folder, detail):
        found = self.program.result(folder)
        differ = sorted(name for name in {*found, *self.expected} if found.get(name) != self.expected.get(name))
        return (WRONG, f"other bytes in {', '.join(differ)} {detail}".strip()) if differ else (SAME, detail)


def last_sentence(said):
    """The last line that was said for people."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return lines[-1] if lines else "nothing was said"


def without_places(text: str, folder: Path) -> str:
    """What was said, without what differs from machine to machine and from run to run: folders, and names of parts."""
    places = {place for place in (folder, folder.parent, ROOT, Path.home()) if place != Path(place.anchor)}
    for place in sorted(map(str, places), key=len, reverse=True):  # those that are inside of others first
        text = text.replace(place, "…")
    return re.sub(r"\.(part|lock)-[0-9a-f]{16}-", r".\1-…-", text)


def flip(path: Path, chance: random.Random, at: int | None = None) -> str:
    """Turns one bit of a file over; says where."""
    content = bytearray(path.read_bytes())
    place = chance.randrange(len(content)) if at is None else at % len(content)
    content[place] ^= 1 << chance.randrange(8)
    path.write_bytes(bytes(content))
    return f"byte {place:,} of {len(content):,}"
