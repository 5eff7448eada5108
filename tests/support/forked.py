"""Processes that find TensorFlow imported: as `subprocess.run`, less the seconds that each would spend on that alone.

A server imports the package, does nothing else, and every process is forked from it, so that all begin as a fresh
interpreter after `import aranyani_tf` does, but without a network (`no_network.py`). What a process says while it
imports is for `subprocess` to test.
"""

import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
from multiprocessing import forkserver
from pathlib import Path
from unittest import mock


def context():
    """Of multiprocessing, with the server running."""
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(["aranyani_tf", "no_network"])
    with mock.patch.dict(os.environ, PYTHONPATH=os.pathsep.join(map(str, sys.path))):  # where the server will look
        forkserver.ensure_running()
    return found


def start(function, *arguments):
    """A process that calls a function; it may be killed."""
    process = context().Process(target=function, args=arguments)
    process.start()
    return process


def python(*command, cwd=None, env=None, as_tests=False):
    """As `python FILE ARGUMENTS` or `python -c PROGRAM ARGUMENTS`: a CompletedProcess with what it said, as text.

    `as_tests`: models are compiled as tests/conftest.py has it, and its own workers are forked, too.
    """
    with tempfile.TemporaryDirectory() as folder:
        said = [Path(folder) / name for name in ("stdout", "stderr")]
        process = start(become, [str(each) for each in command], str(cwd or Path.cwd()), dict(env or os.environ), said,
                        as_tests)
        process.join()
        return subprocess.CompletedProcess(command, process.exitcode,
                                           *(path.read_text(encoding="utf-8") for path in said))


class Background:
    """As `subprocess.Popen` of `python FILE ARGUMENTS`, forked; what it says is not kept."""

    def __init__(self, *command, env=None):
        self.process = start(become, [str(each) for each in command], str(Path.cwd()), dict(env or os.environ),
                             [os.devnull, os.devnull], False)
        self.pid = self.process.pid

    def poll(self):
        return self.process.exitcode

    def send_signal(self, how):
        os.kill(self.pid, how)

    def wait(self):
        self.process.join()
        return self.process.exitcode


def compile_as_tests_do():
    """Without XLA, and graphs run as they are: the same numbers but for rounding, much sooner ready."""
    import tensorflow as tf

    from aranyani_tf import Aranyani

    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    Aranyani.compile.__kwdefaults__["jit_compile"] = False


def become(command, cwd, environment, said, as_tests):
    """What such a process does."""
    for stream, path in zip((sys.stdout, sys.stderr), said, strict=True):
        with open(path, "wb") as file:
            os.dup2(file.fileno(), stream.fileno())
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    if as_tests:
        compile_as_tests_do()
        fork = multiprocessing.get_context("fork")
        multiprocessing.get_context = lambda method=None: fork
    if command[0] == "-c":
        sys.argv = ["-c", *command[2:]]
        exec(compile(command[1], "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.argv = command
        sys.path.insert(0, str(Path(command[0]).parent))
        runpy.run_path(command[0], run_name="__main__")
