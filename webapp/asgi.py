"""The ASGI application that granian serves in the process of waiting clients (webapp/live)."""

import os

import django

from webapp.supervisor.launch import end_with_main_program

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
end_with_main_program()
django.setup()

from webapp.database.base import ANSWER_MOST_S, BoundedConnection  # noqa: E402 - Django needs its settings first
from webapp.live.server import LiveServer  # noqa: E402

BoundedConnection.answer_most_s = ANSWER_MOST_S

application = LiveServer()
