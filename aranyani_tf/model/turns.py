"""Readers together, a writer alone: who may touch a live session's state at the same time."""

import threading
import weakref


class Turns:
    """A thread that reads has a lock of its own, which nobody else asks for but a writer: a writer takes them all.

    So reading costs one lock that is free, as good as always. `with turns.writing:` waits for everybody; a thread that
    writes may write again inside. A reader calls `give_way` before it takes its lock, so that readers who come again
    and again cannot hold up a writer.

    >>> turns = Turns()
    >>> own = turns.new_reader()  # once for each thread
    >>> turns.give_way()
    >>> with own:
    ...     pass  # reads
    >>> with turns.writing, turns.writing:
    ...     own.locked(), turns.depth
    (True, 2)
    >>> own.locked()
    False
    """

    def __init__(self) -> None:
        self.writing, self.wanted = Writing(self), False
        self.door = threading.Lock()  # of who writes; new readers come in by it, too
        self.readers: list[weakref.ref[threading.Lock]] = []  # whose threads may have ended
        self.writer, self.depth = 0, 0  # the thread that writes, and how often it has entered

    def new_reader(self) -> threading.Lock:
        """A lock for this thread, as long as the thread keeps it."""
        lock = threading.Lock()
        with self.door:
            self.readers = [known for known in self.readers if known() is not None] + [weakref.ref(lock)]
        return lock

    def give_way(self) -> None:
        """Lets a writer go first who waits or writes."""
        if self.wanted:
            with self.door:
                pass


class Writing:
    """The writers' side."""

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.held: list[threading.Lock] = []

    def __enter__(self) -> None:
        turns, me = self.turns, threading.get_ident()
        if turns.writer != me:
            turns.door.acquire()
            turns.wanted = True
            self.held = [lock for known in turns.readers if (lock := known()) is not None]
            for lock in self.held:
                lock.acquire()
            turns.writer = me
        turns.depth += 1

    def __exit__(self, *problem: object) -> None:
        turns = self.turns
        turns.depth -= 1
        if turns.depth == 0:
            held, self.held = self.held, []
            turns.writer, turns.wanted = 0, False
            for lock in held:
                lock.release()
            turns.door.release()
