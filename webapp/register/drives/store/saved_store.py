"""The column store of a large register in a file, so that a new process does not read every row.

Each release on a machine has its own file, next to the snapshots. The file has two parts: the column store, and the
data that the next update needs. Only the process that updates the file loads the second part. Removing the file is
safe at any time.

The parts are pickles. Loading a pickle can execute code, so only the register's own user can write in the directory
(mode 0700).
"""

import logging
import os
import pickle
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, BinaryIO, cast
from uuid import UUID

from django.conf import settings

from results.lifecycle.listing_changes import ListingState
from results.locks import file_lock
from webapp.register.drives.store.column_values import ColumnWords
from webapp.register.drives.store.encoded_columns import ColumnEncoding, ColumnStore, EncodedColumn
from webapp.register.drives.store.row_reader import RowReader
from webapp.register.http.release import release
from webapp.register.products.name_search import Names

logger = logging.getLogger(__name__)

SAVED_FROM_ROWS = 2000  # reading as many rows takes a second
NAME, LOCK = "columns-{release}.pickle", "columns.lock"
UNUSED_S = 86_400  # after which a file of another release is removed
Encodings = dict[str, ColumnEncoding]


def directory() -> Path:
    """Return the directory of the file."""
    path: Path = settings.COLUMN_STORE_DIR
    return path


def path() -> Path:
    """Return the file of this release. During an upgrade, processes of two releases run, each with its own file."""
    return directory() / NAME.format(release=release())


@contextmanager
def writing() -> Iterator[None]:
    """Wait until no other process of this machine reads changed rows. Without a writable directory, do not wait."""
    try:
        directory().mkdir(mode=0o700, parents=True, exist_ok=True)
        directory().chmod(0o700)
        lock: Any = file_lock(directory() / LOCK, waits=True)
    except OSError as error:
        logger.warning("column store: %s cannot be written, so each process reads every row: %s", directory(), error)
        lock = nullcontext()
    with lock:
        yield


def load_store(encodings: Encodings, state: ListingState) -> ColumnStore | None:
    """Return the store of the file if it shows a state of the register; otherwise None."""
    with _opened() as file:
        found = _load(file)
        if found is None or found["columns"].keys() != encodings.keys():
            return None
        known: frozenset[UUID] = found["known"]
        return _store(found, state.version) if state.changed_since(known) == set() else None


def load_reader(encodings: Encodings) -> RowReader | None:
    """Return the reader of the file, which knows the rows of the stored state; None if there is none."""
    with _opened() as file:
        found = _load(file)
        if found is None or found["columns"].keys() != encodings.keys() or (rest := _loaded(file)) is None:
            return None
    reader, store = RowReader(encodings), _store(found, "")
    reader.columns = {
        code: ColumnWords.restored(encodings[code], rest["keys"][code], column)
        for code, column in store.columns.items()
    }
    reader.rows, reader.known = rest["rows"], found["known"]
    return reader


def save(reader: RowReader, store: ColumnStore) -> bool:
    """Replace the file by one with the rows of a reader and their store; return whether it was written."""
    columns = {code: (each.words, each.codes, each.values, each.options) for code, each in store.columns.items()}
    first = {
        "release": release(), "known": reader.known, "count": store.count, "runs": store.runs, "slugs": store.slugs,
        "columns": columns, "names": (store.names.texts, store.names.parts), "remarks": store.remarks,
    }  # fmt: skip
    rest = {"keys": {code: words.keys for code, words in reader.columns.items()}, "rows": reader.rows}
    try:
        with _new_file() as file:
            for part in (first, rest):
                pickle.dump(part, file, protocol=pickle.HIGHEST_PROTOCOL)
    except OSError as error:
        logger.warning("column store: %s was not written: %s", path(), error)
        return False
    _remove_unused()
    return True


@contextmanager
def _new_file() -> Iterator[BinaryIO]:
    """Open a file that replaces the one of this release when it is complete; after an error nothing of it stays."""
    handle, name = tempfile.mkstemp(dir=directory(), prefix="columns-", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path())
    finally:
        Path(name).unlink(missing_ok=True)  # a complete file has its other name by now


def _remove_unused() -> None:
    """Remove old files of other releases, and those that a process began and did not finish."""
    for each in directory().glob("columns-*"):
        with suppress(FileNotFoundError):  # another process has removed it
            if each != path() and time.time() - each.stat().st_mtime > UNUSED_S:
                each.unlink()


@contextmanager
def _opened() -> Iterator[BinaryIO | None]:
    try:
        file = path().open("rb")
    except OSError:
        yield None
    else:
        with file:
            yield file


def _load(file: BinaryIO | None) -> dict[str, Any] | None:
    """Return the first part of the file; None if it is of another release, or damaged."""
    found = _loaded(file)
    return found if found is not None and found.get("release") == release() else None


def _loaded(file: BinaryIO | None) -> dict[str, Any] | None:
    """Return the next part of the file; None if it is damaged. Damaged bytes can raise any of many exceptions."""
    if file is None:
        return None
    try:
        return cast("dict[str, Any]", pickle.load(file))  # noqa: S301 - only the register's own user can write it
    except (pickle.UnpicklingError, EOFError, AttributeError, ImportError, LookupError, ValueError, TypeError) as error:
        logger.warning("column store: %s is damaged and is made again: %s", path(), error)
        return None


def _store(found: dict[str, Any], version: str) -> ColumnStore:
    columns = {code: EncodedColumn(*parts) for code, parts in found["columns"].items()}
    names, (runs, slugs) = Names(*found["names"]), (found["runs"], found["slugs"])
    return ColumnStore(version, found["count"], runs, slugs, columns, names, found["remarks"])
