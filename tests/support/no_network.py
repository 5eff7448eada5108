"""No connection leaves this machine: importing this refuses those that are not to loopback, in this process.

`forked.py` has its server import it, so that its processes are refused them, too, and Python's multiprocessing forks
inherit it. What is not refused: connections by compiled code that does not ask Python's sockets, and by programs of
other languages; and fresh interpreters, which import nothing of the tests.
"""

import ipaddress
import os
import socket
from contextlib import contextmanager
from functools import wraps

ALLOWED = False  # while a test with the mark `network` runs


class NetworkRefused(RuntimeError):
    """No OSError: a program that goes on without a network would hide it."""


def is_here(host):
    """Whether a host's name or number is that of this machine's loopback; nothing at all is any of this machine."""
    host = host.decode() if isinstance(host, bytes) else host
    if host in (None, "", "localhost", socket.gethostname()):
        return True
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def refuse(host):
    if not ALLOWED and not is_here(host):
        test = os.environ.get("PYTEST_CURRENT_TEST", "a process of the tests")
        raise NetworkRefused(f"{test} asks for {host}: tests have no network but loopback. Use what is in the cache, "
                             "or give the test the mark `network`")


def guarded(method):
    """A socket's method whose address, if it has a host, has to be here."""
    @wraps(method)
    def checked(self, *arguments):
        if self.family in (socket.AF_INET, socket.AF_INET6):
            refuse(arguments[-1][0])  # of `sendto` the address comes last
        return method(self, *arguments)
    return checked


def guarded_lookup(lookup):
    @wraps(lookup)
    def checked(host, *arguments, **options):
        refuse(host)
        return lookup(host, *arguments, **options)
    return checked


def install():
    for name in ("connect", "connect_ex", "sendto"):
        setattr(socket.socket, name, guarded(getattr(socket.socket, name)))
    for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex"):
        setattr(socket, name, guarded_lookup(getattr(socket, name)))


@contextmanager
def network():
    """Connections are allowed meanwhile."""
    global ALLOWED
    ALLOWED = True
    try:
        yield
    finally:
        ALLOWED = False


if not hasattr(socket.socket.connect, "__wrapped__"):  # a module may be imported under two names
    install()
