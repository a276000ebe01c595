"""The error of a decision that cannot be taken, and the one place that contains unexpected errors."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager


class ReviewRefusedError(Exception):
    """The decision is not this reviewer's to take, or not now; pages and commands show the sentence.

    `code` names the reason for scripts; those without a code of their own have "refused".
    """

    def __init__(self, message: str, code: str = "refused") -> None:
        super().__init__(message)
        self.code = code


@contextmanager
def contained(log: logging.Logger, message: str, *values: object) -> Iterator[None]:
    """Log any error of a block with its traceback, and go on after the block.

    For one item of several, whose error must not stop the others, and for the outermost frame of a thread, whose error
    no caller would see. The item stays as it was, and the next round tries it again.
    """
    try:
        yield
    except Exception:
        log.exception(message, *values)
