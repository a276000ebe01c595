//! `drivetest keys`: the keys of a load's configuration.

use std::process::ExitCode;

use drivetest_load::config::{KEY_DOCS, KeyDoc};

use super::log_file::{complain, write};

/// Tell the keys of a load's configuration, with their values and defaults
#[derive(clap::Args)]
pub struct Args {
    /// Only the keys whose name holds this
    #[arg(value_name = "TEXT")]
    text: Option<String>,
}

/// Exit status when nothing can be told.
const EXIT_UNANSWERED: u8 = 3;

impl Args {
    /// Prints the keys.
    pub fn run(self) -> ExitCode {
        let text = self.text.as_deref().unwrap_or_default();
        let told: String = KEY_DOCS
            .iter()
            .filter(|key| key.name.contains(text))
            .map(paragraph)
            .collect();
        if told.is_empty() {
            complain(&format!("no key's name holds '{text}'"));
            return ExitCode::from(EXIT_UNANSWERED);
        }
        match write(&told) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                complain(&format!("standard output: cannot write the keys: {error}"));
                ExitCode::from(EXIT_UNANSWERED)
            }
        }
    }
}

/// Values, default and loads of a key, in one line.
pub fn form(key: &KeyDoc) -> String {
    let default = key
        .default
        .map_or_else(|| "mandatory".to_owned(), |default| format!("default {default}"));
    format!("{}; {default} ({})", key.values, key.loads)
}

fn paragraph(key: &KeyDoc) -> String {
    format!("{}: {}\n    {}\n", key.name, form(key), key.meaning)
}
