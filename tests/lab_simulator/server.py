"""The simulated lab in a separate process: its hosts survive workers that are killed.

python -m tests.lab_simulator SOCKET --hosts N --speed S [--shared-drives] [--faults '{"seed": 1, ...}']
"""

import argparse
import json
import os
import threading
from multiprocessing.connection import Client, Listener

from runners.errors import HostError, HostUnavailableError
from tests.lab_simulator.clock import RunningClock
from tests.lab_simulator.faults import Faults
from tests.lab_simulator.lab import SimulatedLab

LAB_CALLS = ("truth", "change", "silence", "set_faults", "take_polled_at", "ended_at")
BACKLOG = 256


def serve(lab, path):
    """Answer each connection in a separate thread until the process is killed."""
    listener = Listener(path, "AF_UNIX", backlog=BACKLOG)
    while True:
        threading.Thread(target=_answer_all, args=(lab, listener.accept()), daemon=True).start()


def _answer_all(lab, connection):
    with connection:
        try:
            while True:
                connection.send(_answer(lab, *connection.recv()))
        except (EOFError, OSError):
            return  # the client has ended


def _answer(lab, name, method, arguments, options):
    try:
        if method in LAB_CALLS:
            return True, getattr(lab, method)(*arguments, **options)
        return True, lab.call(name, method, *arguments)
    except (HostError, KeyError) as error:
        return False, error


class LabClient:
    """A client of the lab's process, with one connection per thread and per forked process."""

    def __init__(self, path):
        self.path = str(path)
        self.local = threading.local()

    def __call__(self, name, method, *arguments, **options):
        try:
            connection = self._connection()
            connection.send((name, method, arguments, options))
            is_answer, answer = connection.recv()
        except (EOFError, OSError) as error:
            self.local.owner = None
            raise HostUnavailableError(f"{name}: {method}: no answer: {error}") from error
        if not is_answer:
            raise answer
        return answer

    def _connection(self):
        owner = (os.getpid(), threading.get_ident())
        if getattr(self.local, "owner", None) != owner:
            self.local.connection = Client(self.path, "AF_UNIX")
            self.local.owner = owner
        return self.local.connection


class RemoteHost:
    """A LabHost in the lab's process."""

    def __init__(self, client: LabClient, name: str) -> None:
        self.client, self.name = client, name

    def __getattr__(self, method):
        return lambda *arguments: self.client(self.name, method, *arguments)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("socket")
    arguments.add_argument("--hosts", type=int, required=True)
    arguments.add_argument("--speed", type=float, default=1.0)
    arguments.add_argument("--shared-drives", action="store_true")
    arguments.add_argument("--faults", type=json.loads, default={})
    parsed = arguments.parse_args()
    lab = SimulatedLab(parsed.hosts, RunningClock(parsed.speed), Faults(**parsed.faults), parsed.shared_drives)
    serve(lab, parsed.socket)
