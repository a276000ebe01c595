//! Mounts in all visible mount namespaces, and swap devices.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::DeviceError;
use crate::probe::path::{DeviceNumber, Node};
use crate::state::open_files::process_numbers;
use crate::system::{self, System, unescaped};

/// A mount of a file system on a block device.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mount {
    pub number: DeviceNumber,
    pub point: PathBuf,
}

impl Mount {
    /// Returns whether the running system itself is mounted there.
    pub fn is_of_the_system(&self) -> bool {
        let system = ["/boot", "/usr", "/var", "/etc", "/home"].map(Path::new);
        self.point == Path::new("/")
            || system.iter().any(|&part| self.point == part)
            || self.point.starts_with("/boot")
    }
}

/// Returns all mounts in the order of their devices, also those of containers, which have mount namespaces of their
/// own.
pub(crate) fn mounts(system: &System) -> Result<BTreeSet<Mount>, DeviceError> {
    let mut mounts = BTreeSet::new();
    for process in processes_of_all_namespaces(system)? {
        // Processes that ended or that may not be read are skipped. The later exclusive opening finds their mounts.
        let Ok(Some(table)) = system::text(&process.join("mountinfo")) else {
            continue;
        };
        mounts.extend(
            table
                .lines()
                .filter_map(parse)
                .flat_map(|line| on_blocks(system, line)),
        );
    }
    Ok(mounts)
}

/// Returns one process for each mount namespace. The first is this process, which must be readable.
fn processes_of_all_namespaces(system: &System) -> Result<Vec<PathBuf>, DeviceError> {
    let own = system.proc.join("self");
    let table = own.join("mountinfo");
    system::bytes(&table)?.ok_or_else(|| DeviceError::unexpected(&table, "a table of mounts", ""))?;
    let mut seen = BTreeSet::from([std::fs::read_link(own.join("ns/mnt")).unwrap_or_default()]);
    let others = process_numbers(system)?
        .into_iter()
        .map(|number| system.proc.join(number.to_string()));
    let others = others
        .filter(|process| std::fs::read_link(process.join("ns/mnt")).is_ok_and(|link| seen.insert(link)));
    Ok(std::iter::once(own).chain(others).collect())
}

/// A line of mountinfo: number, mount point, source.
type Line = (DeviceNumber, PathBuf, PathBuf);

/// Parses a line. Source: proc_pid_mountinfo(5). Optional fields end at a single dash; the source is the second field
/// after it.
fn parse(line: &str) -> Option<Line> {
    let (before, after) = line.split_once(" - ")?;
    let mut fields = before.split(' ').skip(2);
    let number = DeviceNumber::parse(fields.next()?)?;
    let point = unescaped(fields.nth(1)?);
    Some((number, point, unescaped(after.split(' ').nth(1)?)))
}

/// Returns the mounts of a line. btrfs shows a number of its own, but its source is the block device.
fn on_blocks(system: &System, (number, point, source): Line) -> Vec<Mount> {
    let mut numbers = vec![number];
    if source.is_absolute()
        && let Ok(Node::Block(number)) = system.probe.resolve(&source)
    {
        numbers.push(number);
    }
    numbers
        .into_iter()
        .map(|number| Mount {
            number,
            point: point.clone(),
        })
        .collect()
}

/// Returns the swap devices and files.
pub(crate) fn swaps(system: &System) -> Result<Vec<PathBuf>, DeviceError> {
    let table = system::text(&system.proc.join("swaps"))?.unwrap_or_default();
    let paths = table
        .lines()
        .skip(1)
        .filter_map(|line| line.split_ascii_whitespace().next());
    Ok(paths.map(unescaped).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn optional_fields_are_skipped() {
        let line =
            r"36 35 98:0 /mnt1 /mnt/a\040b rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue";
        let number = DeviceNumber { major: 98, minor: 0 };
        assert_eq!(parse(line), Some((number, "/mnt/a b".into(), "/dev/root".into())));
    }

    #[test]
    fn a_line_of_another_form_is_ignored() {
        assert_eq!(parse("36 35 98:0 /"), None);
    }

    #[test]
    fn mounts_of_the_running_system_are_distinguished_from_data() {
        let at = |point: &str| Mount {
            number: DeviceNumber { major: 8, minor: 1 },
            point: point.into(),
        };
        assert!(at("/").is_of_the_system() && at("/boot/efi").is_of_the_system());
        assert!(!at("/bootleg").is_of_the_system() && !at("/mnt").is_of_the_system());
    }
}
