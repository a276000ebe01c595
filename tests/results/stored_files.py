"""Where a directory store keeps its files, for tests that look at them or damage them."""

import shutil
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

from django.conf import settings

from results.evidence.directory import MARK, Directory


def use_directory(settings, path):
    """Keep evidence in a new directory."""
    settings.EVIDENCE_DIR = path
    Directory(path).prepare()


def files_below(directory):
    """Return the files of a directory of evidence, also those that are not complete."""
    return [path for path in directory.rglob("*") if path.is_file() and path.name != MARK]


def path_of(sha256):
    return Directory(Path(settings.EVIDENCE_DIR)).path_of(sha256)


def staged_path(key):
    return Directory(Path(settings.EVIDENCE_DIR)).staged_path(key)


class SmallDisk:
    """A directory in a file system of its own, which takes no more files while it is filled."""

    def __init__(self, directory):
        self.directory = directory

    @contextmanager
    def filled(self):
        """Use up all names and bytes for the time of a block."""
        filler = self.directory / "filler"
        filler.mkdir()
        try:
            with (filler / "bytes").open("wb", buffering=0) as file, suppress(OSError):
                while file.write(bytes(4096)):
                    pass
            with suppress(OSError):
                for number in count():
                    (filler / str(number)).touch()
            yield
        finally:
            shutil.rmtree(filler)
