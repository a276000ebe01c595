"""Calls of the native reader, `drivetest read`, as a limited process. results/ingest writes its output into rows."""
