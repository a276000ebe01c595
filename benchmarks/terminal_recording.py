"""Record what a command shows at a terminal, as text: the screen at intervals, and the whole output at the end.

usage: terminal_recording.py [--every SECONDS] [--columns N] COMMAND [ARGUMENT ...]

    $ terminal_recording.py --every 20 drivetest storage load.conf --log load.log
"""

import argparse
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

ROWS = 500
# The sequences that drivetest writes: cursor up and down, clear the line, and colours, which are left out.
SEQUENCE = re.compile(r"\x1b\[([\d;]*)([ABKm])|([\r\n])|([^\x1b\r\n])")


class Screen:
    r"""The rows of a terminal that wraps long lines.

    >>> screen = Screen(columns=4)
    >>> screen.write("abcdef\r\n")
    >>> screen.write("12\x1b[1A\r\x1b[2Kxy")
    >>> screen.text()
    'abcd\nxy\n12'
    >>> coloured = Screen(columns=4)
    >>> coloured.write("\x1b[1;31mover\x1b[0m")
    >>> coloured.text()
    'over'
    """

    def __init__(self, columns: int) -> None:
        """Begin with one empty row."""
        self.columns = columns
        self.rows: list[list[str]] = [[]]
        self.row = self.column = 0

    def write(self, text: str) -> None:
        """Write text with its escape sequences."""
        for number, sequence, line_end, letter in SEQUENCE.findall(text):
            if letter:
                self._put(letter)
            elif line_end == "\r":
                self.column = 0
            elif line_end == "\n" or sequence == "B":
                self._move(int(number or 1))
            elif sequence == "A":
                self._move(-int(number or 1))
            elif sequence == "K":
                self.rows[self.row] = []

    def text(self) -> str:
        """Return the rows without blanks at their ends, and without empty rows at the end."""
        return "\n".join("".join(row).rstrip() for row in self.rows).rstrip()

    def _put(self, letter: str) -> None:
        if self.column == self.columns:
            self._move(1)
            self.column = 0
        row = self.rows[self.row]
        row.extend(" " * (self.column + 1 - len(row)))
        row[self.column] = letter
        self.column += 1

    def _move(self, rows: int) -> None:
        self.row = max(0, self.row + rows)
        while len(self.rows) <= self.row:
            self.rows.append([])


def record(command: list[str], columns: int, every_s: float) -> int:
    """Run a command at a terminal, print its screen at intervals and at the end, and return its exit status."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm"}
    program = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    screen, start, shown = Screen(columns), time.monotonic(), 0.0
    while True:
        is_ready = select.select([master], [], [], 0.1)[0]
        try:
            output = os.read(master, 65536) if is_ready else None
        except OSError:  # the program has closed the terminal
            break
        if output == b"":
            break
        screen.write((output or b"").decode(errors="replace"))
        elapsed = time.monotonic() - start
        if elapsed - shown >= every_s:
            shown = elapsed
            print(f"--- after {elapsed:.0f} s\n{screen.text()}")
    status = program.wait()
    print(f"--- after {time.monotonic() - start:.0f} s, exit status {status}\n{screen.text()}")
    return status


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=float, default=20, metavar="SECONDS")
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    sys.exit(record(options.command, options.columns, options.every))
