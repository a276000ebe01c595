"""Plotly's own JavaScript bundle, served from the installed package: 4.8 MB that need not be in the repository."""

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.exceptions import ImproperlyConfigured
from django.core.files.storage import FileSystemStorage

PREFIX = "plotly"
BUNDLE = "plotly.min.js"


def package_directory() -> Path:
    """Return the directory that the package keeps its bundle in, without importing the package (half a second)."""
    spec = find_spec("plotly")
    if spec is None or spec.origin is None:
        raise ImproperlyConfigured("plotly: expected the package of requirements.txt, got none; install it")
    return Path(spec.origin).parent / "package_data"


class PackageStorage(FileSystemStorage):
    """The package's directory; `prefix` is where its files stand among the static ones."""

    prefix = PREFIX


class PlotlyFinder(BaseFinder):
    """Find static/plotly/plotly.min.js, and nothing else of the package."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.storage = PackageStorage(location=package_directory())
        super().__init__(*args, **kwargs)

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        """Return the bundle's place for its static path."""
        places = [self.storage.path(BUNDLE)] if path == f"{PREFIX}/{BUNDLE}" else []
        return places if find_all or not places else places[0]

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, PackageStorage]]:
        """List the bundle."""
        yield BUNDLE, self.storage
