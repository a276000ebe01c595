"""Consent to overwrite a drive with data: its label, typed on a page that showed the data."""

import re

import pytest
from django.utils import timezone

from runners.models import Device, Dispatch, Host
from runners.models.campaign import Campaign
from runners.models.dispatch import CONSENT_OPTION
from runners.models.states import State
from tests.runners.fake_host import DRIVE_BYTES
from tests.runners.ssh_host import PINNED
from tests.webapp.lab.dispatches.test_dispatches import ORDER
from tests.webapp.lab.programs import allow
from tests.webapp.lab.shared.test_drive_status import DATA, EXT4, WRITTEN, holding
from webapp.lab.shared.drive_status import LABEL_FIELD, LOCATION_FIELD, SHOWN_FIELD, must_type_label

pytestmark = pytest.mark.django_db

LABEL = "fake drive"
PAGES = ["", "order/", "campaign/", "ycsb/"]
SWEEP = {"preset": "micron-7450-rocksdb", "client": "java"}
PLACE = {LOCATION_FIELD: f"/dev/fake0 of {DRIVE_BYTES} bytes"}
BOX = {CONSENT_OPTION: "on"}  # not in any form: posting it does not give consent


@pytest.fixture(autouse=True)
def every_program_is_allowed(settings, tmp_path):
    settings.LAB_PROGRAMS = str(allow(tmp_path / "programs.json"))


def shown_on(text):
    """Return the signature that the form of a page sends."""
    return re.search(f'name="{SHOWN_FIELD}" value="([^"]*)"', text).group(1)


def ask(client, device, part, label="", shown=EXT4):
    """Order on a page that showed a signature, and return the page after that."""
    address = f"/lab/devices/{device.pk}/{part}"
    form_data = {"prepare/": {}, "order/": ORDER, "ycsb/": SWEEP}.get(part)
    if form_data is None:
        form = client.get(address).context["form"]
        form_data = {field.html_name: field.value() for field in form if field.value() is not None}
    return client.post(address, form_data | BOX | PLACE | {LABEL_FIELD: label, SHOWN_FIELD: shown}, follow=True).text


def ordered():
    """Return the order, from any of the pages."""
    return [*Dispatch.objects.all(), *Campaign.objects.all()]


@pytest.mark.parametrize("part", PAGES)
def test_cautions_and_consent_are_shown_before_the_buttons_of_every_order_page(lab_client, device, dispatch, part):
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
def test_a_drive_with_data_is_overwritten_only_after_its_label_is_typed(lab_client, device, part):
    holding(device, **DATA)
    for label in ("", "fake"):
        assert "Expected fake drive, got" in ask(lab_client, device, part, label)
        assert not ordered()
    for shown in ("", "a BTRFS file system"):
        assert f"the page showed {shown or 'no recognised data'}, the drive now holds {EXT4}" in ask(
            lab_client, device, part, LABEL, shown
        )
        assert not ordered()
    ask(lab_client, device, part, LABEL)
    (made,) = ordered()
    assert made.options[CONSENT_OPTION] == EXT4, "the page showed the data, and the host gets the consent"


@pytest.mark.parametrize("moved", [{"path": "/dev/fake0p4"}, {"size_bytes": DRIVE_BYTES + 512}])
def test_a_label_typed_for_one_part_of_a_drive_is_not_valid_for_another(lab_client, device, moved):
    holding(device, **DATA)
    shown = lab_client.get(f"/lab/devices/{device.pk}/order/").text
    assert f'name="{LOCATION_FIELD}" value="{PLACE[LOCATION_FIELD]}"' in shown
    Device.objects.update(**moved)
    assert "Check the drive, then order again" in ask(lab_client, device, "prepare/", LABEL)
    assert not ordered()


def test_the_order_is_refused_if_the_drive_was_wiped_since_the_page(lab_client, device):
    holding(device, signature=None)
    said = ask(lab_client, device, "prepare/", LABEL)
    assert f"the page showed {EXT4}, the drive now holds no recognised data" in said
    assert not ordered()


@pytest.mark.parametrize("identity", [{}, {"signature": None}])
def test_no_consent_is_sent_to_the_host_if_no_data_was_recognised(lab_client, device, identity):
    Device.objects.filter(pk=device.pk).update(drive_key="nvme:M:S1")
    device.refresh_from_db()
    assert must_type_label(holding(device, **identity))
    ask(lab_client, device, "order/", LABEL, shown="")
    assert CONSENT_OPTION not in Dispatch.objects.get().options, "drivetest refuses what it recognises itself"


@pytest.mark.parametrize("part", PAGES[:3])
def test_a_host_over_ssh_accepts_consent_only_from_its_operator(lab_client, device, part):
    assert "drivetest prep" not in lab_client.get(f"/lab/devices/{device.pk}/{part}").text
    Host.objects.filter(pk=device.host_id).update(kind="ssh", **PINNED)
    assert "drivetest prep" in lab_client.get(f"/lab/devices/{device.pk}/{part}").text
    holding(device, **DATA)
    assert "Its operator wipes it there" in ask(lab_client, device, part or "prepare/", LABEL)
    assert not ordered()


def test_a_repeated_order_does_not_repeat_the_consent(lab_client, device, in_state):
    old = in_state(State.FAILED, ended_at=timezone.now(), options={CONSENT_OPTION: True, "report_interval_s": 1})
    lab_client.post(f"/lab/dispatches/{old.public_id}/retry/")
    assert old.retry.options == {"report_interval_s": 1}


def test_a_repeated_order_asks_for_consent_to_the_current_data(lab_client, device, in_state):
    old = in_state(State.REFUSED, ended_at=timezone.now(), options={CONSENT_OPTION: True})
    holding(device, **DATA)
    address = f"/lab/dispatches/{old.public_id}/retry/"
    assert shown_on(lab_client.get(f"{address}confirm/").text) == EXT4
    for posted, why in ({}, "the page showed"), (PLACE | {SHOWN_FIELD: EXT4}, "The label does not match"):
        assert why in lab_client.post(address, posted, follow=True).text
        assert Dispatch.objects.count() == 1
    lab_client.post(address, PLACE | {SHOWN_FIELD: EXT4, LABEL_FIELD: LABEL})
    assert old.retry.options == {CONSENT_OPTION: EXT4}
