//! `drivetest identify`: what a device is, and whether it may be written to.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use drivetest_device::Identity;

use super::answer;

/// The device in question.
#[derive(clap::Args)]
pub struct Args {
    /// A block device, a partition of one, or a plain file.
    device: PathBuf,
    /// Print JSON (docs/formats.md), as it is also printed where standard output is no terminal
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Prints a `drivecert.identity/1` record, or text for the person at a terminal.
    pub fn run(self) -> ExitCode {
        let identity = match drivetest_device::identify(&self.device) {
            Ok(identity) => identity,
            Err(error) => return answer::cannot(&error),
        };
        if self.json || !io::stdout().is_terminal() {
            return answer::tell(&identity, ExitCode::SUCCESS);
        }
        match io::stdout().write_all(told(&identity).as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => answer::cannot(&format_args!("standard output: cannot write the answer: {error}")),
        }
    }
}

fn told(identity: &Identity) -> String {
    let kind = serde_json::to_value(identity.kind).ok();
    let kind = kind.as_ref().and_then(|kind| kind.as_str()).unwrap_or("unknown");
    let note = if kind == "virtual" {
        ": no drive of its own, its runs never certify one"
    } else {
        ""
    };
    let of = |what: &str, text: &Option<String>| text.as_ref().map(|text| format!(", {what} {text}"));
    let facts = [
        of("model", &identity.model),
        of("serial", &identity.serial),
        of("firmware", &identity.firmware),
    ];
    let facts: String = facts.into_iter().flatten().collect();
    let mut text = format!(
        "{}: {} bytes, {kind}{note}{facts}\n  drive key, for --expect-drive: {}\n",
        identity.path.display(),
        identity.size_bytes,
        identity.drive_key
    );
    for refusal in &identity.refusals {
        text.push_str(&format!("  refused ({}): {}\n", refusal.id, refusal.sentence));
    }
    if identity.refusals.is_empty() {
        text.push_str("  may be written to: nothing speaks against it\n");
    }
    for warning in &identity.warnings {
        text.push_str(&format!("  warning ({}): {}\n", warning.id, warning.sentence));
    }
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_told_the_key_and_whether_it_may_be_written_to() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(1 << 20).unwrap();
        let identity = drivetest_device::identify(file.path()).unwrap();
        let text = told(&identity);
        assert!(
            text.contains("1048576 bytes, virtual: no drive of its own"),
            "{text}"
        );
        assert!(
            text.contains(&format!("for --expect-drive: {}\n", identity.drive_key)),
            "{text}"
        );
        let refused = identity
            .refusals
            .iter()
            .all(|refusal| text.contains(&refusal.sentence));
        assert!(
            refused && (!identity.refusals.is_empty() || text.contains("may be written to")),
            "{text}"
        );
    }
}
