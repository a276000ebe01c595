"""A mail server on this machine that stores what it accepts, and answers with the codes that a test queues."""

import socket
from collections import defaultdict
from email import message_from_bytes, policy

from aiosmtpd.controller import Controller


class MailServer:
    """The state of the server: accepted messages, and the answers of the next attempts for an address."""

    def __init__(self):
        self.messages = []
        self.recipients = []
        self.answers = defaultdict(list)
        self.content_answers = []
        self.sender_answers = []
        self.connections = 0
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.controller = None

    def start(self):
        self.controller = Controller(self, hostname="127.0.0.1", port=self.port)
        self.controller.start()

    def stop(self):
        if self.controller:
            self.controller.stop()
            self.controller = None

    async def handle_EHLO(self, server, session, envelope, hostname, responses):  # noqa: N802
        self.connections += 1
        session.host_name = hostname
        return responses

    async def handle_MAIL(self, server, session, envelope, address, options):  # noqa: N802
        if self.sender_answers:
            return self.sender_answers.pop(0)
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(self, server, session, envelope, address, options):  # noqa: N802
        if self.answers[address]:
            return self.answers[address].pop(0)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):  # noqa: N802
        if self.content_answers:
            return self.content_answers.pop(0)
        self.messages.append(message_from_bytes(envelope.content.replace(b"\r\n", b"\n"), policy=policy.default))
        self.recipients.append(envelope.rcpt_tos)
        return "250 OK"
