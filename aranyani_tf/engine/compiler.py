"""How this folder's functions are compiled, and where the machine code is kept.

Numba keeps what it has compiled beside the source, or where the user may write, and looks at the date of one file
only. Here every function calls others, so the folder's name carries a digest of all of them: what was compiled from
other sources is never found.
"""

import functools
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import platformdirs
from numba.core import event

# Sums may be reordered and fused. "nnan" and "ninf" are left out: with them an exp that overflows becomes NaN.
FAST = {"reassoc", "contract", "arcp", "nsz"}


def compiled(function: Callable | None = None, **options: Any) -> Any:
    """The function as machine code, without the interpreter's lock, kept from one process to the next.

    What makes such a function fast: arrays are taken out of their tuples before a loop, and not cut inside it (each
    view is counted, with an atomic instruction); an index is a loop's own variable, or unsigned (a signed one is
    asked whether it counts from the end, and the loop is not vectorized); numbers have the arrays' type (a literal
    beside a float32 makes it a float64).
    """
    if function is None:
        return functools.partial(compiled, **options)
    settings: Any = numba.config
    before, settings.CACHE_DIR = settings.CACHE_DIR, str(cache_folder())
    try:
        told: Any = {"nogil": True, "fastmath": FAST, "error_model": "numpy", "cache": True} | options
        return numba.njit(**told)(function)
    finally:
        settings.CACHE_DIR = before


class Announcement(event.Listener):
    """Tells that a function is being compiled, which takes a while, and is not done again."""

    def on_start(self, event: event.Event) -> None:
        function = event.data["dispatcher"].py_func
        if (function.__module__, function.__name__) == ("aranyani_tf.engine.walk", "walk"):
            print("aranyani_tf: compiling the engine for this machine (20 seconds, once) …", file=sys.stderr)

    def on_end(self, event: event.Event) -> None:
        """Nothing to tell."""


event.register("numba:compile", Announcement())


def inner(function: Callable) -> Any:
    """A function that makes no array, for others to call: nobody counts who holds its arguments."""
    return compiled(function, cache=False, forceinline=True, _nrt=False)


def in_order(function: Callable) -> Any:
    """The same, whose sums are added up as they are written: products may be fused with them, no more."""
    return compiled(function, cache=False, forceinline=True, _nrt=False, fastmath={"contract", "nsz"})


@functools.cache
def cache_folder() -> Path:
    """Where machine code is kept: the user's cache, or a temporary folder where that cannot be written."""
    name = f"engine-{digest()}"
    for base in (os.environ.get("NUMBA_CACHE_DIR"), platformdirs.user_cache_dir("aranyani_tf")):
        if base and can_write(Path(base) / name):
            return Path(base) / name
    return own_temporary_folder() / name


def own_temporary_folder() -> Path:
    """One that nobody else can write to, since what lies there is run: kept for the next process where that is sure."""
    if not hasattr(os, "getuid"):
        return Path(tempfile.mkdtemp(prefix="aranyani_tf-"))
    folder = Path(tempfile.gettempdir()) / f"aranyani_tf-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    safe = found.st_uid == os.getuid() and not found.st_mode & 0o077 and not folder.is_symlink()
    return folder if safe else Path(tempfile.mkdtemp(prefix="aranyani_tf-"))


def digest() -> str:
    """Of the sources of this folder, and of what else is compiled into its functions."""
    here = Path(__file__).parent
    sources = [*sorted(here.glob("*.py")), here.parent / "learning" / "losses.py"]
    return hashlib.sha256(b"\0".join(source.read_bytes() for source in sources)).hexdigest()[:16]


def can_write(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)
