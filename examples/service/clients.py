"""Who uses the service: some connections that ask, and give feedback later, out of order, some of it twice."""

import http.client
import json
import random
import threading
import time


def ask(port, method, path, body=None, connection=None):
    """Status and answer; over a connection that stays open, or one of its own."""
    link = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    link.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
    response = link.getresponse()
    text = response.read()
    if connection is None:
        link.close()
    return response.status, json.loads(text)


class Clients:
    """Threads with a connection each. Rows are sent round and round; every one gets an id of its own.

    Args:
        rows: dicts with the columns income and gender, which are the feedback.
    """

    def __init__(self, port, rows, connections, label="income", group="gender"):
        self.port, self.connections, self.label, self.group = port, connections, label, group
        self.rows, self.number, self.lock = rows, 0, threading.Lock()
        self.waiting, self.unanswered = [], []  # feedback that is to be sent, and that may or may not have arrived
        self.acknowledged, self.times, self.problems = set(), {"predict": [], "feedback": []}, []
        self.stopping, self.threads = threading.Event(), []

    def run(self, seconds):
        self.begin()
        time.sleep(seconds)
        self.end()

    def begin(self):
        self.stopping.clear()
        self.threads = [threading.Thread(target=self.work, args=(seed,)) for seed in range(self.connections)]
        for thread in self.threads:
            thread.start()

    def end(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join()
        if self.problems:
            raise AssertionError(f"the service said {self.problems[0]}")

    def work(self, seed):
        """Asks until it is told to stop, or the service is gone."""
        chance = random.Random(f"{seed} {self.number}")
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            while not self.stopping.is_set() and not self.problems:
                self.predict(link)
                if chance.random() < 0.98:  # some feedback stays away for long
                    self.give(link, self.take(chance))
        except (OSError, http.client.HTTPException):
            pass  # the service was killed; what it had not answered is remembered
        finally:
            link.close()

    def predict(self, link):
        with self.lock:
            number, self.number = self.number, self.number + 1
        row = dict(self.rows[number % len(self.rows)])
        feedback = {"id": f"person-{number}", "label": row.pop(self.label), "group": row.pop(self.group)}
        self.timed("predict", link, {"id": feedback["id"], "row": row})
        with self.lock:
            self.waiting.append(feedback)

    def take(self, chance):
        """One of the feedbacks that wait: not always the oldest."""
        with self.lock:
            return self.waiting.pop(chance.randrange(min(len(self.waiting), 50))) if self.waiting else None

    def give(self, link, feedback):
        if feedback is None:
            return
        with self.lock:
            self.unanswered.append(feedback)
        for _ in range(2 if feedback["id"].endswith("7") else 1):  # one in ten comes twice
            self.timed("feedback", link, feedback)
            with self.lock:
                self.acknowledged.add(feedback["id"])
        with self.lock:
            self.unanswered.remove(feedback)

    def timed(self, kind, link, body):
        began = time.perf_counter()
        status, answer = ask(self.port, "POST", f"/{kind}", body, link)
        self.times[kind].append(time.perf_counter() - began)
        if status != 200:
            self.problems.append((status, answer))
            raise OSError(answer)

    def send_unanswered_again(self):
        """After a kill: by id alone, as the first time. Gives their number."""
        again, self.unanswered = self.unanswered, []
        self.send(again)
        return len(again)

    def send_all_feedback(self):
        """What still waits."""
        rest, self.waiting = self.waiting, []
        self.send(rest)

    def send(self, feedbacks):
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        for feedback in feedbacks:
            self.give(link, feedback)
        link.close()
