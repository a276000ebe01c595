"""Where a directory store keeps its files, for tests that look at them or damage them."""

from pathlib import Path

from django.conf import settings

from results.evidence.directory import Directory


def use_directory(settings, path):
    """Keep evidence in a new directory."""
    settings.EVIDENCE_DIR = path
    Directory(path).prepare()


def path_of(sha256):
    return Directory(Path(settings.EVIDENCE_DIR)).path_of(sha256)


def staged_path(key):
    return Directory(Path(settings.EVIDENCE_DIR)).staged_path(key)
