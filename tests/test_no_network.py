"""What tests may not reach, and that figures that fetch data say so."""

import re
import socket
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import forked
import no_network
from fetched import NAMES

ROOT = Path(__file__).parents[1]
ELSEWHERE = "192.0.2.1"  # an address that RFC 5737 keeps for examples: nobody has it
PROGRAM = f"import socket; socket.create_connection(('{ELSEWHERE}', 80), timeout=1)"


@pytest.mark.parametrize("reach", [
    lambda: socket.create_connection((ELSEWHERE, 80), timeout=1),
    lambda: socket.socket().connect_ex((ELSEWHERE, 80)),
    lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"", (ELSEWHERE, 80)),
    lambda: socket.getaddrinfo("example.invalid", 80)])
def test_other_machines_are_refused(reach):
    with pytest.raises(no_network.NetworkRefused, match=r"test_no_network.*tests have no network"):
        reach()


def test_loopback_is_allowed():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()[:2]) as ours:
        ours.sendall(b"here")
        assert server.accept()[0].recv(4) == b"here"


def test_processes_of_tests_are_refused_them_too():
    result = forked.python("-c", PROGRAM)
    assert result.returncode and "NetworkRefused" in result.stderr


@pytest.mark.network
def test_the_mark_allows_it():
    with pytest.raises(OSError, match=r"time|unreach|refused|route"):  # it is tried, and nobody is there
        socket.create_connection((ELSEWHERE, 80), timeout=0.05)


def test_what_fetches_is_listed():
    """By the committed tables: which datasets their runs had."""
    text = (ROOT / "data" / "README.md").read_text(encoding="utf-8")
    listed = {name: set(re.findall(r"`(\w+)`", fetches)) for names, fetches in re.findall(
        r"^\| (`make .*?) \| (.*?) \|$", text, re.MULTILINE) for name in re.findall(r"`make (\w+)`", names)}
    assert len(listed) > 8
    for path in sorted((ROOT / "results").glob("*.csv")):
        datasets = set(pd.read_csv(path, usecols=lambda column: column == "dataset").get("dataset", ()))
        if path.stem != "field_runs":  # the runs behind field.csv
            assert datasets & set(NAMES) == listed.get(path.stem, set()) & set(NAMES), path.name


def test_packages_are_whole_and_fit_together():
    result = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout
