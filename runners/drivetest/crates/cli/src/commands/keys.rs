//! `drivetest keys`: the keys of a load configuration.

use std::process::ExitCode;

use drivetest_load::config::{KEYS, Key};

use crate::output;

/// Arguments of `keys`.
#[derive(clap::Args)]
pub struct Args {
    /// Text in the name of each key to list [default: list all keys]
    #[arg(value_name = "TEXT")]
    text: Option<String>,
}

impl Args {
    /// Prints the keys.
    pub fn run(self) -> ExitCode {
        let text = self.text.as_deref().unwrap_or_default();
        let keys = KEYS.iter().filter(|key| key.name.contains(text));
        let keys: String = keys.map(paragraph).collect();
        if keys.is_empty() {
            let message = format!("no key contains '{text}'; run `drivetest keys` for all keys");
            return output::fail(&message);
        }
        match output::print(&keys) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => output::fail(&format_args!("standard output: cannot write the keys: {error}")),
        }
    }
}

/// Returns the values, the default and the loads of a key, in one line.
pub fn values_and_default(key: &Key) -> String {
    let default = key.default.map(|default| format!("default {default}"));
    let default = default.unwrap_or_else(|| "mandatory".to_owned());
    format!("{}; {default} ({})", key.values, key.loads())
}

fn paragraph(key: &Key) -> String {
    format!(
        "{}: {}\n    {}\n",
        key.name,
        values_and_default(key),
        key.description
    )
}
