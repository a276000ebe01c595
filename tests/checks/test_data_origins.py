"""The origins of all files in tests/data."""

from pathlib import Path

from django.conf import settings

DATA = Path(settings.BASE_DIR / "tests/data")


def test_every_kind_of_test_data_has_an_origin():
    origins = (DATA / "ORIGIN.md").read_text()
    kinds = {path.relative_to(DATA).parts[0] for path in DATA.rglob("*") if path.is_file()} - {"ORIGIN.md"}
    assert [kind for kind in sorted(kinds) if f"`{kind}" not in origins] == []
