"""Readers together, a writer alone: who may touch a live session's state at the same time."""

import threading


class Turns:
    """`with turns.reading:` waits for a writer only, `with turns.writing:` for everybody.

    A writer that waits goes before readers that come after it, so that many predictions cannot hold up learning. A
    thread that writes may write again inside.

    >>> turns = Turns()
    >>> with turns.reading, turns.reading:
    ...     turns.num_readers
    2
    """

    def __init__(self) -> None:
        self.reading, self.writing = Reading(self), Writing(self)
        self.door, self.counting, self.room = threading.Lock(), threading.Lock(), threading.Lock()
        self.num_readers = 0
        self.writer, self.depth = 0, 0  # the thread that writes, and how often it has entered


class Reading:
    """The readers' side. The first one takes the room, the last one leaves it."""

    def __init__(self, turns: Turns) -> None:
        self.turns = turns

    def __enter__(self) -> None:
        turns = self.turns
        with turns.door, turns.counting:
            turns.num_readers += 1
            if turns.num_readers == 1:
                turns.room.acquire()

    def __exit__(self, *problem: object) -> None:
        turns = self.turns
        with turns.counting:
            turns.num_readers -= 1
            if turns.num_readers == 0:
                turns.room.release()


class Writing:
    """The writers' side."""

    def __init__(self, turns: Turns) -> None:
        self.turns = turns

    def __enter__(self) -> None:
        turns, me = self.turns, threading.get_ident()
        if turns.writer != me:
            with turns.door:  # nobody comes in any more
                turns.room.acquire()
            turns.writer = me
        turns.depth += 1

    def __exit__(self, *problem: object) -> None:
        turns = self.turns
        turns.depth -= 1
        if turns.depth == 0:
            turns.writer = 0
            turns.room.release()
