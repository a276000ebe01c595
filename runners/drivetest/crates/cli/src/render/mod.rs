//! Terminal texts: summaries, verdicts, tables and findings, and the exit codes of the commands.

pub mod exit_codes;
pub mod findings;
pub mod side_file;
pub mod tables;
pub mod verdict;
pub mod ycsb;
