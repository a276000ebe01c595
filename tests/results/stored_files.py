"""Where a directory store keeps its files, for tests that look at them or damage them."""

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
