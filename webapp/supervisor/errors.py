"""Errors that end a start or a run of the supervisor. Each message is for the operator and names the remedy."""


class CannotStartError(Exception):
    """The register cannot start until the operator fixes the problem on this machine."""


class StopRequestedError(Exception):
    """TERM, Ctrl-C or a closed terminal: raised in the main thread, at any instruction."""
