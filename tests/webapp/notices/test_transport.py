"""Providers behind django-anymail, with an HTTP server on this machine in their place."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from webapp.notices import providers
from webapp.notices.models import Mail

pytestmark = pytest.mark.django_db


@pytest.fixture
def provider(settings):
    """Run the API of Postmark, which stores requests and answers with the statuses that a test queues."""
    requests, statuses = [], []

    class Api(BaseHTTPRequestHandler):
        def do_POST(self):
            content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status = statuses.pop(0) if statuses else 200
            if status == 200:
                requests.append((self.headers["X-Postmark-Server-Token"], content))
            answer = json.dumps({"ErrorCode": 0, "Message": "OK", "To": content["To"], "MessageID": "1"}).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            """Write nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    settings.EMAIL_BACKEND = providers.backend_of("postmark")
    url = f"http://127.0.0.1:{server.server_port}/"
    settings.ANYMAIL = providers.anymail_settings("postmark", "our-key", url, 10)
    settings.PUBLIC_URL = "https://drivecert.example"
    yield requests, statuses
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_provider_gets_the_message_with_the_key_and_the_headers(provider, declined, sweep_mail):
    requests, _ = provider
    declined()
    sweep_mail()
    ((key, content),) = requests
    assert (key, content["To"]) == ("our-key", "vera@example.org")
    assert "A reviewer declined the submission" in content["TextBody"]
    headers = {header["Name"]: header["Value"] for header in content["Headers"]}
    assert headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert Mail.objects.get().state == "sent"


@pytest.mark.parametrize("status", [401, 429, 500])
def test_errors_of_the_account_or_the_provider_are_retried(provider, declined, sweep_mail, status):
    requests, statuses = provider
    statuses.append(status)
    declined()
    sweep_mail()
    assert (Mail.objects.get().state, Mail.objects.get().code) == ("pending", f"HTTP {status}")
    sweep_mail(minutes=5)
    assert Mail.objects.get().state == "sent"
    assert len(requests) == 1


def test_a_refused_message_is_final(provider, declined, sweep_mail):
    provider[1].append(400)
    declined()
    sweep_mail()
    assert (Mail.objects.get().state, Mail.objects.get().code) == ("failed", "HTTP 400")


def test_a_provider_that_does_not_answer_is_tried_again(declined, sweep_mail, settings):
    settings.EMAIL_BACKEND = providers.backend_of("postmark")
    settings.ANYMAIL = providers.anymail_settings("postmark", "our-key", "http://127.0.0.1:9/", 10)
    declined()
    sweep_mail()
    assert (Mail.objects.get().state, Mail.objects.get().code) == ("pending", "connection")
