"""OpenTelemetry traces, sent to the collector that OTEL_EXPORTER_OTLP_ENDPOINT names."""
