import pytest
from django.utils import timezone

from results.models import Event
from runners.hosts.keys import public_key
from runners.models import Host
from tests.runners.ssh_host import HEALTH, PINNED, ssh_host

pytestmark = pytest.mark.django_db


@pytest.fixture
def asked():
    return {"name": "lab-1", "address": "lab-1.example", "port": "22", "user": "drivecert"} | {
        "host_key": PINNED["host_key"],
        "program_sha256": PINNED["program_sha256"],
    }


def test_a_host_is_enrolled_and_its_page_says_what_to_do_there(lab_client, asked):
    page = lab_client.post("/lab/hosts/add/", asked, follow=True).text
    assert Host.objects.get().address == "lab-1.example"
    assert Event.objects.get().kind == "host-added"
    assert "it has not been checked yet" in page
    for shown in ("drivecert ALL=(root) NOPASSWD: /usr/local/sbin/drivetest host", "restrict,command=", "SHA256:"):
        assert shown in page
    assert public_key() in page


@pytest.mark.parametrize(
    ("field", "value"),
    [("user", "root"), ("user", "a b"), ("host_key", "ssh-ed25519 x"), ("program_sha256", "abc"), ("address", "a;b")],
)
def test_what_nobody_can_be_known_by_is_refused_at_its_field(lab_client, asked, field, value):
    page = lab_client.post("/lab/hosts/add/", asked | {field: value})
    assert page.context["form"].errors[field]
    assert not Host.objects.exists()


def test_a_host_is_not_pinned_anew_by_a_slip(lab_client, asked):
    lab_client.post("/lab/hosts/add/", asked)
    page = lab_client.post("/lab/hosts/add/", asked | {"address": "elsewhere.example"})
    assert "There is a host lab-1" in page.text
    assert Host.objects.get().address == "lab-1.example"


def test_the_page_says_why_a_host_gets_no_work(lab_client):
    ssh_host(objections=["its clock is +600 s from the register's"], health=HEALTH, checked_at=timezone.now())
    page = lab_client.get("/lab/hosts/lab-1/").text
    assert "gets no work" in page
    assert "its clock is +600 s" in page


def test_the_page_of_a_fit_host_shows_what_it_told(lab_client):
    ssh_host(health=HEALTH, checked_at=timezone.now())
    page = lab_client.get("/lab/hosts/lab-1/").text
    assert "It takes work" in page
    for shown in ("lab-host", "6.1.0", "nvme:M:S1", "/var/lib/drivecert"):
        assert shown in page


def test_a_check_on_demand_says_that_a_host_is_silent(lab_client, settings):
    settings.HOST_ANSWER_TIMEOUT_S = 1
    ssh_host(address="127.0.0.1", port=1)
    page = lab_client.post("/lab/hosts/lab-1/check/", follow=True).text
    assert "gets no work; the reasons are below" in page
    assert Host.objects.get().objections
