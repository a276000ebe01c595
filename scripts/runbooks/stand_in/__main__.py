"""The command: the manager, or systemctl."""

import sys

from .manager import ask, manage

if sys.argv[1:] == ["manager"]:
    manage()
sys.exit(ask(sys.argv[1:]))
