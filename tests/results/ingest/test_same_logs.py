"""A log that one organisation sends alone and in an archive: the second submission names the first."""

import gzip
import io
import tarfile

import pytest

from results.errors import ReviewRefusedError
from results.ingest.queue import sweep
from results.ingest.same_logs import known_logs_of
from results.lifecycle import visibility
from results.lifecycle.review import create_product, publish
from results.models import Reading, Run, Visibility
from tests.results.builders import log_bytes, make_organisation, make_user, send, sha256
from tests.results.fixtures import evidence_dir, real_reader

__all__ = ["evidence_dir", "real_reader"]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("evidence_dir", "real_reader")]


def archive(*cases):
    return archive_of({f"{case}.log": log_bytes(case) for case in cases})


def packed_archive(*cases):
    return archive_of({f"{case}.log.gz": gzip.compress(log_bytes(case), mtime=0) for case in cases})


def archive_of(files):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def add_content_hashes(*cases):
    """Store the hashes of decompressed members, as the reader reports them; readers of earlier releases do not."""
    for reading in Reading.objects.exclude(members=[]):
        for case in cases:
            for member in reading.members:
                if member["name"] == f"{case}.log.gz":
                    member["content_sha256"] = sha256(log_bytes(case))
        reading.save(update_fields=["members"])


@pytest.fixture
def exemplar():
    return make_organisation()


@pytest.fixture
def rita():
    return make_user("rita", is_reviewer=True)


@pytest.fixture
def sent(exemplar, rita):
    """Return a function that sends files, and gives each submission a product; nothing speaks against the devices."""

    def send_all(*files, organisation=exemplar):
        submissions = [send(organisation, content) for content in files]
        sweep()
        for run in Run.objects.all():
            Run.objects.filter(pk=run.pk).update(facts=run.facts | {"devices": [], "is_virtual_device": None})
        for each in submissions:
            create_product(each, rita)
        return submissions

    return send_all


@pytest.mark.parametrize("alone_first", [True, False])
def test_the_second_submission_names_the_first(sent, alone_first):
    files = [log_bytes("four-us"), archive("four-us", "slow-disk-ms")]
    first, second = sent(*(files if alone_first else reversed(files)))
    name = "four-us.log" if alone_first else ""
    assert known_logs_of(second) == {name: first}


@pytest.mark.parametrize("alone_first", [True, False])
def test_the_same_log_is_published_once(sent, rita, alone_first):
    files = [log_bytes("four-us"), archive("four-us")]
    first, second = sent(*(files if alone_first else reversed(files)))
    publish(first, rita)
    with pytest.raises(ReviewRefusedError, match=f"submission {first.public_id}, which is public"):
        publish(second, rita)
    assert second.runs.get().visibility == Visibility.UNREVIEWED


def test_the_new_logs_of_an_archive_are_published_without_the_known_one(sent, rita):
    first, second = sent(log_bytes("four-us"), archive("four-us", "slow-disk-ms"))
    publish(first, rita)
    assert publish(second, rita)
    shown = {run.member: run.visibility for run in second.runs.all()}
    assert shown == {"four-us.log": Visibility.UNREVIEWED, "slow-disk-ms.log": Visibility.PUBLIC}


def test_after_a_withdrawal_the_other_copy_is_published_and_the_first_is_not_reinstated(sent, rita):
    first, second = sent(log_bytes("four-us"), archive("four-us"))
    publish(first, rita)
    visibility.withdraw(first.runs.get(), rita, "wrong firmware")
    assert publish(second, rita)
    with pytest.raises(ReviewRefusedError, match="A log is published once"):
        visibility.reinstate(first.runs.get(), rita, "it was right")


def test_another_organisation_learns_nothing(sent, rita):
    first, second = sent(log_bytes("four-us"), log_bytes("slow-disk-ms"))
    (foreign,) = sent(archive("four-us", "slow-disk-ms"), organisation=make_organisation("other"))
    publish(first, rita)
    assert (known_logs_of(foreign), known_logs_of(first), known_logs_of(second)) == ({}, {}, {})
    assert publish(foreign, rita)
    assert set(foreign.runs.values_list("visibility", flat=True)) == {Visibility.PUBLIC}


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(log_bytes("four-us"), id="plain"),
        pytest.param(gzip.compress(log_bytes("four-us")), id="compressed"),
        pytest.param(archive("four-us"), id="archive"),
    ],
)
@pytest.mark.parametrize("packed_first", [True, False])
def test_a_log_that_is_compressed_only_in_an_archive_is_the_same_log(sent, rita, other, packed_first):
    files = [packed_archive("four-us", "slow-disk-ms"), other]
    first, second = sent(*(files if packed_first else reversed(files)))
    add_content_hashes("four-us", "slow-disk-ms")
    packed, alone = (first, second) if packed_first else (second, first)
    assert known_logs_of(packed) == {"four-us.log.gz": alone}
    alone.log.refresh_from_db()  # the reading stored the hash of its decompressed bytes
    assert list(known_logs_of(alone).values()) == [packed]
    publish(first, rita)
    if packed_first:
        with pytest.raises(ReviewRefusedError, match="A log is published once"):
            publish(second, rita)
    else:
        assert publish(second, rita)
        shown = {run.member: run.visibility for run in second.runs.all()}
        assert shown == {"four-us.log.gz": Visibility.UNREVIEWED, "slow-disk-ms.log.gz": Visibility.PUBLIC}


def test_another_log_that_is_compressed_in_an_archive_is_not_the_same(sent, rita):
    first, second = sent(log_bytes("four-us"), packed_archive("slow-disk-ms"))
    add_content_hashes("slow-disk-ms")
    assert (known_logs_of(first), known_logs_of(second)) == ({}, {})
    publish(first, rita)
    assert publish(second, rita)
