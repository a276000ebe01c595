"""What stops a page that was asked for something it does not understand."""

import re

NAME = re.compile(r"[^=:,\s]*")


class ParameterError(Exception):
    """A parameter that a page does not understand; the answer is a page that names it."""

    @property
    def parameter(self) -> str:
        """The name that the sentence begins with; empty where it begins with none."""
        found = NAME.match(str(self))
        return found[0] if found else ""

    @property
    def expected(self) -> str:
        """What is said to the name, to stand beside its field."""
        return str(self).rpartition(": ")[2]

    @property
    def is_unknown(self) -> bool:
        """The page has no such parameter at all: there is no field to correct."""
        return self.expected.startswith(("expected no parameter", "expected one of the parameters"))
