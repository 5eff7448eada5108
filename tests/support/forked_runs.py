"""Runs of W&B agents without the seconds that importing TensorFlow takes each of them.

An agent starts `python tests/support/forked_runs.py SOCKET SCRIPT ARGUMENTS`, which imports nothing heavy: it asks a
process that has imported the package to fork, and ends as the fork ends. If it is killed, so is the fork.
"""

import json
import os
import signal
import socket
import sys
import threading


def serve(path):
    """Forks a process for everyone who asks, for ever; `forked.start(serve, path)` runs it."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        while True:
            link, _ = server.accept()
            if os.fork() == 0:
                run(link)
            link.close()


def run(link):
    import forked

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    asked = json.loads(link.makefile().readline())

    def watch():
        link.recv(1)  # says nothing more, and ends when the other side does
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()
    code = 1
    try:
        forked.become(**asked, said=[os.devnull, os.devnull], as_tests=False)
        code = 0
    finally:
        link.sendall(bytes([code]))
        os._exit(code)


def main():
    path, *command = sys.argv[1:]
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(path)
        asked = {"command": command, "cwd": os.getcwd(), "environment": dict(os.environ)}
        link.sendall(json.dumps(asked).encode() + b"\n")
        sys.exit(ord(link.recv(1) or b"\x01"))


if __name__ == "__main__":
    main()
