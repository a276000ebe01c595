"""The measure of backup and restore in a small form; `python -m benchmarks.restore` runs it in full."""

import shutil
import tempfile
from pathlib import Path

import pytest
from restore import measure

from tests.register import WITHOUT_SNAPSHOTS, Register, copy_prepared_data


@pytest.mark.long
def test_a_restore_proves_every_hash_and_verdict_and_names_each_fault(tmp_path_factory):
    directory = Path(tempfile.mkdtemp(prefix="drivecert-measure-"))
    directory.chmod(0o711)
    register = Register(directory / "var", **WITHOUT_SNAPSHOTS)
    try:
        copy_prepared_data(tmp_path_factory, register.data_dir)
        rows = list(measure(register, directory, submissions=20))
    finally:
        register.end()
        shutil.rmtree(directory)
    assert [row.measure for row in rows if not row.is_met] == [], rows
    assert len(rows) == 5
