"""A drive that holds data is written over only with its label typed, for what the page showed."""

import re

import pytest
from django.utils import timezone

from runners.models import Device, Dispatch, Host
from runners.models.campaign import Campaign
from runners.models.dispatch import CONSENT_OPTION
from runners.models.states import State
from tests.runners.fake_host import DRIVE_BYTES
from tests.runners.ssh_host import PINNED
from tests.webapp.lab.dispatches.test_dispatches import ASKED
from tests.webapp.lab.programs import allow
from tests.webapp.lab.shared.test_drive_status import DATA, EXT4, WRITTEN, holding
from webapp.lab.shared.consent import LABEL_FIELD, PLACE_FIELD, SHOWN_FIELD, must_type_label

pytestmark = pytest.mark.django_db

LABEL = "fake drive"
PAGES = ["", "order/", "campaign/", "ycsb/"]
SWEEP = {"preset": "micron-7450-rocksdb", "client": "java"}
PLACE = {PLACE_FIELD: f"/dev/fake0 of {DRIVE_BYTES} bytes"}
BOX = {CONSENT_OPTION: "on"}  # no form has it: whoever posts it consents to nothing


@pytest.fixture(autouse=True)
def every_program_is_allowed(settings, tmp_path):
    settings.LAB_PROGRAMS = str(allow(tmp_path / "programs.json"))


def shown_on(text):
    """Return what a page says that the drive holds, as its form sends it."""
    return re.search(f'name="{SHOWN_FIELD}" value="([^"]*)"', text).group(1)


def ask(client, device, part, label="", shown=EXT4):
    """Order by a page that showed a signature, and return what it answers."""
    address = f"/lab/devices/{device.pk}/{part}"
    asked = {"prepare/": {}, "order/": ASKED, "ycsb/": SWEEP}.get(part)
    if asked is None:
        form = client.get(address).context["form"]
        asked = {field.html_name: field.value() for field in form if field.value() is not None}
    return client.post(address, asked | BOX | PLACE | {LABEL_FIELD: label, SHOWN_FIELD: shown}, follow=True).text


def ordered():
    """Return what was ordered, whatever page it came from."""
    return [*Dispatch.objects.all(), *Campaign.objects.all()]


@pytest.mark.parametrize("part", PAGES)
def test_cautions_and_consent_stand_before_the_buttons_of_every_page_that_orders(lab_client, device, dispatch, part):
    holding(device, **DATA)
    text = lab_client.get(f"/lab/devices/{device.pk}/{part}").text
    assert text.index(EXT4) < text.index(f'name="{LABEL_FIELD}"') < text.index('<button class="do">')
    assert shown_on(text) == EXT4
    assert CONSENT_OPTION not in text
    holding(device, signature=None)
    Dispatch.objects.update(**WRITTEN, started_at=timezone.now())
    text = lab_client.get(f"/lab/devices/{device.pk}/{part}").text
    assert EXT4 not in text
    assert LABEL_FIELD not in text


@pytest.mark.parametrize("part", ["prepare/", "order/", "ycsb/", "campaign/"])
def test_a_drive_that_holds_data_is_written_over_only_with_its_label_typed(lab_client, device, part):
    holding(device, **DATA)
    for label in ("", "fake"):
        assert "expected the device&#x27;s label, fake drive" in ask(lab_client, device, part, label)
        assert not ordered()
    for shown in ("", "a BTRFS file system"):
        assert f"holds {EXT4} by now; the page said {shown or 'nothing'}" in ask(lab_client, device, part, LABEL, shown)
        assert not ordered()
    ask(lab_client, device, part, LABEL)
    (made,) = ordered()
    assert made.options[CONSENT_OPTION] == EXT4, "the label says so of what was shown, and the host is told"


@pytest.mark.parametrize("moved", [{"path": "/dev/fake0p4"}, {"size_bytes": DRIVE_BYTES + 512}])
def test_a_label_typed_for_one_part_of_a_drive_is_none_for_another(lab_client, device, moved):
    holding(device, **DATA)
    shown = lab_client.get(f"/lab/devices/{device.pk}/order/").text
    assert f'name="{PLACE_FIELD}" value="{PLACE[PLACE_FIELD]}"' in shown
    Device.objects.update(**moved)
    assert "look again" in ask(lab_client, device, "prepare/", LABEL)
    assert not ordered()


def test_a_drive_that_was_wiped_since_the_page_is_looked_at_again(lab_client, device):
    holding(device, signature=None)
    said = ask(lab_client, device, "prepare/", LABEL)
    assert f"holds nothing that is recognised by now; the page said {EXT4}; look again" in said
    assert not ordered()


@pytest.mark.parametrize("identity", [{}, {"signature": None}])
def test_no_consent_is_told_to_the_host_where_nothing_was_recognised(lab_client, device, identity):
    Device.objects.filter(pk=device.pk).update(drive_key="nvme:M:S1")
    device.refresh_from_db()
    assert must_type_label(holding(device, **identity))
    ask(lab_client, device, "order/", LABEL, shown="")
    assert CONSENT_OPTION not in Dispatch.objects.get().options, "drivetest refuses what it recognises itself"


@pytest.mark.parametrize("part", PAGES[:3])
def test_a_host_over_ssh_takes_consent_from_its_operator_alone(lab_client, device, part):
    assert "drivetest prep" not in lab_client.get(f"/lab/devices/{device.pk}/{part}").text
    Host.objects.filter(pk=device.host_id).update(kind="ssh", **PINNED)
    assert "drivetest prep" in lab_client.get(f"/lab/devices/{device.pk}/{part}").text
    holding(device, **DATA)
    assert "Its operator wipes it there" in ask(lab_client, device, part or "prepare/", LABEL)
    assert not ordered()


def test_an_order_made_again_takes_no_consent_over(lab_client, device, in_state):
    old = in_state(State.FAILED, ended_at=timezone.now(), options={CONSENT_OPTION: True, "report_interval_s": 1})
    lab_client.post(f"/lab/dispatches/{old.public_id}/retry/")
    assert old.retry.options == {"report_interval_s": 1}


def test_an_order_made_again_asks_for_the_consent_to_what_lies_there_now(lab_client, device, in_state):
    old = in_state(State.REFUSED, ended_at=timezone.now(), options={CONSENT_OPTION: True})
    holding(device, **DATA)
    address = f"/lab/dispatches/{old.public_id}/retry/"
    assert shown_on(lab_client.get(f"{address}confirm/").text) == EXT4
    for posted, why in ({}, "by now; the page said"), (PLACE | {SHOWN_FIELD: EXT4}, "expected the device"):
        assert why in lab_client.post(address, posted, follow=True).text
        assert Dispatch.objects.count() == 1
    lab_client.post(address, PLACE | {SHOWN_FIELD: EXT4, LABEL_FIELD: LABEL})
    assert old.retry.options == {CONSENT_OPTION: EXT4}
