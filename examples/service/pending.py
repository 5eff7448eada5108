"""Predictions that wait for their feedback, of which there may never be any: the oldest are dropped.

They are written to a file too, so that feedback by id still works after a crash. Nobody waits for the disk here: a
process that is killed loses none of them; a machine that loses its power may lose the last ones, whose feedback then
has to bring its row.
"""

from contextlib import suppress
from pathlib import Path

from checked_lines import cut, line_of, read

MEND = "take the file from a copy, or remove it: feedback on what it has must then bring the row, and the decision"


class Pending:
    """id → {"row": …, "label": the decision, "probabilities": …}, the last `limit` of them.

    Two files hold the last ones: when the new one has `limit` lines, it takes the old one's place.
    """

    def __init__(self, folder, limit):
        self.new, self.old = Path(folder) / "predictions.jsonl", Path(folder) / "predictions.old.jsonl"
        self.limit, self.waiting, self.num_lines, self.dropped = limit, {}, 0, 0
        for path in (self.old, self.new):
            entries = read(path, MEND) if path.exists() else []
            self.waiting |= dict(entries)
            self.num_lines = len(entries)
        cut(self.new)
        self.file = self.new.open("ab")
        self.drop_oldest()

    def add(self, key, answer):
        if self.num_lines >= self.limit:
            self.file.close()
            self.new.replace(self.old)
            self.file, self.num_lines = self.new.open("wb"), 0
        try:
            self.file.write(line_of([key, answer]))
            self.file.flush()
        except OSError as error:  # a full disk names no file
            raise OSError(error.errno, error.strerror, str(self.new)) from error
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
        with suppress(OSError):  # of what could not be written, which was told
            self.file.close()
