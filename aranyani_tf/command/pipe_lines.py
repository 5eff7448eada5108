"""Lines as they come through a pipe."""

import codecs
import select
from collections import deque
from typing import IO, Any, Self

# What is no UTF-8 is kept as it is, and its rows told later; a mark at the beginning belongs to no name.
ENCODING: dict[str, Any] = {"encoding": "utf-8-sig", "errors": "surrogateescape"}
PATIENCE = 0.2  # seconds without a line after which those that are there are taken


class PipeLines:
    """Iterates over lines, and knows whether the next one has to be waited for.

    Args:
        raw: the pipe, `sys.stdin.buffer`. It is not closed.
    """

    def __init__(self, raw: IO[bytes]) -> None:
        self.raw: Any = raw
        self.decoder = codecs.getincrementaldecoder(ENCODING["encoding"])(ENCODING["errors"])
        self.lines: deque[str] = deque()
        self.rest, self.is_over = "", False

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        while not self.lines and not self.is_over:
            self.take()
        if not self.lines:
            raise StopIteration
        return self.lines.popleft()

    def take(self) -> None:
        """What is there, or what comes next."""
        found = self.raw.read1(65_536)
        *lines, self.rest = (self.rest + self.decoder.decode(found, final=not found)).split("\n")
        self.lines.extend(f"{line}\n" for line in lines)
        if not found:
            self.is_over = True
            self.lines.extend([self.rest] if self.rest else [])

    def is_idle(self) -> bool:
        """Whether no line is there, and none comes for a moment."""
        if self.lines or self.is_over:
            return False
        try:
            return not select.select([self.raw.fileno()], [], [], PATIENCE)[0]
        except (OSError, ValueError):  # no pipe at all, or one that cannot be asked
            return False
