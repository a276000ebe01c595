"""The commands of a runbook: the code blocks of its numbered steps, in their order."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

FENCE = re.compile(r"^(?P<indent> *)```\n(?P<code>.*?)^ *```$", re.DOTALL | re.MULTILINE)
STEP = re.compile(r"^(?P<number>\d+)\. (?P<title>[^.:,]+)", re.MULTILINE)
SECTION = re.compile(r"^## ", re.MULTILINE)
HEREDOC = re.compile(r"<<'(\w+)'")
CONTINUES = ("\\", "&&", "||", "|")


@dataclass(frozen=True)
class Command:
    """A command with the step to which it belongs. It has several lines if it writes a file."""

    step: int
    title: str
    text: str

    @property
    def line(self) -> str:
        """Return its first line."""
        return self.text.partition("\n")[0]


def code_blocks(text: str) -> list[str]:
    """Return the code blocks of a document without their indentation."""
    return [_without_indent(match) for match in FENCE.finditer(text)]


def split(code: str) -> Iterator[str]:
    """Yield the commands of a code block. A heredoc and a continued line belong to the command before them."""
    lines = iter(code.splitlines())
    for line in lines:
        command = last = line
        while last.endswith(CONTINUES):
            last = next(lines, "")
            command += f"\n{last}"
        if match := HEREDOC.search(command):
            for last in lines:
                command += f"\n{last}"
                if last == match[1]:
                    break
            else:
                raise ValueError(f"{line}: expected a line {match[1]}, found the end of the block")
        if command.strip():
            yield command


def read_commands(path: Path, placeholders: Mapping[str, str]) -> list[Command]:
    """Return the commands of the first section of a runbook. Raises ValueError if a placeholder is nowhere."""
    text = path.read_text()
    if second_section := SECTION.search(text):
        text = text[: second_section.start()]
    steps = list(STEP.finditer(text))
    commands = []
    for fence in FENCE.finditer(text):
        step = [each for each in steps if each.start() < fence.start()][-1]
        code = _without_indent(fence)
        commands += [Command(int(step["number"]), step["title"], command) for command in split(code)]
    for name, value in placeholders.items():
        word = re.compile(rf"\b{name}\b")
        if not any(word.search(each.text) for each in commands):
            raise ValueError(f"{path.name}: expected the placeholder {name} in a command, found none")
        commands = [replace(each, text=word.sub(value.replace("\\", r"\\"), each.text)) for each in commands]
    return commands


def _without_indent(match: re.Match[str]) -> str:
    return "\n".join(line.removeprefix(match["indent"]) for line in match["code"].splitlines())
