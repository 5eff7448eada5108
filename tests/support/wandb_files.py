"""Reads what W&B wrote offline: a LevelDB log of protobuf records (a private format; for tests only)."""

import json
import struct
import time
from pathlib import Path

from wandb.proto import wandb_internal_pb2

BLOCK, HEADER, FILE_HEADER = 32_768, 7, 7
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4


def records(path, seconds=20):
    """The records of a .wandb file, in their order; W&B's own process may still be writing it."""
    end = time.time() + seconds
    while not (found := list(parsed(Path(path).read_bytes()))) or found[-1].WhichOneof("record_type") != "exit":
        assert time.time() < end, f"{path} has no end"
        time.sleep(0.1)
    return found


def parsed(content):
    position, parts = FILE_HEADER, []
    while position + HEADER <= len(content):
        if BLOCK - position % BLOCK < HEADER:  # the rest of a block that is too short for a header
            position += BLOCK - position % BLOCK
            continue
        _, length, kind = struct.unpack("<IHB", content[position : position + HEADER])
        if position + HEADER + length > len(content):  # half a record
            return
        parts.append(content[position + HEADER : position + HEADER + length])
        position += HEADER + length
        if kind in (FULL, LAST):
            record = wandb_internal_pb2.Record()
            record.ParseFromString(b"".join(parts))
            parts = []
            yield record


def history(path):
    """What was logged, one dict for each call."""
    for record in records(path):
        if record.WhichOneof("record_type") == "history":
            yield {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in record.history.item}


def config(path):
    """The run's settings."""
    found = {}
    for record in records(path):
        if record.WhichOneof("record_type") == "run":
            found |= {item.key: json.loads(item.value_json) for item in record.run.config.update}
    return found


def run(path):
    """The record of the run itself: `display_name`, `run_group` and so on."""
    return next(record.run for record in records(path) if record.WhichOneof("record_type") == "run")
