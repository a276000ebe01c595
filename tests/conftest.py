"""The test session: servers of its own, no way out to the network, and people who can sign in."""

import importlib
import os

import pytest

from tests.chromium import CHROMIUM
from tests.cluster import Cluster
from tests.lab_hosts.namespaces import missing

# On import and not in a hook: the conftest files below may import models, which reads the settings.
Cluster().provide()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

import django  # noqa: E402

django.setup()

from django.apps import apps  # noqa: E402
from django.db.models.signals import post_migrate  # noqa: E402
from django.dispatch import receiver  # noqa: E402
from django.test import Client  # noqa: E402

from results.models import Organisation, Profile  # noqa: E402
from webapp.accounts.models import Membership  # noqa: E402


@receiver(post_migrate, dispatch_uid="profile-after-flush")
def restore_profile(app_config, **_):
    """A test with transactions of its own ends with a flush, which also empties what migrations have filled."""
    if app_config.label == "results" and not Profile.objects.exists():
        importlib.import_module("results.migrations.0003_operational_database_1").add_profile(apps, None)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Keep on one xdist worker what shares a running register: all browser tests, and each file of fault tests."""
    no_lab_hosts = missing() if any(item.get_closest_marker("lab_hosts") for item in items) else ""
    for item in items:
        if item.get_closest_marker("lab_hosts") and no_lab_hosts:
            item.add_marker(pytest.mark.skip(reason=no_lab_hosts))
        if item.get_closest_marker("faults"):
            item.add_marker(pytest.mark.xdist_group(item.module.__name__))
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.xdist_group("browser"))
        if item.get_closest_marker("browser") and CHROMIUM is None:
            item.add_marker(pytest.mark.skip(reason="NO CHROMIUM on this machine: install the package chromium"))


LEFT_OUT = {
    "NO CHROMIUM": ("BROWSER TESTS LEFT OUT", "there is no Chromium. Install the package chromium."),
    "NO LAB HOSTS": ("LAB HOST TESTS LEFT OUT", "no lab host can be made here; the reasons above say what is missing."),
}


def pytest_terminal_summary(terminalreporter):
    """Say last, where it is read, what a green session has not looked at."""
    skipped = terminalreporter.stats.get("skipped", [])
    for mark, (title, why) in LEFT_OUT.items():
        if left_out := [report for report in skipped if mark in str(report.longrepr)]:
            terminalreporter.section(title, sep="!", red=True, bold=True)
            terminalreporter.line(f"{len(left_out)} tests were not run: {why}")


@pytest.fixture
def organisation(db):
    return Organisation.objects.create(slug="acme", name="Acme Storage", kind=Organisation.Kind.VENDOR)


@pytest.fixture
def member(organisation, django_user_model):
    user = django_user_model.objects.create_user("mia", password="a long enough password")
    Membership.objects.create(user=user, organisation=organisation)
    return user


@pytest.fixture
def staff(db, django_user_model):
    return django_user_model.objects.create_user("sam", password="a long enough password", is_staff=True)


@pytest.fixture
def member_client(client, member):
    client.force_login(member)
    return client


@pytest.fixture
def staff_client(staff):
    client = Client()
    client.force_login(staff)
    return client
