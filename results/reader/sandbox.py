"""Run a program under limits: sandbox.py PARENT_PID MEMORY_BYTES OUTPUT_BYTES CPU_S PROGRAM [ARGUMENT...].

A script of its own, so that nothing of the register runs between fork and exec: a process with threads may not do that
safely. It sets what the program inherits and then becomes the program.
"""

import ctypes
import os
import resource
import signal
import sys

PR_SET_PDEATHSIG = 1  # linux/prctl.h
CANNOT_CONFINE = 125


def confine(parent_pid: int, memory_bytes: int, output_bytes: int, cpu_s: int) -> None:
    """Limit this process, and end it with the thread that started it."""
    if ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0 or os.getppid() != parent_pid:
        sys.exit(CANNOT_CONFINE)  # the parent died before the line above could tie us to it
    limits = {
        resource.RLIMIT_AS: (memory_bytes, memory_bytes),
        resource.RLIMIT_FSIZE: (output_bytes, output_bytes),
        # The kernel sends SIGXCPU at the first and SIGKILL at the second. If both are equal, it sends only SIGKILL, and
        # the parent cannot tell the reason.
        resource.RLIMIT_CPU: (cpu_s, cpu_s + 1),
        resource.RLIMIT_CORE: (0, 0),
    }
    for limit, values in limits.items():
        resource.setrlimit(limit, values)
    # Python ignores both, and ignored signals survive exec: the limits would become errors that a program may overlook.
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)


if __name__ == "__main__":
    confine(*(int(argument) for argument in sys.argv[1:5]))
    os.execv(sys.argv[5], sys.argv[5:])  # noqa: S606 - an argument list, no shell
