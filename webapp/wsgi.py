"""The WSGI application that granian serves."""

import os

from django.core.wsgi import get_wsgi_application

from webapp.register.snapshots.serving import snapshots_first
from webapp.supervisor.launch import end_with_main_program

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

# Granian's serving processes outlive a main process that was killed, and would keep the port.
end_with_main_program()

application = snapshots_first(get_wsgi_application())
