"""The commands of a runbook as a measurement runs them."""

import pytest
from django.conf import settings

from scripts.runbooks.commands import Command, read_commands, split

HOW_TO = settings.BASE_DIR / "docs/how-to"
PAGE = """# Deploy

1. Get the release, and go on:

   ```
   git clone REPOSITORY /srv
   cd /srv
   ```

2. Write the settings:

   ```
   cat > /etc/it <<'END'
   NAME="a b"
   END
   one && \\
     two
   ```

   Expected: `REPOSITORY` stays here.

## Back up

1. Make it:

   ```
   backup
   ```
"""


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "deploy.md"
    path.write_text(PAGE)
    return path


def test_each_command_belongs_to_its_step_and_has_its_lines(page):
    assert read_commands(page, {"REPOSITORY": r"/opt/a\1"}) == [
        Command(1, "Get the release", r"git clone /opt/a\1 /srv"),
        Command(1, "Get the release", "cd /srv"),
        Command(2, "Write the settings", "cat > /etc/it <<'END'\nNAME=\"a b\"\nEND"),
        Command(2, "Write the settings", "one && \\\n  two"),
    ]


def test_a_placeholder_that_is_nowhere_is_found(page):
    with pytest.raises(ValueError, match=r"deploy\.md: expected the placeholder REPO in a command"):
        read_commands(page, {"REPO": "/opt"})


def test_a_file_without_an_end_is_found():
    with pytest.raises(ValueError, match="expected a line END, found the end of the block"):
        list(split("cat > x <<'END'\na\n"))


@pytest.mark.parametrize(("name", "steps"), [("deploy-with-systemd", 13), ("deploy-with-compose", 9)])
def test_every_step_of_the_runbooks_has_commands(name, steps):
    commands = read_commands(HOW_TO / f"{name}.md", {"REPOSITORY": "/opt/release.git"})
    assert sorted({each.step for each in commands}) == list(range(1, steps + 1))
    assert [each.text for each in commands if "REPOSITORY" in each.text] == []
