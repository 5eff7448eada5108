"""The service of examples/service as a program that faults happen to, with a client that asks it over HTTP."""

import hashlib
import http.client
import re
import signal
import socket
import time

from clients import ask
from first_model import people
from trials.fault_processes import ROOT
from trials.fault_programs import Program

APP = ROOT / "examples" / "service" / "app.py"


class ServiceRun(Program):
    """The service, and one client that asks and gives feedback until all of it was acknowledged."""

    name, passing, status = "service", ("in_use",), -signal.SIGTERM

    def __init__(self, shared, feedbacks=600):
        super().__init__(shared)
        self.people = people()[:feedbacks].to_dict("records")

    def arguments(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        return APP, "--folder", folder, "--keep-journal", "--save-every", 250, "--port", port

    def drive(self, running):
        try:
            if self.answers(running):
                self.ask_for_all(running)
                running.signal(signal.SIGTERM)
        except (OSError, http.client.HTTPException):
            pass  # it was killed
        except Refusal as refusal:
            running.refusal = str(refusal)
            running.signal(signal.SIGTERM)
        return running.end()

    def answers(self, running):
        """Waits until it takes requests; whether it ever did."""
        while running.is_alive():
            try:
                return ask(running.arguments[-1], "GET", "/health")[0] == 200
            except OSError:
                time.sleep(0.02)
        return False

    def ask_for_all(self, running):
        """From the first row: what was answered before is answered so again, and learned no second time."""
        link = http.client.HTTPConnection("127.0.0.1", running.arguments[-1], timeout=60)
        for number, person in enumerate(self.people):
            if number == running.fault.feedbacks:
                running.signal(signal.SIGKILL)
            row = dict(person)
            told = {"id": f"person-{number}", "label": row.pop("income"), "group": row.pop("gender")}
            for path, body in (("/predict", {"id": told["id"], "row": row}), ("/feedback", told)):
                status, answer = ask(running.arguments[-1], "POST", path, body, link)
                if status not in ((200, 409) if path == "/predict" else (200,)):  # 409: it was learned before
                    raise Refusal(f"{status}: {answer['error']}")
        link.close()


    def result(self, folder):
        """A save has the hash of its .keras file, which has the time in it."""
        found = super().result(folder)
        if "state.json" in found:
            text = re.sub(r'"(model_)?sha256": "\w+"', "", (folder / "state.json").read_text(encoding="utf-8"))
            found["state.json"] = hashlib.sha256(text.encode()).hexdigest()
        return found


class Refusal(Exception):
    """The service's own word that it does not take a request."""

