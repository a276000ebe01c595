"""Before signing in one reads what a room is for."""

import pytest

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("room", "said"), [("/submit/", "What is asked, and how to run it"), ("/lab/", "order runs")])
def test_the_page_before_sign_in_tells_what_the_room_is(client, room, said):
    assert said in client.get(room, follow=True).text
    assert said not in client.get("/accounts/login/").text
