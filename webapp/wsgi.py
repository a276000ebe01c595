"""The WSGI application that granian serves."""

import os

from django.core.wsgi import get_wsgi_application

from webapp.database.base import ANSWER_MOST_S, BoundedConnection
from webapp.monitoring.page_times import count_pages
from webapp.register.http.release import release
from webapp.register.snapshots.serving import serve_snapshots_first
from webapp.supervisor.launch import end_with_main_program
from webapp.tracing.setup import start_tracing

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

# Granian's serving processes outlive a main process that was killed, and would keep the port.
end_with_main_program()

# Its threads are few: a database that accepts queries and does not answer must not block them all.
BoundedConnection.answer_most_s = ANSWER_MOST_S

_django = get_wsgi_application()
release()  # now: an upgrade may replace the files of this release while it runs
start_tracing()
application = count_pages(serve_snapshots_first(_django))
