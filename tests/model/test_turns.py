"""Readers together, a writer alone."""

import threading
import time
from contextlib import contextmanager

import pytest

from aranyani_tf.model.turns import Turns


def wait_until(condition, seconds=5.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


@contextmanager
def reading(turns):
    """As a thread that asks for the first time does."""
    lock = turns.new_reader()
    turns.give_way()
    with lock:
        yield


def test_a_writer_that_waits_goes_before_readers_that_come_later():
    turns, order = Turns(), []
    leave = threading.Event()

    def read(name, wait=None):
        with reading(turns):
            order.append(name)
            if wait is not None:
                wait.wait(5)

    def write():
        with turns.writing:
            order.append("writer")

    first = threading.Thread(target=read, args=("early", leave))
    first.start()
    wait_until(lambda: order == ["early"])
    writer = threading.Thread(target=write)
    writer.start()
    wait_until(turns.door.locked)
    late = [threading.Thread(target=read, args=("late",)) for _ in range(3)]
    for thread in late:
        thread.start()
    time.sleep(0.05)
    assert order == ["early"]  # the late ones would have come in beside the early one
    leave.set()
    for thread in (first, writer, *late):
        thread.join(5)
    assert order == ["early", "writer", "late", "late", "late"]


def test_readers_are_there_together_and_a_writer_is_alone():
    turns, together = Turns(), threading.Barrier(3, timeout=5)
    threads = []

    def read():
        with reading(turns):
            together.wait()  # breaks unless all three are in

    for _ in range(3):
        threads.append(threading.Thread(target=read))
        threads[-1].start()
    for thread in threads:
        thread.join(5)
    assert not together.broken
    came, known, again = (threading.Event() for _ in range(3))

    def read_again():
        lock = turns.new_reader()
        known.set()
        again.wait(5)
        with lock:
            came.set()

    reader = threading.Thread(target=read_again)
    reader.start()
    assert known.wait(5)
    with turns.writing, turns.writing:  # once more inside
        assert len(turns.writing.held) == 1  # of threads that have ended nothing is left
        new = threading.Thread(target=lambda: [came.set() for _ in [0] if turns.new_reader()])
        new.start()
        again.set()
        assert not came.wait(0.05)  # neither one that is known nor one that is new
    assert came.wait(5)
    for thread in (reader, new):
        thread.join(5)


def test_a_reader_that_comes_again_and_again_does_not_hold_up_a_writer():
    turns, done, own = Turns(), threading.Event(), threading.local()

    def read():
        own.lock = turns.new_reader()
        while not done.is_set():
            turns.give_way()
            with own.lock:
                time.sleep(0.001)  # without the interpreter's lock, as the engine

    readers = [threading.Thread(target=read) for _ in range(2)]
    for thread in readers:
        thread.start()
    wait_until(lambda: len(turns.readers) == 2)
    begin = time.perf_counter()
    for _ in range(20):
        with turns.writing:
            pass
    assert time.perf_counter() - begin < 5
    done.set()
    for thread in readers:
        thread.join(5)


def test_a_writer_whose_block_fails_lets_others_in():
    turns = Turns()
    with pytest.raises(KeyError), turns.writing:
        raise KeyError
    with pytest.raises(KeyError), reading(turns):
        raise KeyError
    thread = threading.Thread(target=lambda: turns.writing.__enter__(), daemon=True)
    thread.start()
    thread.join(5)
    assert not thread.is_alive()
