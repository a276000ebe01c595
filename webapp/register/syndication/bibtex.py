"""A citation as BibTeX, whatever letters a maker puts into a name."""

from collections.abc import Mapping

# What TeX takes for orders of its own. A brace or a backslash of a name would end the entry or begin a command.
ESCAPES = str.maketrans({
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "%": r"\%", "&": r"\&", "$": r"\$", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\N{NO-BREAK SPACE}": " ",
})  # fmt: skip
KEPT_AS_IS = frozenset({"url"})


def bibtex_entry(key: str, fields: Mapping[str, str]) -> str:
    r"""Return an entry of kind misc.

    >>> print(bibtex_entry("r-1", {"title": "A_B {50 %}", "url": "https://x/a_b"}))
    @misc{drivecert-r-1,
      title = {{A\_B \{50 \%\}}},
      url = {https://x/a_b}
    }
    """
    lines = [f"  {name} = {{{_text(name, text)}}}" for name, text in fields.items()]
    return f"@misc{{drivecert-{key},\n" + ",\n".join(lines) + "\n}"


def _text(name: str, text: str) -> str:
    if name in KEPT_AS_IS:
        return text
    escaped = text.translate(ESCAPES)
    return f"{{{escaped}}}" if name == "title" else escaped  # in braces of its own a title keeps its capitals
