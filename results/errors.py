"""The one error of a decision that cannot be taken: pages and commands show its sentence."""


class ReviewRefusedError(Exception):
    """The decision is not this reviewer's to take, or not now; the sentence says why."""
