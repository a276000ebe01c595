"""The start of tracing in a process. OpenTelemetry is imported only if the settings name a collector."""

from django.conf import settings

from results.logs.tracing import install


def start_tracing() -> None:
    """Send the traces of this process to the collector, if the settings name one."""
    if settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        from webapp.tracing.tracer import collector_tracer  # noqa: PLC0415 - it takes 0.2 s and 10 MB

        install(collector_tracer())
