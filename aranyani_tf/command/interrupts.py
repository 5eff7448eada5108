"""Ctrl-C at a good moment: at once while rows are waited for, else after the piece that is being learned."""

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Self, TypeVar

Answer = TypeVar("Answer")
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Takes note of Ctrl-C and of requests to end, while it is entered; `number` is the signal's, or None."""

    def __init__(self) -> None:
        self.number: int | None = None
        self.is_waiting = False
        self.before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():  # the only one that may
            self.before = {each: signal.signal(each, self.take) for each in SIGNALS}
        return self

    def __exit__(self, *problem: object) -> None:
        for each, handler in self.before.items():
            signal.signal(each, handler)

    def take(self, number: int, frame: FrameType | None) -> None:
        self.number = number
        if self.is_waiting:
            raise KeyboardInterrupt

    def wait_for(self, function: Callable[[], Answer]) -> Answer | None:
        """What the function gives, which changes nothing; None if it was interrupted, then or before."""
        if self.number is not None:
            return None
        self.is_waiting = True
        try:
            return function()
        except KeyboardInterrupt:
            if self.number is None:  # of whoever handles signals in our place
                raise
            return None
        finally:
            self.is_waiting = False
