"""The structure of the source tree, measured and drawn from the imports.

usage: structure.py [--write]

Prints the measures of each app: flat modules, import cycles, the longest import path, files in a folder. With --write,
also replaces the generated parts of docs/architecture.md. A test checks that the page is up to date.
"""

import argparse
import ast
import statistics
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture.md"
APPS = ("runners", "results", "webapp.register", "webapp")
SOURCE = {".py", ".rs", ".js", ".css", ".html"}
NOT_PRODUCT = {"migrations", "tests", "vendor", "data", "target"}


@dataclass
class ImportGraph:
    """The modules of an app and the modules that each of them imports, without imports for type checking."""

    modules: dict[str, set[str]] = field(default_factory=dict)

    @classmethod
    @cache
    def of_tree(cls, root: Path) -> "ImportGraph":
        """Return the graph of all product modules of a checkout. Packages that only re-export names import nothing."""
        paths = {_module_name(path): root / path for path in tracked_files(root) if _is_module(path)}
        return cls(
            {
                name: set() if path.name == "__init__.py" else imports_of(path, paths.keys()) - {name}
                for name, path in paths.items()
            }
        )

    def inside(self, app: str) -> "ImportGraph":
        """Return the part of the graph whose modules belong to an app."""
        own = {name for name in self.modules if f"{name}.".startswith(f"{app}.")}
        return ImportGraph({name: self.modules[name] & own for name in own})

    def cycles(self) -> list[list[str]]:
        """Return the groups of modules that import each other, each sorted. Source: Tarjan, 1972."""
        return [sorted(group) for group in _components(self.modules) if len(group) > 1]

    def longest_path(self) -> list[str]:
        """Return the longest chain of imports, from the importing module down. Cycles count as one module."""
        longest: dict[str, list[str]] = {}
        for group in _components(self.modules):  # a group comes after every group that it imports
            below = [longest[name] for member in group for name in self.modules[member] if name not in group]
            chain = max(below, key=len, default=[])
            longest.update({member: [member, *chain] for member in group})
        return max(longest.values(), key=len, default=[])

    def packages(self, app: str) -> dict[str, Counter[str]]:
        """Return, for each direct child of an app, how many imports lead to each other child."""
        edges: dict[str, Counter[str]] = defaultdict(Counter)
        for name, imported in self.modules.items():
            source = _child(app, name)
            for target in (_child(app, each) for each in imported):
                if source and target and source != target:
                    edges[source][target] += 1
        return edges


def tracked_files(root: Path) -> list[Path]:
    """Return the files under version control, as paths relative to the root."""
    listing = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True, check=True).stdout
    return [Path(line) for line in listing.splitlines() if (root / line).is_file()]


def flat_modules(root: Path, app: str) -> list[str]:
    """Return the modules directly in the folder of an app, without `__init__`."""
    folder = Path(*app.split("."))
    return sorted(path.stem for path in tracked_files(root) if path.parent == folder and _is_flat_module(path))


def files_in_folders(root: Path) -> dict[str, int]:
    """Return how many product source files each folder has."""
    folders: Counter[str] = Counter()
    for path in tracked_files(root):
        is_product = path.parts[0] in {"runners", "results", "webapp", "static"} and path.suffix in SOURCE
        if is_product and not NOT_PRODUCT & set(path.parts) and path.name != "__init__.py":
            folders[str(path.parent)] += 1
    return dict(folders)


def imports_of(path: Path, modules: Collection[str]) -> set[str]:
    """Return which of some modules a file imports at run time: not for type checking, not relative."""
    found: set[str] = set()
    tree = ast.parse(path.read_text())
    skipped = {
        child for node in ast.walk(tree) if isinstance(node, ast.If) and _is_type_checking(node) for child in node.body
    }
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (names & set(modules)) or {node.module}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found & set(modules)


def measures(root: Path) -> str:
    """Return the table of measures of a checkout in Markdown."""
    graph = ImportGraph.of_tree(root)
    rows = ["| app | flat modules | import cycles | longest import path |", "|---|---|---|---|"]
    for app in APPS:
        part = graph.inside(app)
        flat = len(flat_modules(root, app))
        rows.append(f"| {app} | {flat} | {len(part.cycles())} | {len(part.longest_path())} |")
    counts = files_in_folders(root).values()
    rows += ["", f"Files in one folder: median {statistics.median(counts):g}, maximum {max(counts)}."]
    return "\n".join(rows)


def layers(root: Path) -> str:
    """Return the layers of each container in the import contracts, the highest first, in Markdown."""
    contracts = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    lines: list[str] = []
    for contract in (each for each in contracts if each["type"] == "layers"):
        for container in contract.get("containers", [""]):
            lines += [
                f"### {contract['name']}",
                "",
                "```",
                *(layer.replace("|", " ") for layer in contract["layers"]),
                "```",
                "",
            ]
            exceptions = contract.get("ignore_imports", [])
            lines += [f"Exception: `{exception}`" for exception in exceptions if container or exception]
    return "\n".join(lines).rstrip()


def package_imports(root: Path) -> str:
    """Return which packages of an app import which, as a table in Markdown."""
    graph = ImportGraph.of_tree(root)
    lines: list[str] = []
    for app in APPS[:3]:
        lines += [f"### {app}", "", "| package | imports |", "|---|---|"]
        edges = graph.inside(app).packages(app)
        lines += [f"| {name} | {', '.join(sorted(edges[name]))} |" for name in sorted(edges)]
        lines.append("")
    return "\n".join(lines).rstrip()


def transitions(root: Path) -> str:
    """Return the transitions of a dispatch as a Mermaid state diagram in Markdown."""
    tree = ast.parse((root / "runners/models/states.py").read_text())
    (table,) = (
        node.value
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == "TRANSITIONS"
    )
    if not isinstance(table, ast.Dict):
        raise TypeError("runners/models/states.py: TRANSITIONS is not a dict; update scripts/structure.py")
    lines = ["```mermaid", "stateDiagram-v2", "  [*] --> queued"]
    for key, following in zip(table.keys, table.values, strict=True):
        (state,) = _state_names(key)
        after = sorted(_state_names(following))
        lines += [f"  {state} --> {name}" for name in after] or [f"  {state} --> [*]"]
    return "\n".join([*lines, "```"])


PARTS = {"measures": measures, "layers": layers, "package imports": package_imports, "transitions": transitions}


def render(page: str, root: Path = ROOT) -> str:
    """Return a page with the text between each pair of `<!-- generated: NAME -->` and `<!-- end -->` made again."""
    for name, make in PARTS.items():
        start, end = f"<!-- generated: {name} -->", "<!-- end -->"
        before, found, rest = page.partition(start)
        if not found:
            raise ValueError(f"docs/architecture.md lacks the line {start!r}")
        page = f"{before}{start}\n{make(root)}\n{end}{rest.partition(end)[2]}"
    return page


def main() -> int:
    """Print the measures; with --write, also update the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="replace the generated parts of docs/architecture.md")
    options = parser.parse_args()
    print(measures(ROOT))
    graph = ImportGraph.of_tree(ROOT)
    for app in APPS:
        part = graph.inside(app)
        print(f"\n{app}: longest import path\n  " + " > ".join(part.longest_path()))
        print("".join(f"  cycle: {', '.join(cycle)}\n" for cycle in part.cycles()), end="")
    if options.write:
        PAGE.write_text(render(PAGE.read_text()))
    return 0


def _is_module(path: Path) -> bool:
    return path.suffix == ".py" and path.parts[0] in {"runners", "results", "webapp"} and "migrations" not in path.parts


def _is_flat_module(path: Path) -> bool:
    return path.suffix == ".py" and path.name != "__init__.py"


def _module_name(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def _child(app: str, module: str) -> str:
    return module.removeprefix(f"{app}.").split(".")[0] if module.startswith(f"{app}.") else ""


def _is_type_checking(node: ast.If) -> bool:
    return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _components(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected components, each after all components that it leads to."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        order[name] = low[name] = len(order)
        stack.append(name)
        for following in sorted(graph[name]):
            if following not in order:
                visit(following)
                low[name] = min(low[name], low[following])
            elif following in stack:
                low[name] = min(low[name], order[following])
        if low[name] == order[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            found.append(group)

    for name in sorted(graph):
        if name not in order:
            visit(name)
    return found


def _state_names(node: ast.expr | None) -> list[str]:
    return [] if node is None else [n.attr.lower() for n in ast.walk(node) if isinstance(n, ast.Attribute)]


if __name__ == "__main__":
    sys.exit(main())
