"""Tests of traces. They use OpenTelemetry in a process without a collector in its environment (webapp/__init__.py)."""

import sys

if sys.modules.get("opentelemetry", "absent") is None:
    del sys.modules["opentelemetry"]
