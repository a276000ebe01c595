"""What stops the register from starting; the text is for the operator and names the remedy."""


class CannotStartError(Exception):
    """Something on this machine has to be put right first."""


class StopRequestedError(Exception):
    """TERM, Ctrl-C or a closed terminal: raised in the main thread wherever it stands."""
