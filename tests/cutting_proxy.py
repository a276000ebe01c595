"""Proxies between a client and a server that cut connections after a number of bytes or before the response, or refuse
a request themselves.
"""

import socket
import threading
from contextlib import suppress

PIECE_BYTES = 64 * 1024


class CuttingProxy:
    """Forwards connections, and resets each one after `cut_bytes` of the client; `cuts_count` counts them."""

    def __init__(self, port: int, cut_bytes: int) -> None:
        self.server_port, self.cut_bytes, self.cuts_count = port, cut_bytes, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.threads = [threading.Thread(target=self._accept, daemon=True)]

    def __enter__(self) -> "CuttingProxy":
        self.threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for thread in self.threads:
            thread.join(10)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                thread = threading.Thread(target=self._forward, args=(client,), daemon=True)
                self.threads.append(thread)
                thread.start()

    def _forward(self, client: socket.socket) -> None:
        server = socket.create_connection(("127.0.0.1", self.server_port))
        back = threading.Thread(target=_pump, args=(server, client), daemon=True)
        back.start()
        sent = 0
        with client, server, suppress(OSError):
            while chunk := client.recv(PIECE_BYTES):
                server.sendall(chunk)
                sent += len(chunk)
                if sent >= self.cut_bytes:
                    self.cuts_count += 1
                    break
            for side in (client, server):
                side.shutdown(socket.SHUT_RDWR)
        back.join(10)


class ResponseDroppingProxy(CuttingProxy):
    """Forwards each connection until the server responds, and resets it then; `cuts_count` counts the responses."""

    def __init__(self, port: int) -> None:
        super().__init__(port, 0)

    def _forward(self, client: socket.socket) -> None:
        server = socket.create_connection(("127.0.0.1", self.server_port))
        forth = threading.Thread(target=_pump, args=(client, server), daemon=True)
        forth.start()
        with client, server, suppress(OSError):
            if server.recv(1):
                self.cuts_count += 1
            for side in (client, server):
                side.shutdown(socket.SHUT_RDWR)
        forth.join(10)


class RefusingProxy(CuttingProxy):
    """Responds itself to the first request of a method (of any method, if it is empty), and forwards the others."""

    def __init__(self, port: int, response: bytes, method: bytes = b"") -> None:
        super().__init__(port, 0)
        self.response, self.method, self.lock, self.is_first = response, method, threading.Lock(), True

    def _forward(self, client: socket.socket) -> None:
        server = socket.create_connection(("127.0.0.1", self.server_port))
        back = threading.Thread(target=_pump, args=(server, client), daemon=True)
        back.start()
        with client, server, suppress(OSError):
            while chunk := client.recv(PIECE_BYTES):
                if self._refuses(chunk):
                    client.sendall(self.response)
                    client.shutdown(socket.SHUT_WR)
                    # The response would be lost if this side closed before it has read the request.
                    while client.recv(PIECE_BYTES):
                        pass
                    break
                server.sendall(chunk)
            server.shutdown(socket.SHUT_RDWR)
        back.join(10)

    def _refuses(self, chunk: bytes) -> bool:
        with self.lock:
            is_refused = self.is_first and chunk.startswith(self.method)
            self.is_first &= not is_refused
            return is_refused


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while chunk := source.recv(PIECE_BYTES):
            target.sendall(chunk)
    with suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)
