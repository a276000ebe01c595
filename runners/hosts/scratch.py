"""Where large files lie while they are handed in: on the disk of the data, for /tmp may be memory."""

from pathlib import Path

from django.conf import settings

from results.evidence.store import TooLargeError


def scratch_dir() -> Path:
    """Return the directory for files without a name, made where it is missing."""
    path = Path(settings.LAB_DIR)
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def check_size(name: str, size_bytes: int) -> None:
    """Raise TooLargeError beyond what the one door takes: no more than that is brought here from a host."""
    if size_bytes > settings.UPLOAD_MAX_BYTES:
        raise TooLargeError(f"{name}: expected at most {settings.UPLOAD_MAX_BYTES} bytes, found more")
