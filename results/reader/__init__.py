"""Calls of the native reader, `drivetest read`, as a limited process. results/ingest writes its output into rows.

The reader judges each run, also short ones: runners/drivetest/crates/logs/src/judge makes the verdict.
"""
