"""Check `drivetest submit` and `agent` in an empty root directory, with a TLS server found by name, and with a proxy.

Usage: check_register.py PROGRAM LOG, as root. The servers and the program are in a network of their own, in which
the only name server is this script. The root directory has the program, the log and the certificate, and no other file.
The agent also needs /proc, because it runs itself as `drivetest host`.
"""

import base64
import ctypes
import fcntl
import http.server
import json
import os
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

REGISTER, PROXY = "register.example", "proxy.example"
TLS_PORT, PROXY_PORT, DNS_PORT = 443, 3128, 53
CLONE_NEWNET, SIOCSIFFLAGS, IFF_UP = 0x40000000, 0x8914, 1
SUBMISSION = {
    "id": "s1", "url": "/submissions/s1/", "state": "in-review",
    "runs": [{"id": "r1", "url": "/runs/r1/", "ycsb": None, "verdict": {"outcome": "pass", "headline": "PASS"}}],
}  # fmt: skip


def require(is_met, problem):
    """End the check if a condition is not met."""
    if not is_met:
        sys.exit(problem)


class Register(http.server.BaseHTTPRequestHandler):
    """The part of a register that a submission and an agent need."""

    protocol_version = "HTTP/1.1"
    received = bytearray()
    answer, answered = b"", threading.Event()

    def respond(self, status, document=None, **headers):
        body = b"" if document is None else json.dumps(document).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def do_POST(self):
        content = self.body()
        if self.path == "/api/v1/agents/":
            require(json.loads(content)["code"] == "check", "another code")
            self.respond(201, {"agent": "a-1", "host": "lab-1", "live_url": ""})
            return
        require(self.headers["Authorization"] == "Bearer dc_check", "no token")
        if self.path == "/uploads/":
            self.received.clear()
            self.respond(201, Location="/uploads/u1/", Drivecert_Draft="d1")
        else:
            self.respond(201, {"submission": SUBMISSION, "notes": []})

    def do_PATCH(self):
        self.received.extend(self.body())
        self.respond(204, Upload_Offset=str(len(self.received)))

    def do_PUT(self):
        require(self.path == "/api/v1/agents/exchanges/x-1/", "another path")
        Register.answer = self.body()
        self.respond(204)
        Register.answered.set()

    def do_GET(self):
        if self.path.startswith("/api/v1/live/agents/"):
            self.wait()
            return
        self.respond(200, {"state": "read", "facts": {}})

    def wait(self):
        """List one exchange, and then let the agent wait."""
        if self.headers["If-None-Match"]:
            self.rfile.read(1)
            return
        requests = base64.b64encode(b'{"verb": "health"}\n').decode()
        exchanges = [{"id": "x-1", "requests": requests}]
        self.respond(200, {"agent": "a-1", "program_sha256": "", "exchanges": exchanges}, ETag='"1"')

    def log_message(self, *_):
        """Print nothing."""


class ConnectProxy:
    """A CONNECT proxy, which counts its connections."""

    def __init__(self):
        self.count, self.listener = 0, socket.create_server(("127.0.0.1", PROXY_PORT))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.forward, args=(client,), daemon=True).start()

    def forward(self, client):
        head = b""
        while b"\r\n\r\n" not in head:
            head += client.recv(4096)
        require(head.startswith(f"CONNECT {REGISTER}:{TLS_PORT} ".encode()), "another request than CONNECT")
        self.count += 1
        server = socket.create_connection(("127.0.0.1", TLS_PORT))
        client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        threading.Thread(target=pump, args=(client, server), daemon=True).start()
        pump(server, client)


def pump(source, target):
    """Forward one direction of a connection until it ends."""
    while chunk := source.recv(65536):
        target.sendall(chunk)
    target.shutdown(socket.SHUT_WR)


def answer_names(server):
    """Answer each query for an IPv4 address with this host, and others with no address."""
    while True:
        query, client = server.recvfrom(512)
        end = query.index(b"\0", 12) + 5
        question = query[12:end]
        is_ipv4 = question[-4:] == b"\0\1\0\1"
        head = query[:2] + b"\x81\x80" + struct.pack(">HHHH", 1, int(is_ipv4), 0, 0)
        record = b"\xc0\x0c\0\1\0\1" + struct.pack(">IH", 60, 4) + socket.inet_aton("127.0.0.1")
        server.sendto(head + question + (record if is_ipv4 else b""), client)


def enter_own_network():
    """Move this process into a network that has only the loopback device. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as device:
        fcntl.ioctl(device, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))


def make_certificates(folder):
    """Make roots.pem, and register.pem with its key."""
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    openssl("req", "-x509", *key, "-keyout", "roots.key", "-out", "roots.pem", "-subj", "/CN=check", "-days", "2")
    openssl("req", *key, "-keyout", "register.key", "-out", "register.csr", "-subj", f"/CN={REGISTER}")
    (folder / "names").write_text(f"subjectAltName=DNS:{REGISTER}\n")
    openssl("x509", "-req", "-in", "register.csr", "-CA", "roots.pem", "-CAkey", "roots.key", "-CAcreateserial",
            "-extfile", "names", "-out", "register.pem", "-days", "2")  # fmt: skip


def serve(folder):
    """Start the servers, and return the proxy."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(folder / "register.pem", folder / "register.key")
    register = http.server.ThreadingHTTPServer(("127.0.0.1", TLS_PORT), Register)
    register.socket = tls.wrap_socket(register.socket, server_side=True)
    threading.Thread(target=register.serve_forever, daemon=True).start()
    names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    names.bind(("127.0.0.1", DNS_PORT))
    threading.Thread(target=answer_names, args=(names,), daemon=True).start()
    return ConnectProxy()


def submit(root, *options, **variables):
    """Run `drivetest submit` in the root directory, and return its exit status."""
    command = ["/drivetest", "submit", "/log", "--register", f"https://{REGISTER}", "--spool-dir", "/spool"]
    command += ["--retry-sec", "0", "--category", "nvme-flash", *options]
    environment = {"DRIVECERT_TOKEN": "dc_check"} | variables
    return subprocess.run(command, env=environment, preexec_fn=lambda: os.chroot(root), check=False).returncode


def check_submit(root, content, proxy, through):
    """Submit the log directly, by the proxy and past the proxy."""
    require(submit(root, "--ca-file", "/roots.pem") == 0, "submit failed")
    require((bytes(Register.received), proxy.count) == (content, 0), "other bytes arrived")
    require(submit(root, SSL_CERT_FILE="/roots.pem", HTTPS_PROXY=through) == 0, "submit failed with a proxy")
    require((bytes(Register.received), proxy.count > 0) == (content, True), "the proxy was not used")
    count = proxy.count
    require(submit(root, "--ca-file", "/roots.pem", HTTPS_PROXY=through, NO_PROXY=REGISTER) == 0, "NO_PROXY")
    require(proxy.count == count, "the proxy was used despite NO_PROXY")


@contextmanager
def proc_mounted(folder):
    """Mount the processes of this host at a folder."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "proc", "proc", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def check_agent(root, **variables):
    """Join the register, and let the agent answer an exchange and end by a signal."""
    Register.answered.clear()
    shutil.rmtree(root / "etc", ignore_errors=True)

    def start(*words):
        return subprocess.Popen([shutil.which("chroot"), root, "/drivetest", "agent", *words], env=variables)

    joined = start("join", f"https://{REGISTER}", "check", "--ca-file", "/roots.pem", "--no-service").wait()
    require(joined == 0, "agent join failed")
    agent = start()
    arrived = Register.answered.wait(60)
    agent.send_signal(signal.SIGTERM)
    require((arrived, agent.wait()) == (True, 0), "the agent answered nothing, or did not end")
    require(b"drivecert.host-health/1" in Register.answer, f"another answer: {Register.answer[:500]!r}")


def main(program, log):
    """Check submit and agent, and that submit refuses a certificate of an unknown authority."""
    try:
        enter_own_network()
    except OSError as error:
        sys.exit(f"submit and agent were not checked: no own network: {error}")
    with tempfile.TemporaryDirectory() as name:
        folder, root = Path(name), Path(name) / "root"
        root.mkdir()
        make_certificates(folder)
        shutil.copy(program, root / "drivetest")
        shutil.copy(log, root / "log")
        shutil.copy(folder / "roots.pem", root)
        proxy = serve(folder)
        through = f"http://{PROXY}:{PROXY_PORT}"
        check_submit(root, Path(log).read_bytes(), proxy, through)
        with proc_mounted(root / "proc"):
            count = proxy.count
            check_agent(root)
            require(proxy.count == count, "the agent used a proxy")
            check_agent(root, HTTPS_PROXY=through)
            require(proxy.count > count, "the agent did not use the proxy")
        # Without the root, the certificate is refused: the submission waits in the spool.
        require(submit(root) == 4, "an unknown certificate was accepted")


if __name__ == "__main__":
    main(*sys.argv[1:])
