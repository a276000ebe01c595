//! `drivetest identify`: the identity and the safety of a device, or the list of drives.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;

use drivetest_device::{DriveUse, Drives, Identity, ListedDrive};
use rustix::process::geteuid;

use crate::output::{code, print_record};
use crate::size;

/// Arguments of `identify`.
#[derive(clap::Args)]
pub struct Args {
    /// Block device, partition or plain file to identify [default: list all drives]
    device: Option<PathBuf>,
    /// Print JSON, as docs/reference/formats.md describes, even if standard output is a terminal
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Prints a `drivecert.identity/1` record, or without a device a `drivecert.drives/1` record. On a terminal, prints text.
    pub fn run(self) -> ExitCode {
        let Some(device) = self.device else {
            // The register lists the drives of its own host without --json. It needs no use, which takes longer and may
            // fail.
            let drives = match self.json || io::stdout().is_terminal() {
                true => drivetest_device::list_with_use(),
                false => drivetest_device::list(),
            };
            return print_record(drives.map(|drives| (drives, 0)), self.json, drives_text);
        };
        let identity = drivetest_device::identify(&device);
        print_record(identity.map(|identity| (identity, 0)), self.json, identity_text)
    }
}

fn drives_text(drives: &Drives) -> String {
    let line = |drive: &ListedDrive| {
        let names: Vec<_> = [&drive.model, &drive.serial]
            .into_iter()
            .flatten()
            .cloned()
            .collect();
        let comma = if names.is_empty() { "" } else { ", " };
        format!(
            "{}: {}{comma}{}: {}\n  drive key: {}\n",
            drive.path.display(),
            size::text(drive.size_bytes),
            names.join(" "),
            drive
                .usage
                .as_ref()
                .map_or_else(|| "use not reported".to_owned(), use_text),
            drive.drive_key
        )
    };
    drives.drives.iter().map(line).collect()
}

/// Mounts that the list of drives shows for one drive.
const MOUNTS_SHOWN: usize = 3;

/// Returns the strongest use of a drive, or its data.
fn use_text(usage: &DriveUse) -> String {
    let mounts = &usage.mounts;
    if !mounts.is_empty() {
        let points = mounts.iter().take(MOUNTS_SHOWN);
        let points: Vec<_> = points.map(|mount| mount.point.display().to_string()).collect();
        let more = match mounts.len().saturating_sub(MOUNTS_SHOWN) {
            0 => String::new(),
            count => format!(" and {count} more"),
        };
        return format!("mounted at {}{more}", points.join(", "));
    }
    let holders: Vec<_> = usage
        .holders
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    match usage {
        _ if !holders.is_empty() => format!("used by {}", holders.join(", ")),
        DriveUse { is_swap: true, .. } => "used as swap".to_owned(),
        DriveUse { is_open: true, .. } => "open in another process".to_owned(),
        DriveUse { data: Some(data), .. } => format!("holds {data}"),
        DriveUse {
            signature_error: Some(error),
            ..
        } => format!("its content cannot be read: {error}"),
        _ => unused().to_owned(),
    }
}

/// Returns the identity of a device for people.
pub fn identity_text(identity: &Identity) -> String {
    let kind = code(&identity.kind);
    let note = match kind.as_str() {
        "virtual" => ": not a physical drive; its runs cannot certify one",
        _ => "",
    };
    let of = |what: &str, text: &Option<String>| text.as_ref().map(|text| format!(", {what} {text}"));
    let facts = [
        of("model", &identity.model),
        of("serial", &identity.serial),
        of("firmware", &identity.firmware),
    ];
    let facts: String = facts.into_iter().flatten().collect();
    let mut text = format!(
        "{}: {}, {kind}{note}{facts}\n  drive key (for --expect-drive): {}\n",
        identity.path.display(),
        size::text_with_bytes(identity.size_bytes),
        identity.drive_key
    );
    for refusal in &identity.refusals {
        text.push_str(&format!("  refused ({}): {}\n", refusal.id, refusal.sentence));
    }
    if let Some(content) = content_text(identity) {
        text.push_str(&format!("  {content}\n"));
    }
    for warning in &identity.warnings {
        text.push_str(&format!("  warning ({}): {}\n", warning.id, warning.sentence));
    }
    text
}

/// Returns the result of reading the device; None if it was not read because it is in use.
fn content_text(identity: &Identity) -> Option<String> {
    match (identity.data, &identity.signature_error) {
        (Some(data), _) => Some(format!(
            "holds {data}; a load or prep overwrites it only with --i-know-this-destroys-data"
        )),
        (None, Some(error)) => Some(format!(
            "its content cannot be read: {error}; a load or prep refuses it"
        )),
        (None, None) if identity.refusals.is_empty() => Some(unused().to_owned()),
        (None, None) => None,
    }
}

/// A device without recognised data and without a known user, as root finds it.
const UNUSED: &str = "nothing was recognised on it; not mounted, held or open";

/// Like [`UNUSED`], for a user who does not see the open files of other users.
const UNUSED_AS_SEEN: &str = "nothing was recognised on it; not mounted or held, and not open in a process of this \
                              user (only root sees the open files of other users)";

/// Returns the text of a device without recognised data and without a known user.
fn unused() -> &'static str {
    unused_for(geteuid().is_root())
}

fn unused_for(is_root: bool) -> &'static str {
    if is_root { UNUSED } else { UNUSED_AS_SEEN }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    /// Returns the identity of a free file of 1 MiB with bytes at an offset.
    fn identity_with(offset: u64, bytes: &[u8]) -> Identity {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(1 << 20).unwrap();
        file.as_file().write_all_at(bytes, offset).unwrap();
        let (_, path) = file.into_parts();
        drivetest_device::identify(&path).unwrap()
    }

    #[test]
    fn the_text_shows_the_kind_and_the_drive_key() {
        let identity = identity_with(0, &[]);
        let text = identity_text(&identity);
        assert!(
            text.contains(": 1MiB (1048576 bytes), virtual: not a physical drive"),
            "{text}"
        );
        assert!(
            text.contains(&format!("(for --expect-drive): {}\n", identity.drive_key)),
            "{text}"
        );
    }

    #[test]
    fn the_text_of_a_free_device_names_its_data() {
        let ext4 = [b"\x53\xef".as_slice(), &[0; 0x26], b"\x42\0\0\0"].concat();
        for (offset, bytes, name, data) in [
            (0, b"XFSB".as_slice(), "an XFS file system", "an XFS file system"),
            (4_086, b"SWAPSPACE2", "swap space", "swap space"),
            (
                1_080,
                &ext4,
                "an ext2, ext3 or ext4 file system",
                "an ext4 file system",
            ),
        ] {
            let identity = identity_with(offset, bytes);
            assert_eq!(identity.refusals, []);
            assert_eq!(identity.signature, Some(name));
            let text = identity_text(&identity);
            assert!(
                text.contains(&format!(
                    "  holds {data}; a load or prep overwrites it only with --i-know-this-destroys-data\n"
                )),
                "{text}"
            );
            assert!(!text.contains(unused()), "{text}");
        }
        let text = identity_text(&identity_with(0, &[]));
        assert!(
            text.contains(&format!("  {}\n", unused())) && !text.contains("holds"),
            "{text}"
        );
    }

    #[test]
    fn the_text_of_a_refused_device_does_not_call_it_unused() {
        let mut identity = identity_with(0, &[]);
        let sentence = "/dev/x: mounted at /mnt; unmount it or choose another device";
        identity.refusals = vec![drivetest_device::Refusal {
            id: "mounted",
            sentence: sentence.to_owned(),
        }];
        let text = identity_text(&identity);
        assert!(
            text.contains(&format!("  refused (mounted): {sentence}\n")),
            "{text}"
        );
        assert!(!text.contains(unused()) && !text.contains("holds"), "{text}");
    }

    #[test]
    fn the_text_of_a_device_that_cannot_be_read_has_the_error() {
        let mut identity = identity_with(0, &[]);
        identity.signature_error = Some("Input/output error".to_owned());
        let text = identity_text(&identity);
        assert!(
            text.contains("  its content cannot be read: Input/output error; a load or prep refuses it\n"),
            "{text}"
        );
        assert!(!text.contains(unused()), "{text}");
    }

    const FREE: DriveUse = DriveUse {
        mounts: Vec::new(),
        holders: Vec::new(),
        is_swap: false,
        is_open: false,
        is_content_read: true,
        signature: None,
        signature_error: None,
        data: None,
    };

    #[test]
    fn the_list_shows_the_key_and_the_use_of_each_drive() {
        let drive = |model: Option<&str>, usage| ListedDrive {
            path: "/dev/nvme0n1".into(),
            kind: drivetest_device::DriveKind::Nvme,
            drive_key: "nvme:M:S1".into(),
            model: model.map(str::to_owned),
            serial: model.map(|_| "S1".to_owned()),
            size_bytes: 1_536,
            usage,
        };
        let text = |drive| {
            drives_text(&Drives {
                schema: "drivecert.drives/1",
                drives: vec![drive],
            })
        };
        assert_eq!(
            text(drive(Some("M"), Some(FREE))),
            format!(
                "/dev/nvme0n1: 1.5KiB, M S1: {}\n  drive key: nvme:M:S1\n",
                unused()
            )
        );
        assert_eq!(
            text(drive(None, None)),
            "/dev/nvme0n1: 1.5KiB: use not reported\n  drive key: nvme:M:S1\n"
        );
    }

    #[test]
    fn only_root_reads_that_no_process_has_a_device_open() {
        assert_eq!(
            unused_for(true),
            "nothing was recognised on it; not mounted, held or open"
        );
        let text = unused_for(false);
        assert!(
            text.contains("not open in a process of this user") && !text.contains("held or open"),
            "{text}"
        );
    }

    #[test]
    fn the_list_shows_the_strongest_use_of_a_drive() {
        let mounts = |points: &[&str]| {
            let points = points.iter().map(|point| drivetest_device::MountPoint {
                device: "/dev/nvme0n1".into(),
                point: point.into(),
            });
            points.collect()
        };
        let in_use = DriveUse {
            is_content_read: false,
            ..FREE
        };
        for (usage, text) in [
            (
                DriveUse {
                    mounts: mounts(&["/", "/boot"]),
                    holders: vec!["/dev/dm-0".into()],
                    ..in_use.clone()
                },
                "mounted at /, /boot",
            ),
            (
                DriveUse {
                    mounts: mounts(&["/a", "/b", "/c", "/d", "/e"]),
                    ..in_use.clone()
                },
                "mounted at /a, /b, /c and 2 more",
            ),
            (
                DriveUse {
                    holders: vec!["/dev/dm-0".into(), "/dev/md0".into()],
                    is_open: true,
                    ..in_use.clone()
                },
                "used by /dev/dm-0, /dev/md0",
            ),
            (
                DriveUse {
                    is_swap: true,
                    ..in_use.clone()
                },
                "used as swap",
            ),
            (
                DriveUse {
                    is_open: true,
                    ..in_use.clone()
                },
                "open in another process",
            ),
            (
                DriveUse {
                    data: Some("an ext4 file system"),
                    ..FREE
                },
                "holds an ext4 file system",
            ),
            (
                DriveUse {
                    signature_error: Some("Input/output error".to_owned()),
                    ..in_use
                },
                "its content cannot be read: Input/output error",
            ),
            (FREE, unused()),
        ] {
            assert_eq!(use_text(&usage), text);
        }
    }
}
