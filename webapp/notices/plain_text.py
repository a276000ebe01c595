"""Names and texts of users, made safe for a plain-text mail and its header."""

import unicodedata

NAME_CHARS = 120
QUOTE_LINES = 40


def one_line(text: str, chars: int = NAME_CHARS) -> str:
    r"""Return a text on one line, without control characters, so that it adds no header and no line of its own.

    >>> one_line("EX4\r\nBcc: a@example.org"), one_line("a" * 200)[-3:]
    ('EX4 Bcc: a@example.org', '...')
    """
    line = " ".join(_visible(text).split())
    return line if len(line) <= chars else f"{line[: chars - 3]}..."


def quote(text: str) -> list[str]:
    r"""Return the lines of a text, marked as a quotation, so that they never look like a sentence of the register.

    >>> quote("one\n\ntwo")
    ['> one', '> ', '> two']
    """
    lines = [" ".join(_visible(line).split()) for line in text.strip().splitlines()]
    shown = lines[:QUOTE_LINES] + (["..."] if len(lines) > QUOTE_LINES else [])
    return [f"> {line}" for line in shown]


def _visible(text: str) -> str:
    """Return a text with a blank for each control or format character: some change the direction of the text."""
    return "".join(" " if unicodedata.category(char).startswith("C") else char for char in text)
