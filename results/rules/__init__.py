"""Pure arithmetic and rules, without database. Rust judges logs: runners/drivetest/crates/logs/src/judge."""
