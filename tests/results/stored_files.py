"""Where a directory store keeps its files, for tests that look at them or damage them."""

from pathlib import Path

from django.conf import settings

from results.evidence.directory import Directory


def path_of(sha256):
    return Directory(Path(settings.EVIDENCE_DIR)).path_of(sha256)


def staged_path(key):
    return Directory(Path(settings.EVIDENCE_DIR)).staged_path(key)
