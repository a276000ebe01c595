"""Calls of the native reader, `drivetest read`, as a limited process. results/ingest writes its output into rows.

The reader judges each run, however short: runners/drivetest/crates/logs/src/judge makes the verdict.
"""
