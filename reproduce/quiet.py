"""Imports TensorFlow without its chatter about drivers and instructions; every script imports this first.

TensorFlow says some of it before it reads TF_CPP_MIN_LOG_LEVEL, so that level alone does not silence it. If the
import fails, everything is shown; with TF_CPP_MIN_LOG_LEVEL=0 in the environment too.

    python reproduce/quiet.py MODULE ARGUMENTS      # python -m MODULE ARGUMENTS, likewise
"""

import importlib
import logging
import os
import runpy
import sys
import tempfile


def import_quietly(name):
    """Imports a module; what is written to stderr meanwhile, by C++ too, is shown only if that fails."""
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as said:
        os.dup2(said.fileno(), 2)
        try:
            importlib.import_module(name)
        except BaseException:
            said.seek(0)
            os.write(kept, said.read())
            raise
        finally:
            os.dup2(kept, 2)
            os.close(kept)


os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
if os.environ["TF_CPP_MIN_LOG_LEVEL"] != "0":
    import_quietly("tensorflow")
    logging.getLogger("tensorflow").setLevel(logging.ERROR)  # a grid compiles for many shapes, and is meant to

if __name__ == "__main__":
    del sys.argv[0]
    sys.path[0] = ""  # as `python -m` has it
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
