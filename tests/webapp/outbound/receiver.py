"""A receiver of requests with TLS: a real server on the loopback interface, with a certificate of its own authority."""

import socket
import ssl
import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address, ip_network

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

NAME = "receiver.example"
ADDRESS, OTHER_ADDRESS = "127.0.0.1", "127.0.0.9"
RECEIVER_NETWORK = [ip_network(f"{ADDRESS}/32")]


def _name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def make_certificate(folder, names=(NAME,)):
    """Write an authority and a certificate for names; return the paths of the authority and of certificate with key."""
    authority_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    now = datetime.now(UTC)
    span = {"before": now - timedelta(hours=1), "after": now + timedelta(days=1)}

    def certificate(subject, public_key, extension, *, is_authority):
        return (
            x509.CertificateBuilder()
            .subject_name(_name(subject))
            .issuer_name(_name("authority of the test"))
            .public_key(public_key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(span["before"])
            .not_valid_after(span["after"])
            .add_extension(extension, critical=is_authority)
            .sign(authority_key, hashes.SHA256())
        )

    constraint = x509.BasicConstraints(ca=True, path_length=None)
    authority = certificate("authority of the test", authority_key.public_key(), constraint, is_authority=True)
    alternatives = [x509.DNSName(name) for name in names] + [x509.IPAddress(ip_address(ADDRESS))]
    own = certificate(names[0], key.public_key(), x509.SubjectAlternativeName(alternatives), is_authority=False)
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    authority_file, own_file = folder / "authority.pem", folder / "own.pem"
    authority_file.write_bytes(authority.public_bytes(pem))
    own_file.write_bytes(private + own.public_bytes(pem))
    return authority_file, own_file


class Receiver:
    """What the server received, and how it responds: `respond` is called with the handler, by default with 204."""

    def __init__(self, port):
        self.port, self.requests = port, []
        self.respond = lambda handler: reply(handler, 204)

    def url(self, scheme="https", host=NAME):
        return f"{scheme}://{host}:{self.port}/hook"


class Resolver:
    """A resolver of names: `found` has the addresses of each name, one list for each question, the last one for all."""

    def __init__(self, monkeypatch, **found):
        self.real, self.questions = socket.getaddrinfo, []
        self.found = {NAME: [[ADDRESS]]} | found
        monkeypatch.setattr(socket, "getaddrinfo", self.resolve)

    def resolve(self, host, port, *args, **kwargs):
        if host not in self.found:
            return self.real(host, port, *args, **kwargs)
        self.questions.append(host)
        lists = self.found[host]
        addresses = lists.pop(0) if len(lists) > 1 else lists[0]
        return [row for address in addresses for row in self.real(address, port, type=socket.SOCK_STREAM)]


def reply(handler, status, body=b"", **headers):
    """Send a whole response."""
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def drip(handler, seconds):
    """Send one byte of a response at a time, for ever or until the other side leaves."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    while True:
        handler.wfile.write(b"x")
        handler.wfile.flush()
        time.sleep(seconds)


@contextmanager
def receiving(certificate=None, host=ADDRESS, port=0):
    """Yield a receiver, with TLS if there is a certificate."""
    server = ThreadingHTTPServer((host, port), _Handler)
    server.receiver = Receiver(server.server_port)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server.receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.do_POST()

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        receiver = self.server.receiver
        receiver.requests.append((self.path, dict(self.headers), body))
        try:
            receiver.respond(self)
        except OSError:
            self.close_connection = True  # the other side left

    def log_message(self, *_):
        pass
