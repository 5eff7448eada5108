"""Predictions that wait for their feedback, of which there may never be any: the oldest are dropped.

They are written to a file too, so that feedback by id still works after a crash. Nobody waits for the disk here: a
process that is killed loses none of them; a machine that loses its power may lose the last ones, whose feedback then
has to bring its row.
"""

import json
from pathlib import Path


class Pending:
    """id → {"row": …, "label": the decision, "probabilities": …}, the last `limit` of them.

    Two files hold the last ones: when the new one has `limit` lines, it takes the old one's place.
    """

    def __init__(self, folder, limit):
        self.new, self.old = Path(folder) / "predictions.jsonl", Path(folder) / "predictions.old.jsonl"
        self.limit, self.waiting, self.num_lines, self.dropped = limit, {}, 0, 0
        for path in (self.old, self.new):
            lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
            whole = [line for line in lines if line.endswith(b"\n")]
            self.waiting |= dict(map(json.loads, whole))
            self.num_lines = len(whole)
        self.file = self.new.open("ab")
        self.file.truncate(sum(map(len, whole)))
        self.drop_oldest()

    def add(self, key, answer):
        if self.num_lines >= self.limit:
            self.file.close()
            self.new.replace(self.old)
            self.file, self.num_lines = self.new.open("wb"), 0
        self.file.write(json.dumps([key, answer]).encode() + b"\n")
        self.file.flush()
        self.num_lines += 1
        self.waiting[key] = answer
        self.drop_oldest()

    def drop_oldest(self):
        while len(self.waiting) > self.limit:
            del self.waiting[next(iter(self.waiting))]
            self.dropped += 1

    def get(self, key):
        return self.waiting.get(key)

    def remove(self, key):
        self.waiting.pop(key, None)

    def close(self):
        self.file.close()
