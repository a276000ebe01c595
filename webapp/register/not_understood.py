"""What stops a page that was asked for something it does not understand."""


class ParameterError(Exception):
    """A parameter that a page does not understand; the answer is a page that names it."""
