from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from results.models import Event, Maker
from tests.results.builders import make_organisation

pytestmark = pytest.mark.django_db


def link(*arguments):
    output = StringIO()
    call_command("link_maker", *arguments, stdout=output)
    return output.getvalue().splitlines()


def test_a_spelling_is_linked_listed_and_removed_with_events():
    make_organisation("exemplar")
    assert link("Exemplar Inc.", "exemplar") == ["Exemplar Inc.: linked to exemplar"]
    assert link() == ["Exemplar Inc.: exemplar"]
    assert link("EXEMPLAR INC.", "exemplar", "--remove") == ["EXEMPLAR INC.: no longer linked to exemplar"]
    assert not Maker.objects.exists()
    assert [event.kind for event in Event.objects.all()] == ["maker-linked", "maker-unlinked"]


def test_a_link_is_made_once_and_only_to_an_organisation():
    make_organisation("exemplar")
    link("Exemplar", "exemplar")
    with pytest.raises(CommandError, match="is linked already"):
        link("exemplar", "exemplar")
    with pytest.raises(CommandError, match="slug of an organisation, got 'other'"):
        link("Exemplar", "other")
    with pytest.raises(CommandError, match="is not linked"):
        link("Another", "exemplar", "--remove")
