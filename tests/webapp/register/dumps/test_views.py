"""The dumps at `/data/`: served without a query, and no other file of the directory."""

import hashlib

import pytest

from webapp.register.dumps.writer import write_dump
from webapp.register.snapshots import stamps


@pytest.fixture
def directory(make_published_run):
    make_published_run()
    return write_dump()


@pytest.mark.django_db
def test_a_file_is_sent_unchanged(client, directory):
    answer = client.get(f"/data/{directory.name}/runs.parquet")
    content = answer.getvalue()
    assert content == (directory / "runs.parquet").read_bytes()
    assert answer["ETag"] == f'"{hashlib.sha256(content).hexdigest()}"'
    assert "attachment" in answer["Content-Disposition"]
    assert (
        client.get(f"/data/{directory.name}/runs.parquet", headers={"if-none-match": answer["ETag"]}).status_code == 304
    )


@pytest.mark.django_db
def test_the_page_links_every_file(client, directory):
    text = client.get("/data/").text
    assert "CC-BY-4.0" in text
    for path in directory.iterdir():
        assert f'href="/data/{directory.name}/{path.name}"' in text


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["other", "..%2F..%2Fsecrets", "%2e%2e", "lock", ".", "runs.parquet%00"])
def test_only_files_of_the_manifest_have_an_address(client, directory, name):
    (directory / "other").write_text("secret")
    assert client.get(f"/data/{directory.name}/{name}").status_code == 404
    assert client.get(f"/data/..%2f{name}/{name}").status_code == 404
    assert client.get(f"/data/2026-01-01/{name}").status_code == 404


def test_the_page_and_its_files_need_no_database(client, data_dir):
    text = client.get("/data/").text
    assert "The files are not written yet." in text
    for address in ("/drives/?historical=include", "/ycsb/claims/", "/api/v1/docs/"):
        assert f'<a href="{address}">' in text
    assert "manage.py" not in text
    assert client.get("/data/2026-01-01/runs.parquet").status_code == 404


@pytest.mark.django_db
def test_a_new_dump_regenerates_the_page_in_the_snapshot(directory):
    before = stamps.current_stamps()["*"]
    directory.rename(directory.with_name("2026-01-01"))
    assert stamps.current_stamps()["*"] != before
