"""Pages, forms, API, login, settings and the Celery app: everything that faces people."""

import os
import sys

COLLECTOR = "OTEL_EXPORTER_OTLP_ENDPOINT"
# redis imports the metrics of OpenTelemetry if they are installed: 0.1 s and 3 MB of each process. Without a collector,
# they appear not to be installed. This package is imported before redis.
if not os.environ.get(COLLECTOR) and not os.environ.get(f"{COLLECTOR}_FILE"):
    sys.modules.setdefault("opentelemetry", None)  # type: ignore[arg-type]  # None stops the import

# Imported here so that tasks declared with `shared_task` find the app in every process that loads Django.
from webapp.celery import app as celery_app  # noqa: E402 - after that

__all__ = ["celery_app"]
