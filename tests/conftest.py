"""The test session: separate servers, no access to other networks, and users who can sign in."""

import gc
import importlib
import os
import time
from collections import Counter
from pathlib import Path
from uuid import uuid4

import pytest

from tests import own_network
from tests.chromium import CHROMIUM
from tests.cluster import Cluster
from tests.lab_hosts.namespaces import missing
from tests.scheduling import ModuleScheduling

STARTUP = str(Path(__file__).parent / "startup")
if STARTUP not in (paths := os.environ.get("PYTHONPATH", "").split(os.pathsep)):
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [STARTUP, *paths]))
# On import and not in a hook: the conftest files below may import models, which reads the settings.
Cluster().provide()
own_network.take(os.environ.get("PYTEST_XDIST_WORKER", ""))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

import django  # noqa: E402

django.setup()

from django.apps import apps  # noqa: E402
from django.conf import settings as django_settings  # noqa: E402
from django.contrib.sessions.models import Session  # noqa: E402
from django.db.models.signals import post_migrate  # noqa: E402
from django.dispatch import receiver  # noqa: E402
from django.test import Client, TransactionTestCase  # noqa: E402
from django.utils.crypto import get_random_string  # noqa: E402

from results.models import Organisation  # noqa: E402
from tests import quick_states  # noqa: E402
from tests.database import (  # noqa: E402
    CatalogueDatabase,
    catalogue_name,
    copy_template,
    delete_committed_rows,
    drop_template,
    template_name,
)
from tests.results.builders import verify_address  # noqa: E402
from tests.results.stored_files import use_directory  # noqa: E402
from tests.runners.ycsb_from_maven import NO_ROCKSDB  # noqa: E402
from webapp.accounts.models import Membership, Role  # noqa: E402
from webapp.accounts.sessions import hash_key  # noqa: E402

sign_in_of_django = Client._login  # type: ignore[attr-defined]


def sign_in_with_key(client, user, backend=None):
    """Sign a client in as Django does, but put a key into its cookie: Django's client puts the stored hash there."""
    sign_in_of_django(client, user, backend)
    stored, key = client.cookies[django_settings.SESSION_COOKIE_NAME].value, get_random_string(32)
    Session.objects.filter(session_key=stored).update(session_key=hash_key(key))
    client.cookies[django_settings.SESSION_COOKIE_NAME] = key


Client._login = sign_in_with_key  # type: ignore[attr-defined]
# Django's own hash takes a third of a second by design, and half of all tests have a user with a password.
django_settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
quick_states.install()
# Without it, the first request of every client reads all static files, 7 ms. Browser tests serve them as `up` does.
django_settings.WHITENOISE_AUTOREFRESH = True


@receiver(post_migrate, dispatch_uid="profile-after-flush")
def restore_profile(app_config=None, **_):
    """Restore the profile, a row of the migrations, after the end of a transaction test and after a flush."""
    if app_config is None or app_config.label == "results":
        importlib.import_module("results.migrations.0003_operational_database_1").add_profile(apps, None)


def end_transaction_test(_):
    """Delete what a transaction test committed."""
    delete_committed_rows()
    restore_profile()


TransactionTestCase._fixture_teardown = end_transaction_test  # type: ignore[attr-defined]


@pytest.fixture(scope="session", autouse=True)
def prepared_evidence(tmp_path_factory):
    """Prepare an empty evidence store for tests of all pages and metrics; those that store evidence have their own."""
    use_directory(django_settings, tmp_path_factory.mktemp("evidence"))


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    request, django_db_modify_db_settings_parallel_suffix, django_db_blocker, django_db_keepdb, django_db_use_migrations
):
    """Let xdist workers copy one migrated database; a session without workers, or with --reuse-db, has one database."""
    workerinput = getattr(request.config, "workerinput", None)
    if workerinput and django_db_use_migrations and not django_db_keepdb:
        with django_db_blocker.unblock():
            copy_template(template_name(workerinput["testrunuid"]))


@pytest.fixture(scope="session")
def catalogue_database(request, django_db_setup, django_db_blocker):
    """Yield a database with the published catalogue, imported once for all workers of the session."""
    workerinput = getattr(request.config, "workerinput", None)
    template = template_name(workerinput["testrunuid"] if workerinput else uuid4().hex)
    with django_db_blocker.unblock():
        database = CatalogueDatabase(template, os.environ.get("PYTEST_XDIST_WORKER", "alone"))
        yield database
        database.drop()
        if not workerinput:
            drop_template(catalogue_name(template))


STARTED = pytest.StashKey[tuple[float, float]]()


def processor_seconds():
    """Return the processor time of this process and of its ended children."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    """Note the start of a test for scripts/test_times.py."""
    item.stash[STARTED] = (time.time(), processor_seconds())


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item, call):
    """Add marks, worker, start, end and processor time to a test in the JUnit file, for the table of times."""
    if call.when == "teardown":
        started, processor_before = item.stash[STARTED]
        item.user_properties += [
            ("marks", " ".join(mark for mark in FIRST if item.get_closest_marker(mark))),
            ("worker", os.environ.get("PYTEST_XDIST_WORKER", "alone")),
            ("started", f"{started:.3f}"),
            ("ended", f"{time.time():.3f}"),
            ("processor_s", f"{processor_seconds() - processor_before:.3f}"),
        ]


def pytest_collection_finish():
    """Exclude modules and collected tests from garbage collection, which took a tenth of all processor time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


PLACE = pytest.StashKey[tuple[list[bool], int]]()
FIRST = ("browser", "lab_hosts", "faults", "long")
NO_CHROMIUM = "no Chromium on this machine: install the package chromium-headless-shell"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items):
    """Skip tests that this machine cannot run, and group tests that must not run at the same time on one worker."""
    no_lab_hosts = missing() if any(item.get_closest_marker("lab_hosts") for item in items) else ""
    left_out = {"lab_hosts": no_lab_hosts, "browser": "" if CHROMIUM else NO_CHROMIUM}
    for item in items:
        for mark, reason in left_out.items():
            if reason and item.get_closest_marker(mark):
                item.add_marker(pytest.mark.skip(reason=reason))
        if group := group_of(item):
            item.add_marker(pytest.mark.xdist_group(group))
    yield  # other plugins reorder the tests here
    # Long tests start first, then large modules. Otherwise one worker would run them at the end, while others are idle.
    tests_in = Counter(item.path for item in items)
    for item in items:
        without = [not item.get_closest_marker(mark) for mark in FIRST]
        item.stash[PLACE] = without, -tests_in[item.path] if all(without) else 0
    items.sort(key=lambda item: item.stash[PLACE])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Send the tests of a module to one worker."""
    return ModuleScheduling(config, log) if config.getoption("dist") == "loadgroup" else None


# Two workers share the tests of tests/browser, each with its own register. These modules take half of the time.
SECOND_BROWSER = {"test_compare", "test_pages", "test_other_pages", "test_user_tasks"}


def group_of(item):
    """Return the group of tests that must not run at the same time as this one; empty if there is none.

    Each lab host adds and removes a network interface, and Chromium aborts its requests when an interface changes.
    If the workers have no separate networks, one worker runs both kinds of tests. Tests without a group have that of
    their module (tests/scheduling.py).
    """
    if not own_network.can_be_taken() and any(map(item.get_closest_marker, ("browser", "lab_hosts"))):
        return "network"
    if item.get_closest_marker("browser") and item.module.__name__.startswith("tests.browser."):
        return "browser-2" if item.module.__name__.rpartition(".")[2] in SECOND_BROWSER else "browser-1"
    return ""


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    """Drop the template. With CI=true, fail a session that skipped tests: CI has every part that tests need."""
    controller = session.config.pluginmanager.get_plugin("dsession")
    if nodes := getattr(controller, "nodemanager", None):
        template = template_name(nodes.testrunuid)
        drop_template(template)
        drop_template(catalogue_name(template))
    if exitstatus == pytest.ExitCode.OK and fails_without(left_out(session.config)):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def left_out(config):
    """Return the reasons of skipped tests with their counts; an xdist worker reports none."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter else []
    return Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)


def fails_without(reasons):
    """Return whether a session fails because tests were skipped for these reasons: in CI, if a part can be installed.

    YCSB's binding for RocksDB cannot be: no registry has it.
    """
    return os.environ.get("CI") == "true" and bool(set(reasons) - {NO_ROCKSDB})


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter):
    """List at the end which parts were missing: root, namespaces, sshd, Chromium, java."""
    yield
    if reasons := left_out(terminalreporter.config):
        terminalreporter.section("TESTS LEFT OUT", sep="!", red=True, bold=True)
    for reason, tests_count in sorted(reasons.items()):
        terminalreporter.line(f"{tests_count} not run: {reason}")
    if fails_without(reasons):
        terminalreporter.line("FAILED because of CI=true: install the missing parts, or unset CI")


@pytest.fixture
def organisation(db):
    return Organisation.objects.create(
        slug="acme", name="Acme Storage", kind=Organisation.Kind.VENDOR, confirmed_at="2026-01-01T00:00Z"
    )


@pytest.fixture
def member(organisation, django_user_model):
    user = django_user_model.objects.create_user("mia", password="a long enough password")
    verify_address(user)
    Membership.objects.create(user=user, organisation=organisation, role=Role.OWNER)
    return user


@pytest.fixture
def staff(db, django_user_model):
    user = django_user_model.objects.create_user(
        "sam", password="a long enough password", is_reviewer=True, is_operator=True
    )
    verify_address(user)
    return user


@pytest.fixture
def member_client(client, member):
    client.force_login(member)
    return client


@pytest.fixture
def staff_client(staff):
    client = Client()
    client.force_login(staff)
    return client
