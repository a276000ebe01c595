"""`manage.py scrub`: hash every stored file again, and report those that are not as received."""

import sys
import time
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from results import locks
from results.evidence.references import users_of
from results.evidence.scrub import SLICE_S, advance, current_pass, open_faults
from results.evidence.store import StoreUnavailableError
from results.models import Scrub, ScrubFault

WAIT_S = 20 * SLICE_S  # a periodic task checks files for SLICE_S, and then to the end of a large file


class Command(BaseCommand):
    help = (
        "Hash every stored file again, and report missing, shorter, altered and unreadable files with their "
        "submissions. A pass that was interrupted goes on where it was. Exit status: 1 with faults, else 0."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--bytes-per-s", type=int, help="the limit of bandwidth; default: SCRUB_BYTES_PER_S")
        parser.add_argument("--all", action="store_true", help="begin with the first file, also after an interruption")

    def handle(self, *args: Any, **options: Any) -> None:
        bytes_per_s = options["bytes_per_s"] or settings.SCRUB_BYTES_PER_S
        if bytes_per_s < 1:
            raise CommandError(f"--bytes-per-s: expected a whole number of at least 1, got {bytes_per_s}")
        scrub = self.run_pass(bytes_per_s, afresh=options["all"])
        faults = list(open_faults())
        for fault in faults:
            self.stdout.write(sentence_of(fault))
        self.stdout.write(
            f"{scrub.files_count} files, {scrub.bytes_count} bytes, {len(faults)} faults; "
            f"{scrub.unreferenced_count} files to which no row refers"
        )
        sys.exit(1 if faults else 0)

    def run_pass(self, bytes_per_s: int, *, afresh: bool) -> Scrub:
        """Run a pass to its end, and return it."""
        ends = time.monotonic() + WAIT_S
        while True:
            with locks.try_lock(locks.SCRUB, 0) as is_ours:
                if is_ours:
                    scrub = current_pass(afresh=afresh)
                    try:
                        advance(scrub, bytes_per_s)
                    except StoreUnavailableError as error:
                        raise CommandError(f"{error}. The next scrub goes on where this one ended.") from error
                    return scrub
            if time.monotonic() >= ends:
                raise CommandError("Another process checks the stored files. Wait until it ends, or end it.")
            time.sleep(1)


def sentence_of(fault: ScrubFault) -> str:
    """Return a fault as one line: its code, its file, what was expected and found, and to what the file belongs."""
    found = f"{fault.found_bytes} bytes" if fault.found_bytes is not None else "none"
    if fault.kind == ScrubFault.Kind.ALTERED and fault.found_bytes == fault.size_bytes:
        found = "other bytes"
    owners = ", ".join(users_of(fault.sha256))
    return f"{fault.kind:<10} {fault.sha256}: expected {fault.size_bytes} bytes, got {found}; {owners}"
