"""One client process of a soak: it asks, gives feedback late, out of order, twice or never, and sends what is wrong.

It tells every second, as a line of JSON, what it saw since the last one. When the service dies it waits for the next
one, and sends again what had no answer. `trials/soak.py` starts it; its argument is the JSON of `Client`'s.
"""

import heapq
import http.client
import itertools
import json
import random
import socket
import sys
import threading
import time
import traceback
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from trials.soak_stream import RICH, People, bad_request, odd

BAD, ODD, CUT_OFF = 0.04, 0.01, 0.002  # shares: wrong requests, strange rows, connections that end in the middle
NEVER, LATE, TWICE, IN_PART = 0.02, 0.08, 0.10, 0.04  # of the feedback; in part: without label or without group
SOON, LATEST = 0.5, 0.1  # seconds on average; as a share of the soak


class Tally:
    """What was seen since the last line."""

    def __init__(self):
        self.lock = threading.Lock()
        self.empty()

    def empty(self):
        self.counts, self.acknowledged, self.problems = Counter(), [], []
        self.times = {"predict": [], "feedback": []}

    def line(self):
        with self.lock:
            text = json.dumps({"counts": self.counts, "acknowledged": self.acknowledged, "times": self.times,
                               "problems": self.problems[:3]})
            self.empty()
        return text

    def count(self, **more):
        with self.lock:
            self.counts.update(more)


class Connection:
    """One connection, and the feedback that it owes.

    Args:
        name: of the people that it asks about.
        began, seconds: of the soak; times are those of `time.time`.
    """

    def __init__(self, name, port, people, began, seconds, tally):
        self.name, self.port, self.people, self.tally = name, port, people, tally
        self.began, self.seconds, self.chance = began, seconds, random.Random(name)
        self.owed, self.order = [], itertools.count()  # a heap of (when, order, feedback, whether it is the second)
        self.link, self.failed = None, False

    def run(self):
        """Until the soak ends; an error of its own ends it too, and is told."""
        try:
            self.go_on()
        except Exception as error:
            self.failed = True
            self.problem("a client's connection has ended", "".join(traceback.format_exception(error))[-1000:])

    def go_on(self):
        for number in itertools.count():
            position = (time.time() - self.began) / self.seconds
            if position >= 1:
                break
            if self.chance.random() < BAD:
                self.send_what_is_wrong(position)
            if self.chance.random() < CUT_OFF:
                self.cut_off()
            self.predict(f"{self.name}-{number}", position)
            self.give_what_is_due(time.time())
        self.give_what_is_due(float("inf"))

    def predict(self, key, position):
        row, label, group = self.people.draw(self.chance, position)
        if self.chance.random() < ODD:
            row = odd(row, self.chance)
        status, answer, _ = self.ask("predict", {"id": key, "row": row})
        if status != 200:
            return self.problem(status, answer)
        decision = answer["label"]
        self.tally.count(**{f"rows {group}": 1, f"decided {group}": decision == RICH, f"rich {group}": label == RICH,
                            "right": decision == label})
        if self.chance.random() < NEVER:
            return self.tally.count(never=1)
        feedback = {"id": key, "label": label, "group": group}
        if self.chance.random() < IN_PART:
            feedback[self.chance.choice(["label", "group"])] = None
        late = self.chance.random() < LATE
        self.tally.count(late=late)
        wait = self.chance.uniform(0, LATEST * self.seconds) if late else self.chance.expovariate(1 / SOON)
        self.owe(wait, feedback, {"row": row, "decision": decision})

    def owe(self, wait, feedback, dropped):
        """Args: dropped: what is sent along if the service has dropped the prediction; None for a second time."""
        heapq.heappush(self.owed, (time.time() + wait, next(self.order), feedback, dropped))

    def give_what_is_due(self, now):
        while self.owed and self.owed[0][0] <= now:
            _, _, feedback, dropped = heapq.heappop(self.owed)
            status, answer, again = self.ask("feedback", feedback)
            if status == 404 and dropped is not None:
                self.tally.count(sent_with_row=1)
                status, answer, again = self.ask("feedback", feedback | dropped)
            expected = "already learned" if dropped is None else "learned"
            if status != 200 or (answer["status"] != expected and not again):
                self.problem(status, answer)
            elif dropped is None:
                self.tally.count(sent_twice=1)
            else:
                with self.tally.lock:
                    self.tally.acknowledged.append(feedback["id"])
                if self.chance.random() < TWICE:
                    self.owe(self.chance.uniform(0, 2), feedback, None)

    def send_what_is_wrong(self, position):
        method, path, body, right = bad_request(self.chance, self.people.draw(self.chance, position)[0])
        status, answer, _ = self.request(method, path, body)
        self.tally.count(refused=400 <= status < 500, bad=1)
        if status not in right:
            self.problem(status, [path, str(body)[:300], answer])

    def cut_off(self):
        """Half a request, and no more, over a connection of its own."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5) as link:
                link.sendall(b"POST /feedback HTTP/1.1\r\nHost: here\r\nContent-Length: 100\r\n\r\n{\"id\": ")
        except OSError:
            pass  # there is no service just now
        self.tally.count(cut_off=1)

    def ask(self, kind, body):
        return self.request("POST", f"/{kind}", json.dumps(body).encode(), kind)

    def request(self, method, path, body, timed=None):
        """Status, answer, and whether it was sent before: to a service that died."""
        for attempt in itertools.count():
            began = time.perf_counter()
            try:
                self.link = self.link or http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
                self.link.request(method, path, body, {"Content-Type": "application/json"})
                response = self.link.getresponse()
                text = response.read()
            except (OSError, http.client.HTTPException):
                self.link = None
                self.tally.count(unanswered=attempt == 0)
                time.sleep(0.2)
                continue
            if timed is not None and not attempt:
                with self.tally.lock:
                    self.tally.times[timed].append(round(time.perf_counter() - began, 6))
            self.tally.count(requests=1, server_errors=response.status >= 500)
            return response.status, read(text), attempt > 0

    def problem(self, status, answer):
        with self.tally.lock:
            self.tally.counts["problems"] += 1
            self.tally.problems.append([status, answer])


def read(text):
    """An answer: JSON, or whatever it says."""
    try:
        return json.loads(text)
    except ValueError:
        return text.decode("utf-8", "replace")[:300]


def main():
    given = json.loads(sys.argv[1])
    people, tally = People(json.loads(Path(given.pop("rows")).read_text(encoding="utf-8"))), Tally()
    name, connections = given.pop("name"), given.pop("connections")
    links = [Connection(f"{name}.{number}", people=people, tally=tally, **given) for number in range(connections)]
    threads = [threading.Thread(target=link.run) for link in links]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        time.sleep(1)
        print(tally.line(), flush=True)
    print(tally.line(), flush=True)
    sys.exit(1 if any(link.failed for link in links) else 0)


if __name__ == "__main__":
    main()
