//! Terminal texts: summaries, verdicts, tables and findings, and the exit codes of the commands.

pub mod exit_codes;
pub mod findings;
pub mod side_file;
pub mod tables;
pub mod verdict;
pub mod ycsb;

use serde::Serialize;

/// Returns the code of a value in JSON documents, such as `cannot-keep-up`. Empty for a value without one.
pub fn code(value: &impl Serialize) -> String {
    let code = serde_json::to_value(value).ok();
    let code = code.as_ref().and_then(|code| code.as_str());
    code.unwrap_or_default().to_owned()
}
