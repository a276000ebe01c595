"""Units of systemd as their files define them, and the order in which they start."""

import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

FOLDERS = ("etc/systemd/system", "run/systemd/system", "run/systemd/generator", "usr/lib/systemd/system")
# Directories below the state, cache, log and run directories of the machine.
DIRECTORIES = {
    "StateDirectory": "/var/lib", "CacheDirectory": "/var/cache", "LogsDirectory": "/var/log",
    "RuntimeDirectory": "/run", "ConfigurationDirectory": "/etc",
}  # fmt: skip
APPLIED = {
    "Type", "RemainAfterExit", "User", "Group", "SupplementaryGroups", "WorkingDirectory", "Environment",
    "EnvironmentFile", "ExecStartPre", "ExecStart", "ExecStartPost", "ExecReload", "ExecStop", "PIDFile", "Restart",
    "RestartSec", "RestartPreventExitStatus", "TimeoutStartSec", "TimeoutStopSec", "KillMode", "KillSignal", "UMask",
    "LimitNOFILE", "NoNewPrivileges", "CapabilityBoundingSet", "AmbientCapabilities", "SuccessExitStatus",
    *DIRECTORIES, *(f"{name}Mode" for name in DIRECTORIES),
}  # fmt: skip
PREFIXES = "-@:+!"
VARIABLE = re.compile(r"\$\{(\w+)\}|\$\$")


class UnitError(Exception):
    """A unit that does not exist or cannot be started."""


class Unit:
    """A unit as its file and drop-ins define it."""

    def __init__(self, name: str, root: Path = Path("/")) -> None:
        self.name, self.root = name, root
        stem, _, self.kind = name.rpartition(".")
        prefix, is_instance, self.instance = stem.partition("@")
        self.template = f"{prefix}@.{self.kind}" if is_instance else ""
        self.prefix = prefix
        self.values: dict[str, dict[str, list[str]]] = {}
        path = find(name, root) or (find(self.template, root) if self.template else None)
        if path is None:
            raise UnitError(f"Unit {name} not found.")
        self.path = path
        for each in [path, *self._drop_ins()]:
            self._read(each.read_text())

    def all(self, key: str, section: str = "Service") -> list[str]:
        """Return the values of a directive in their order."""
        return [self._specified(value) for value in self.values.get(section, {}).get(key, [])]

    def one(self, key: str, default: str = "", section: str = "Service") -> str:
        """Return the last value of a directive."""
        return (self.all(key, section) or [default])[-1]

    def names(self, key: str, section: str = "Unit") -> list[str]:
        """Return the units that a directive lists. Folders `.wants` and `.requires` add to `Wants` and `Requires`."""
        found = [name for value in self.all(key, section) for name in value.split()]
        if key in {"Wants", "Requires"} and section == "Unit":
            for folder in FOLDERS:
                found += sorted(path.name for path in (self.root / folder / f"{self.name}.{key.lower()}").glob("*"))
        return found

    def unapplied(self) -> set[str]:
        """Return the directives that the stand-in does not apply."""
        return set(self.values.get("Service", {})) - APPLIED

    def _drop_ins(self) -> Iterator[Path]:
        for name in filter(None, (self.template, self.name)):
            for folder in FOLDERS:
                yield from sorted((self.root / folder / f"{name}.d").glob("*.conf"))

    def _read(self, text: str) -> None:
        section: dict[str, list[str]] = {}
        for line in map(str.strip, text.replace("\\\n", " ").splitlines()):
            if line.startswith("["):
                section = self.values.setdefault(line.strip("[]"), {})
            elif line and not line.startswith(("#", ";")):
                key, _, value = (part.strip() for part in line.partition("="))
                if value:
                    section.setdefault(key, []).append(value)
                else:
                    section[key] = []  # an empty value resets a list

    def _specified(self, value: str) -> str:
        known = {
            "i": self.instance, "I": self.instance.replace("-", "/"), "n": self.name, "p": self.prefix,
            "N": self.name.rpartition(".")[0], "t": "/run", "S": "/var/lib", "C": "/var/cache", "L": "/var/log",
            "h": "/root", "%": "%",
        }  # fmt: skip
        return re.sub(r"%(.)", lambda match: known.get(match[1], match[0]), value)


def find(name: str, root: Path) -> Path | None:
    """Return the file of a unit in the first folder that has it. Aliases are links."""
    for folder in FOLDERS:
        path = root / folder / name
        if path.is_symlink() and path.readlink() == Path("/dev/null"):
            raise UnitError(f"Unit {name} is masked.")
        if path.is_symlink():
            target = path.readlink()
            path = root / target.relative_to("/") if target.is_absolute() else path.parent / target
        if path.is_file():
            return path
    return None


def started_with(names: Iterable[str], load: Callable[[str], Unit]) -> list[str]:
    """Return units and the units that they require or want, each after the units that it is ordered after."""
    units: dict[str, Unit] = {}
    waiting = [(name, True) for name in names]
    while waiting:
        each, is_required = waiting.pop()
        if each in units:
            continue
        try:
            units[each] = load(each)
        except UnitError:
            if is_required:
                raise
            continue
        waiting += [(required, True) for required in units[each].names("Requires")]
        waiting += [(wanted, False) for wanted in units[each].names("Wants")]
    return ordered(units)


def ordered(units: dict[str, Unit]) -> list[str]:
    """Return the names of units so that After and Before hold. A target starts after the units that it wants."""
    before: dict[str, set[str]] = {name: set() for name in units}
    for name, unit in units.items():
        before[name] |= set(unit.names("After")) & units.keys()
        if unit.kind == "target":
            before[name] |= {
                each for each in (*unit.names("Wants"), *unit.names("Requires"))
                if each in units and name not in units[each].names("After")
            }  # fmt: skip
        for later in set(unit.names("Before")) & units.keys():
            before[later].add(name)
    result: list[str] = []

    def add(name: str, path: tuple[str, ...]) -> None:
        if name in result or name in path:
            return
        for each in sorted(before[name]):
            add(each, (*path, name))
        result.append(name)

    for name in units:
        add(name, ())
    return result


def environment_file(text: str) -> dict[str, str]:
    """Return the variables of an EnvironmentFile: lines NAME=value, with or without quotes."""
    found = {}
    for line in text.replace("\\\n", "").splitlines():
        name, separator, value = line.strip().partition("=")
        if separator and not name.startswith(("#", ";")):
            found[name.strip()] = "".join(shlex.split(value, posix=True)) if value[:1] in "\"'" else value.strip()
    return found


def arguments(line: str, variables: dict[str, str]) -> tuple[str, list[str]]:
    """Return the prefixes and the words of an ExecStart line. `$NAME` alone becomes several words."""
    prefix = line[: len(line) - len(line.lstrip(PREFIXES))]
    words = []
    for word in shlex.split(line[len(prefix) :]):
        if match := re.fullmatch(r"\$(\w+)", word):
            words += variables.get(match[1], "").split()
        else:
            words.append(VARIABLE.sub(lambda match: variables.get(match[1], "") if match[1] else "$", word))
    return prefix, words


def seconds(value: str, default: float) -> float:
    """Return a time such as `75`, `1min 30s` or `infinity` in seconds."""
    if not value:
        return default
    if value == "infinity":
        return float("inf")
    units = {"": 1, "s": 1, "sec": 1, "ms": 0.001, "m": 60, "min": 60, "h": 3600}
    return sum(float(number) * units[unit] for number, unit in re.findall(r"([\d.]+) ?([a-z]*)", value))


def is_true(value: str) -> bool:
    """Return whether a value is one of systemd's words for true."""
    return value.lower() in {"yes", "true", "on", "1"}


def timeout(value: str, default: float) -> float:
    """Return a time limit in seconds. 0 is none."""
    return seconds(value, default) or float("inf")
