import os
import subprocess
import sys

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from kombu.utils.url import parse_url

from webapp import env


@pytest.mark.parametrize("word", ["1", "yes", "TRUE", "on"])
def test_words_for_yes_are_true(monkeypatch, word):
    monkeypatch.setenv("SWITCH", word)
    assert env.read_bool("SWITCH", default=False) is True


@pytest.mark.parametrize("word", ["0", "no", "False", "off"])
def test_words_for_no_are_false(monkeypatch, word):
    monkeypatch.setenv("SWITCH", word)
    assert env.read_bool("SWITCH", default=True) is False


def test_an_unset_switch_has_its_default(monkeypatch):
    monkeypatch.delenv("SWITCH", raising=False)
    assert env.read_bool("SWITCH", default=True) is True


def test_an_unknown_word_is_refused(monkeypatch):
    monkeypatch.setenv("SWITCH", "maybe")
    with pytest.raises(ImproperlyConfigured, match="SWITCH: expected yes or no, got 'maybe'"):
        env.read_bool("SWITCH", default=True)


def test_an_invalid_number_is_refused(monkeypatch):
    monkeypatch.setenv("COUNT", "12k")
    with pytest.raises(ImproperlyConfigured, match="COUNT: expected a whole number, got '12k'"):
        env.read_int("COUNT", default=1)


@pytest.mark.parametrize(("text", "least"), [("0", 1), ("-1", 0)])
def test_a_number_below_the_least_one_is_refused(monkeypatch, text, least):
    monkeypatch.setenv("COUNT", text)
    with pytest.raises(ImproperlyConfigured, match=f"COUNT: expected a whole number of at least {least}, got '{text}'"):
        env.read_int("COUNT", default=1, least=least)
    monkeypatch.setenv("COUNT", str(least))
    assert env.read_int("COUNT", default=1, least=least) == least


@pytest.mark.parametrize(
    ("name", "text"), [("TRUSTED_PROXY_COUNT", "-1"), ("TRIAL_READINGS_AT_ONCE", "0"), ("TRIAL_READINGS_PER_HOUR", "0")]
)
def test_a_setting_without_a_meaning_stops_the_program_with_a_sentence(name, text):
    command = [sys.executable, settings.BASE_DIR / "manage.py", "doctor"]
    ended = subprocess.run(
        command, env=os.environ | {name: text}, capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"{name}: expected a whole number of at least ")
    assert ended.stderr.count("\n") == 1


def test_a_secret_can_come_from_a_file(monkeypatch, tmp_path):
    (tmp_path / "key").write_text("s3cret\n")
    monkeypatch.setenv("SECRET_KEY_FILE", str(tmp_path / "key"))
    assert env.read_text("SECRET_KEY") == "s3cret"


def test_a_missing_secret_file_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("SECRET_KEY_FILE", str(tmp_path / "none"))
    with pytest.raises(ImproperlyConfigured, match="SECRET_KEY_FILE: cannot read"):
        env.read_text("SECRET_KEY")


def test_a_secret_in_a_variable_and_in_a_file_is_refused(monkeypatch, tmp_path):
    (tmp_path / "key").write_text("s3cret")
    monkeypatch.setenv("SECRET_KEY", "another")
    monkeypatch.setenv("SECRET_KEY_FILE", str(tmp_path / "key"))
    with pytest.raises(ImproperlyConfigured, match="SECRET_KEY and SECRET_KEY_FILE: expected one of them, got both"):
        env.read_text("SECRET_KEY")
    monkeypatch.setenv("SECRET_KEY_FILE", "")
    assert env.read_text("SECRET_KEY") == "another"


@pytest.mark.parametrize("password", ["p@ss/word#1?%&:+ ", "simple", "[::1]@"])
def test_a_password_apart_from_the_url_may_have_any_character(monkeypatch, password):
    monkeypatch.setenv("DB", "postgresql://ann@db:5433/register?sslmode=require")
    url = env.read_url("DB", password=password)
    stated = env.parse_database_url(url)
    assert (stated["USER"], stated["PASSWORD"], stated["HOST"]) == ("ann", password, "db")
    assert (stated["PORT"], stated["NAME"], stated["OPTIONS"]["sslmode"]) == ("5433", "register", "require")
    monkeypatch.setenv("BROKER", "redis://redis:6379/0")
    broker = parse_url(env.read_url("BROKER", password=password))
    assert (broker["password"], broker["hostname"], broker["port"]) == (password, "redis", 6379)


def test_two_passwords_of_one_server_are_refused(monkeypatch):
    monkeypatch.setenv("DB", "postgresql://ann:one@db/register")
    assert env.read_url("DB", password="") == "postgresql://ann:one@db/register"
    with pytest.raises(ImproperlyConfigured, match=r"found a password in both\. Remove the one in DB"):
        env.read_url("DB", password="two")
    monkeypatch.delenv("DB")
    with pytest.raises(ImproperlyConfigured, match=r"found no DB\. Set it"):
        env.read_url("DB", password="two")


def test_a_list_is_split_at_commas(monkeypatch):
    monkeypatch.setenv("NAMES", "a, b,,c ")
    assert env.read_list("NAMES") == ["a", "b", "c"]


def test_a_database_url_names_host_and_credentials():
    settings = env.parse_database_url("postgresql://ann:p%40ss@db:5433/register?sslmode=require")
    assert (settings["HOST"], settings["PORT"], settings["NAME"]) == ("db", "5433", "register")
    assert (settings["USER"], settings["PASSWORD"]) == ("ann", "p@ss")
    assert settings["OPTIONS"] == {"connect_timeout": "10", "sslmode": "require"}


def test_a_database_url_may_have_a_connection_timeout():
    settings = env.parse_database_url("postgresql:///register?connect_timeout=3")
    assert settings["OPTIONS"] == {"connect_timeout": "3"}


@pytest.mark.parametrize(
    ("given", "hosts", "expected"),
    [
        ("https://drives.example/", [], "https://drives.example"),
        ("", ["*", ".example", "drives.example"], "https://drives.example"),
        ("", [], "http://127.0.0.1:8100"),
    ],
)
def test_the_public_address_is_given_or_derived_from_the_host_names(monkeypatch, given, hosts, expected):
    monkeypatch.setenv("PUBLIC_URL", given)
    monkeypatch.setenv("PORT", "8100")
    assert env.read_public_url("PUBLIC_URL", hosts) == expected


@pytest.mark.parametrize(
    "given", ["drives.example", "ftp://drives.example", "https://drives.example/register", "https://"]
)
def test_an_invalid_public_address_is_refused(monkeypatch, given):
    monkeypatch.setenv("PUBLIC_URL", given)
    with pytest.raises(ImproperlyConfigured, match="PUBLIC_URL: expected https://name without a path"):
        env.read_public_url("PUBLIC_URL", [])


def test_a_database_url_can_name_a_socket_directory():
    assert env.parse_database_url("postgresql://ann@/register?host=/run/pg")["HOST"] == "/run/pg"


def test_another_engine_is_refused():
    with pytest.raises(ImproperlyConfigured, match="expected postgresql"):
        env.parse_database_url("sqlite:///register.db")


def test_a_command_without_a_register_ends_in_one_sentence(tmp_path):
    """Without DATABASE_URL and a running register, the message names the settings and has no traceback."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("DATABASE_URL", "REDIS"))}
    command = [sys.executable, settings.BASE_DIR / "manage.py", "check_host", "lab-1"]
    environment["DRIVECERT_DATA"] = str(tmp_path)
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1
    assert ended.stderr.startswith(f"No register runs on {tmp_path}, and DATABASE_URL is unset: set DRIVECERT_DATA")


def test_a_command_whose_reader_closes_the_pipe_ends_without_a_message():
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, settings.BASE_DIR / "manage.py", "help"]
    with os.fdopen(writing, "wb") as closed:
        ended = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, check=False, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("stated", "is_wanted"),
    [({}, True), ({"PRODUCTION": "yes"}, False), ({"PRODUCTION": "yes", "EXAMPLE_RUNS": "yes"}, True)],
)
def test_a_production_register_has_example_runs_only_on_request(stated, is_wanted):
    inherited = {name: value for name, value in os.environ.items() if name not in {"EXAMPLE_RUNS", "PRODUCTION"}}
    done = run_with(inherited | COMPLETE | stated, "from webapp import settings; print(settings.EXAMPLE_RUNS)")
    assert done.stdout.strip() == str(is_wanted)


COMPLETE = {
    "SECRET_KEY": "a-key-of-a-test-0123456789-abcdefghij",
    "ENCRYPTION_KEYS": "another-key-of-tests-9876543210-klmnop",
    "ALLOWED_HOSTS": "drives.example",
    "REDIS_URL": "redis://localhost",
    "DATABASE_URL": "postgresql:///register",
}


def run_with(environment, code):
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize("missing", ["SECRET_KEY", "ENCRYPTION_KEYS", "ALLOWED_HOSTS"])
def test_a_production_register_does_not_start_with_defaults_of_development(missing):
    environment = {**os.environ, **COMPLETE, "PRODUCTION": "yes"}
    code = "from webapp import settings; print(settings.PASSKEY_DOMAIN)"
    assert run_with(environment, code).stdout.strip() == "drives.example"
    del environment[missing]
    assert f"PRODUCTION: set {missing}" in run_with(environment, code).stderr


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [("DIGEST_HOUR", "24", "DIGEST_HOUR: expected an hour from 0 to 23, got 24."),
     ("MAIL_PROVIDER", "postmark", "MAIL_PROVIDER is postmark, but there is no key: set MAIL_PROVIDER_KEY.")],
)  # fmt: skip
def test_an_invalid_setting_of_mail_stops_the_program_with_a_sentence(name, value, message):
    command = [sys.executable, settings.BASE_DIR / "manage.py", "doctor"]
    ended = subprocess.run(
        command, env=os.environ | {name: value}, capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith(message)


def test_networks_are_read_and_an_address_is_one(monkeypatch):
    monkeypatch.setenv("PROXIES", "10.0.0.0/8, fd00::/8,192.0.2.1")
    assert [str(network) for network in env.read_networks("PROXIES")] == ["10.0.0.0/8", "fd00::/8", "192.0.2.1/32"]
    monkeypatch.delenv("PROXIES")
    assert env.read_networks("PROXIES") == []


@pytest.mark.parametrize("text", ["1", "10.0.0.1/8", "10.0.0.0/33", "proxy.example.org"])
def test_what_is_no_network_is_refused(monkeypatch, text):
    monkeypatch.setenv("PROXIES", text)
    with pytest.raises(ImproperlyConfigured, match="PROXIES: expected networks such as "):
        env.read_networks("PROXIES")


def test_a_second_site_needs_a_host_name_of_its_own(monkeypatch):
    monkeypatch.setenv("FILES", "https://files.example.org/")
    assert env.read_origin("FILES", other_than="https://example.org") == "https://files.example.org"
    with pytest.raises(ImproperlyConfigured, match="FILES: expected another host name than that of"):
        env.read_origin("FILES", other_than="http://files.example.org:8000")
    monkeypatch.setenv("FILES", "files.example.org")
    with pytest.raises(ImproperlyConfigured, match="FILES: expected https://name without a path"):
        env.read_origin("FILES", other_than="https://example.org")
    monkeypatch.delenv("FILES")
    assert env.read_origin("FILES", other_than="https://example.org") == ""


def test_an_object_storage_without_https_is_refused_with_a_sentence():
    environment = os.environ | {"S3_ENDPOINT": "s3.example.org:9000"}
    command = [sys.executable, "-c", "import webapp.settings"]
    done = subprocess.run(command, env=environment, cwd=settings.BASE_DIR, capture_output=True, text=True, check=False)
    sentence = "S3_ENDPOINT: expected https://name or https://name/path, got 's3.example.org:9000'"
    assert (done.returncode, sentence in done.stderr) == (1, True)


def test_an_address_may_have_a_path(monkeypatch):
    monkeypatch.setenv("COLLECTOR", "https://storage.example.org/storage/v1/s3/")
    assert env.read_url_prefix("COLLECTOR") == "https://storage.example.org/storage/v1/s3"
    monkeypatch.delenv("COLLECTOR")
    assert env.read_url_prefix("COLLECTOR") == ""


def test_a_refused_address_is_shown_without_its_password(monkeypatch):
    monkeypatch.setenv("COLLECTOR", "ftp://user:secret@collector.example.org")
    with pytest.raises(ImproperlyConfigured, match=r"got 'collector\.example\.org'$"):
        env.read_url_prefix("COLLECTOR")


@pytest.mark.parametrize("text", ["", "authorization=Bearer abc", "a=b, x-key = c=d"])
def test_headers_of_requests_are_names_with_values(monkeypatch, text):
    monkeypatch.setenv("HEADERS", text)
    assert env.read_headers("HEADERS") == text


@pytest.mark.parametrize("text", ["Bearer secret", "a=b,secret", "a b=secret", "=secret"])
def test_other_headers_are_refused_without_being_shown(monkeypatch, text):
    monkeypatch.setenv("HEADERS", text)
    with pytest.raises(ImproperlyConfigured, match="HEADERS: expected name=value") as refused:
        env.read_headers("HEADERS")
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(("text", "share"), [("", 0.5), ("0", 0), ("1", 1), ("0.25", 0.25)])
def test_a_share_is_a_number_from_0_to_1(monkeypatch, text, share):
    monkeypatch.setenv("SHARE", text)
    assert env.read_share("SHARE", default=0.5) == share


@pytest.mark.parametrize("text", ["-0.1", "1.1", "half", "nan"])
def test_another_share_is_refused(monkeypatch, text):
    monkeypatch.setenv("SHARE", text)
    with pytest.raises(ImproperlyConfigured, match="SHARE: expected a number from 0 to 1, got "):
        env.read_share("SHARE", default=0.5)


@pytest.mark.parametrize("given", ["s3://bucket", "s3://bucket/a/prefix", "directory"])
def test_a_store_of_the_settings_is_a_directory_or_a_bucket(monkeypatch, given):
    monkeypatch.setenv("EVIDENCE_STORE", given)
    assert env.read_evidence_store("EVIDENCE_STORE") == given


@pytest.mark.parametrize("given", ["s3:///prefix", "/srv/evidence", "https://s3.example/bucket", "s3://bucket?x=1"])
def test_another_store_is_refused(monkeypatch, given):
    monkeypatch.setenv("EVIDENCE_STORE", given)
    with pytest.raises(ImproperlyConfigured, match="expected directory or s3://bucket/prefix"):
        env.read_evidence_store("EVIDENCE_STORE")
