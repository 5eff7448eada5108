"""Predictions that wait for their feedback, of which there may never be any: the oldest are dropped.

They are written to a file too, so that feedback by id still works after a crash. A prediction does not wait for the
disk, but for each `limit` of them the file is written anew. A process that is killed loses none of them; a machine that
loses its power may lose the last ones, whose feedback then has to bring its row.
"""

from contextlib import suppress
from pathlib import Path

from aranyani_tf.files import whole_file
from checked_lines import cut, line_of, read

MEND = "take the file from a copy, or remove it: feedback on what it has must then bring the row, and the decision"


class Pending:
    """id → {"row": …, "label": the decision, "probabilities": …}, the last `limit` of them.

    The file has those that were answered since, too. When it has twice as many lines as `limit`, it is written anew,
    with those that wait.

    Args:
        answered: ids that had their feedback, and wait no more.
    """

    def __init__(self, folder, limit, answered=()):
        self.path, before = Path(folder) / "predictions.jsonl", Path(folder) / "predictions.old.jsonl"
        self.limit, self.waiting, self.num_lines, self.dropped = limit, {}, 0, 0
        for path in (before, self.path):  # an earlier version had two files
            entries = read(path, MEND) if path.exists() else []
            self.waiting |= {key: answer for key, answer in entries if key not in answered}
            self.num_lines += len(entries)
        self.drop_oldest()
        cut(self.path)
        self.file = self.path.open("ab")
        if before.exists():
            self.write_anew()
            before.unlink()

    def add(self, key, answer):
        if self.num_lines >= 2 * self.limit:
            self.write_anew()
        try:
            self.file.write(line_of([key, answer]))
            self.file.flush()
        except OSError as error:  # a full disk names no file
            raise OSError(error.errno, error.strerror, str(self.path)) from error
        self.num_lines += 1
        self.waiting[key] = answer
        self.drop_oldest()

    def write_anew(self):
        """With those that wait alone; the file of before stays until all of it is written."""
        with whole_file(self.path) as file:
            file.writelines(map(line_of, self.waiting.items()))
        self.file.close()
        self.file, self.num_lines = self.path.open("ab"), len(self.waiting)

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
