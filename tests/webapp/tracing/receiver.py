"""A collector of traces: an HTTP server that receives OTLP, and parses its protobuf."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.results.builders import wait_for


class Receiver:
    """The spans that arrived, and the headers of the requests."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.resources: list[dict[str, str]] = []
        self.headers: list[dict[str, str]] = []
        self.url = ""

    def receive(self, body: bytes, headers: dict[str, str]) -> None:
        """Add the spans of a request."""
        self.headers.append(headers)
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.resources.append(attributes(resource.resource))
            for scope in resource.scope_spans:
                self.spans += scope.spans

    def named(self, name: str) -> Any:
        """Wait for the span with this name, and return it."""
        return wait_for(lambda: next((span for span in self.spans if span.name == name), None))


def attributes(span: Any) -> dict[str, str]:
    """Return the attributes of a span or resource as texts."""
    found = ((each.key, each.value) for each in span.attributes)
    return {key: str(getattr(value, value.WhichOneof("value"))) for key, value in found}


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Run a receiver on a free port of loopback."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.path == "/v1/traces"
            receiver.receive(body, {name.lower(): value for name, value in self.headers.items()})
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Write no line for each request."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
