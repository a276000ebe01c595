//! `drivetest identify`: what a device is, and whether it may be written to; without one, which drives there are.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use drivetest_device::{DeviceError, Drives, Identity, ListedDrive};
use serde::Serialize;

use super::answer;

/// The device in question.
#[derive(clap::Args)]
pub struct Args {
    /// A block device, a partition of one, or a plain file; without it, all whole drives are listed
    device: Option<PathBuf>,
    /// Print JSON (docs/formats.md), as it is also printed where standard output is no terminal
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Prints a `drivecert.identity/1` record, or text for the person at a terminal; without a device `drivecert.drives/1`.
    pub fn run(self) -> ExitCode {
        match self.device {
            Some(device) => print(drivetest_device::identify(&device), told, self.json),
            None => print(drivetest_device::list(), told_of_all, self.json),
        }
    }
}

fn print<Answer: Serialize>(
    answer: Result<Answer, DeviceError>,
    told: fn(&Answer) -> String,
    is_json: bool,
) -> ExitCode {
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => return answer::cannot(&error),
    };
    if is_json || !io::stdout().is_terminal() {
        return answer::tell(&answer, ExitCode::SUCCESS);
    }
    match io::stdout().write_all(told(&answer).as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => answer::cannot(&format_args!("standard output: cannot write the answer: {error}")),
    }
}

fn told_of_all(drives: &Drives) -> String {
    let line = |drive: &ListedDrive| {
        let named: Vec<_> = [&drive.model, &drive.serial]
            .into_iter()
            .flatten()
            .cloned()
            .collect();
        let (path, key) = (drive.path.display(), &drive.drive_key);
        format!(
            "{path}: {} bytes {}\n  drive key: {key}\n",
            drive.size_bytes,
            named.join(" ")
        )
    };
    drives.drives.iter().map(line).collect()
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

    #[test]
    fn a_person_is_told_the_key_of_each_drive() {
        let mut drives = drivetest_device::list().unwrap();
        drives.drives.retain(|_| false);
        assert_eq!(told_of_all(&drives), "");
        drives.drives.push(ListedDrive {
            path: "/dev/nvme0n1".into(),
            kind: drivetest_device::DriveKind::Nvme,
            drive_key: "nvme:M:S1".into(),
            model: Some("M".into()),
            serial: Some("S1".into()),
            size_bytes: 512,
        });
        assert_eq!(
            told_of_all(&drives),
            "/dev/nvme0n1: 512 bytes M S1\n  drive key: nvme:M:S1\n"
        );
    }
}
