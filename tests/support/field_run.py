"""A tiny field of two methods, for a process that is killed (see `forked`)."""

import multiprocessing
from unittest import mock

import field
from harness.field_streams import FieldStream

STREAMS = (FieldStream("Synthetic", "synthetic", "released"),)
METHODS = ["ht", "thresholds_ht", "constant"]


def runs():
    return field.plan(field.TINY, METHODS, STREAMS)[0]


def run(folder):
    """By a worker that is forked too, and so finds everything imported."""
    fork = multiprocessing.get_context("fork")
    with mock.patch.object(multiprocessing, "get_context", return_value=fork), \
            mock.patch.object(field, "chosen", return_value=STREAMS):
        field.make(field.TINY, folder, methods=METHODS, datasets=["synthetic"], progress=False)
