"""Predict now, learn from feedback later; nothing that was acknowledged is lost. HTTP is in app.py."""

import asyncio
import sys
import tempfile
import uuid
from pathlib import Path

import keras
import numpy as np
from filelock import FileLock, Timeout

import checks
import saves
from aranyani_tf.errors import InUseError
from checks import Refused
from feedback_queue import FeedbackQueue
from first_model import first_model
from journal import Journal
from learner import REMEMBERED, Learner
from pending import Pending


class Service:
    """A learner, what waits for feedback, and a folder that has all of it.

    Args:
        folder: of its own; a service that begins here goes on where the last one stopped, however that was.
        save_every: feedbacks between two saves. To learn again what came since the last one takes less than a
            millisecond a row; for a save everybody waits some hundred milliseconds.
        max_pending: predictions that are remembered while their feedback has not come.
        keep_journal: whether files of the journal are kept after a save.
        remember: ids of feedback that was learned, the last ones, none of which is learned twice.
    """

    def __init__(self, folder, save_every=10_000, max_pending=100_000, keep_journal=False, remember=REMEMBERED):
        self.folder, self.save_every, self.max_pending = Path(folder), save_every, max_pending
        self.remember = remember
        self.folder.mkdir(parents=True, exist_ok=True)
        self.journal, self.queue = Journal(folder, keep_journal), FeedbackQueue()
        self.lock = FileLock(self.folder / "in_use", timeout=0)  # ends with the process
        self.failure, self.learning, self.learner = None, None, None

    async def start(self):
        """Begins to learn; all that is slow was done by `open`, or is now."""
        if self.learner is None:
            self.open()
        self.learning = asyncio.create_task(self.learn())

    def open(self):
        """Takes up what the last service left, and compiles everything; raises if a file is damaged."""
        try:
            self.lock.acquire()
        except Timeout as error:
            raise InUseError(f"another service runs in {self.folder}; end it, or choose another folder") from error
        try:
            self.take_up()
        except BaseException:
            self.lock.release()
            raise

    def take_up(self):
        self.learner = saves.load(self.folder, self.remember)
        if self.learner is None:
            self.learner = Learner(*first_model(), remembered=self.remember)
            saves.save(self.learner, self.folder)
        self.saved = self.learner.offset
        warm_up(self.learner.tabular)
        self.journal.open(self.learner.offset)
        for entry in self.journal.entries(self.learner.offset):
            self.learner.take(entry)
        if self.learner.offset - self.saved >= self.save_every:  # it was killed while it saved
            self.save()
        self.pending = Pending(self.folder, self.max_pending, answered=self.learner.learned)

    def predict(self, body):
        """The answer to one row. The same request again gets the same answer, since only one of them is scored."""
        key = checks.key_of(body) if "id" in body else uuid.uuid4().hex
        row = checks.row_of(body, self.learner.form)
        if key in self.learner.learned:
            raise Refused(409, "id", f"id {key!r} was learned already; a new row needs a new id")
        known = self.pending.get(key)
        if known is not None and known["row"] != row:
            raise Refused(409, "id", f"id {key!r} waits for feedback on another row; a new row needs a new id")
        if known is None:
            known = {"row": row, **self.learner.predict(row)}
            try:
                self.pending.add(key, known)
            except OSError as error:
                self.failure = self.failure or str(error)
                raise Refused(503, None, f"nothing can be remembered any more: {self.failure}") from error
        label, probabilities = known["label"], known["probabilities"]
        return {"id": key, "label": label, "probability": probabilities[label], "probabilities": probabilities}

    async def feedback(self, body):
        """What became of a feedback, once it is on the disk and learned."""
        key, form = checks.key_of(body), self.learner.form
        entry = {"id": key} | {name: checks.known_value(body, name, form) for name in ("label", "group", "decision")}
        if entry["label"] is None and entry["group"] is None:
            raise Refused(422, "label", "feedback needs a label, a group or both")
        known = self.pending.get(key)
        if known is not None:
            entry |= {"row": known["row"], "decision": known["label"]}
        elif key in self.learner.learned:
            return {"id": key, "status": "already learned"}
        elif "row" in body:
            entry["row"] = checks.row_of(body, form)
        else:
            raise Refused(404, "id", f"no prediction with id {key!r} waits for feedback: it was never made, or dropped "
                          f"after {self.max_pending:,} later ones; send its row, too, and its label as decision")
        if self.failure is not None:
            raise Refused(503, None, f"nothing is learned any more: {self.failure}")
        answer = await self.queue.put(entry)
        if answer["status"] == "refused":
            raise Refused(422, None, answer["error"])
        return {"id": key} | answer

    async def learn(self):
        """Writes each batch of feedback to the journal, learns it in that order, and answers."""
        async for batch in self.queue.batches():
            try:
                if self.failure is not None:
                    raise RuntimeError(self.failure)
                await asyncio.to_thread(self.journal.append, [entry for entry, _ in batch])
                for entry, answer in batch:
                    found = self.learner.take(entry)
                    self.pending.remove(entry["id"])
                    if not answer.done():  # its request may have gone
                        answer.set_result(found)
                if self.learner.offset - self.saved >= self.save_every:
                    self.save()
            except Exception as error:  # a full disk, say: what it has now is right, what comes after may not be
                self.failure = self.failure or (str(error) if isinstance(error, OSError) else
                                                f"{type(error).__name__}: {error}")
                for _, answer in batch:
                    if not answer.done():
                        answer.set_exception(Refused(503, None, f"nothing is learned any more: {self.failure}"))

    def save(self):
        self.saved = saves.save(self.learner, self.folder)
        self.journal.cut(self.saved)

    async def stop(self):
        """Saves, so that the next start has nothing to learn again."""
        if self.learning is not None:
            await self.queue.close()
            await self.learning
            if self.failure is None:
                try:
                    self.save()
                except OSError as error:  # the journal has all of it
                    print(f"nothing could be saved: {error}; the next start learns the journal again", file=sys.stderr)
            self.pending.close()
            self.learner.close()
        self.journal.close()
        self.lock.release()


def warm_up(tabular):
    """Lets a twin of the model answer, learn, and be saved and loaded: what has to be compiled is, and nobody waits."""
    twin = type(tabular).from_config(tabular.get_config())
    row = np.zeros(len(tabular.form.encoder.feature_names), "float32")
    with twin.model.live() as live, tempfile.TemporaryDirectory() as folder:
        live.predict(row)
        for label, group in ((0, 0), (1, -1), (-1, 1)):
            live.learn(row, label, group)
        twin.save(Path(folder) / "twin.keras")
        keras.saving.load_model(Path(folder) / "twin.keras")
