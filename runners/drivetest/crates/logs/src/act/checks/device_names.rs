//! Device names that are no physical drive, or that look like the same drive. Only the names are judged.

use std::collections::BTreeMap;

use crate::act::header::split_names;
use crate::act::run::Run;
use crate::finding::{Finding, rule};

/// Maximum number of names in a sentence.
const NAMED_MAX: usize = 8;

/// Return a finding if a name shows a virtual device.
pub fn virtual_devices(run: &Run) -> Option<Finding> {
    let devices = run.setting("device-names")?;
    let named = split_names(devices).filter_map(|name| Some(format!("{name} ({})", what(name)?)));
    let named: Vec<String> = named.take(NAMED_MAX).collect();
    (!named.is_empty()).then(|| {
        let are_none = if named.len() == 1 {
            "is not a physical drive"
        } else {
            "are not physical drives"
        };
        rule::DEVICE_VIRTUAL.at(None, format!("{} {are_none}", named.join(", ")))
    })
}

/// Return what a name shows, such as `a loop device`; `None` if it may be a drive.
fn what(name: &str) -> Option<&'static str> {
    let Some(device) = name.strip_prefix("/dev/") else {
        return name.starts_with(['/', '.']).then_some("a file");
    };
    let kinds = [
        ("loop", "a loop device"),
        ("zram", "compressed memory"),
        ("ram", "memory"),
    ];
    let is_numbered = |stem: &str| {
        device
            .strip_prefix(stem)
            .is_some_and(|rest| leading_digits(rest) > 0)
    };
    kinds
        .into_iter()
        .find(|(stem, _)| is_numbered(stem))
        .map(|(_, kind)| kind)
}

/// Maximum number of names in a sentence.
const NAMES_SHOWN: usize = 4;

/// Return a finding for each drive with several names.
pub fn duplicates(run: &Run) -> Vec<Finding> {
    let names = run.setting("device-names").unwrap_or_default();
    let mut drives: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for name in split_names(names) {
        if let Some(drive) = drive_of(name) {
            let known = drives.entry(drive).or_default();
            if !known.contains(&name) {
                known.push(name);
            }
        }
    }
    let several = drives.into_iter().filter(|(_, names)| names.len() > 1);
    let finding = |(drive, names): (String, Vec<&str>)| {
        let (count, shown) = (names.len(), names[..names.len().min(NAMES_SHOWN)].join(", "));
        let sentence = format!(
            "{count} names look like the same drive {drive}: {shown}; the drive gets the load of {count} devices"
        );
        rule::DUPLICATE_DEVICES.at(run.first_line, sentence)
    };
    several.map(finding).collect()
}

/// Return the drive of a device name; `None` for a name that follows no known rule.
///
/// Source: the kernel's names of partitions (block/partitions/core.c: a `p` before the number where the drive's name
/// ends in a digit), of NVMe namespaces, and the links of udev's 60-persistent-storage.rules (`-partN`).
fn drive_of(name: &str) -> Option<String> {
    let base = name.rsplit('/').next().unwrap_or(name);
    if let Some((drive, number)) = base.rsplit_once("-part")
        && is_number(number)
    {
        return Some(drive.to_owned());
    }
    if name.contains("/by-") {
        return Some(base.to_owned());
    }
    [nvme, lettered, numbered, multipath]
        .iter()
        .find_map(|drive_of| drive_of(base))
}

/// Return the controller of an NVMe name: `nvme0n1p2`, `nvme0c1n1` and `nvme0n2` are of the controller `nvme0`.
fn nvme(base: &str) -> Option<String> {
    let rest = base.strip_prefix("nvme")?;
    let digits = leading_digits(rest);
    let is_namespace = rest[digits..].starts_with(['n', 'c']);
    (digits > 0 && is_namespace).then(|| format!("nvme{}", &rest[..digits]))
}

/// Return the drive of a lettered name: `sda1` is of `sda`.
fn lettered(base: &str) -> Option<String> {
    let rest = ["sd", "hd", "vd", "xvd"]
        .iter()
        .find_map(|prefix| base.strip_prefix(prefix))?;
    let letters = rest.bytes().take_while(u8::is_ascii_lowercase).count();
    let part = &rest[letters..];
    (letters > 0 && (part.is_empty() || is_number(part))).then(|| base[..base.len() - part.len()].to_owned())
}

/// Return the drive of a numbered name: `mmcblk0p1` is of `mmcblk0`.
fn numbered(base: &str) -> Option<String> {
    let prefixes = ["mmcblk", "nbd", "loop", "md", "pmem"];
    let rest = prefixes.iter().find_map(|prefix| base.strip_prefix(prefix))?;
    let digits = leading_digits(rest);
    let part = &rest[digits..];
    let is_part = part.strip_prefix('p').is_some_and(is_number);
    (digits > 0 && (part.is_empty() || is_part)).then(|| base[..base.len() - part.len()].to_owned())
}

/// Return the device of a multipath name: `mpatha1` and `mpathap1` are partitions of `mpatha` (kpartx, udev).
fn multipath(base: &str) -> Option<String> {
    let rest = base.strip_prefix("mpath")?;
    let is_letter = |byte: &u8| byte.is_ascii_lowercase() && *byte != b'p';
    let letters = rest.bytes().take_while(is_letter).count();
    let part = rest[letters..].strip_prefix('p').unwrap_or(&rest[letters..]);
    (letters > 0 && (part.is_empty() || is_number(part))).then(|| format!("mpath{}", &rest[..letters]))
}

fn leading_digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && leading_digits(text) == text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_memory_and_of_files_are_no_drives() {
        for name in [
            "/dev/loop3",
            "/dev/zram0",
            "/dev/ram12",
            "/srv/drive.img",
            "./drive.img",
            "/dev/loop0p1",
        ] {
            assert!(what(name).is_some(), "{name}");
        }
        for name in [
            "/dev/nvme0n1",
            "/dev/sda",
            "/dev/ramdisk",
            "/dev/mapper/loop0",
            "/dev/loop-control",
            "drive1",
        ] {
            assert_eq!(what(name), None, "{name}");
        }
    }

    fn are_one_drive(one: &str, two: &str) -> bool {
        drive_of(one).is_some() && drive_of(one) == drive_of(two)
    }

    #[test]
    fn partitions_and_namespaces_of_one_drive_are_recognized() {
        for (one, two) in [
            ("/dev/nvme0n1p1", "/dev/nvme0n1p2"),
            ("/dev/nvme0n1", "/dev/nvme0n2"),
            ("/dev/nvme0n1", "/dev/nvme0n1p1"),
            ("/dev/sda1", "/dev/sda2"),
            ("/dev/sdab", "/dev/sdab3"),
            ("/dev/xvdb1", "/dev/xvdb2"),
            ("/dev/mmcblk0p1", "/dev/mmcblk0p2"),
            (
                "/dev/disk/by-id/wwn-0x5000-part1",
                "/dev/disk/by-id/wwn-0x5000-part2",
            ),
            ("/dev/disk/by-id/wwn-0x5000", "/dev/disk/by-id/wwn-0x5000-part2"),
            ("/dev/mapper/mpatha1", "/dev/mapper/mpathap2"),
            ("/dev/mapper/mpatha-part1", "/dev/mapper/mpatha"),
        ] {
            assert!(are_one_drive(one, two), "{one} {two}");
        }
    }

    #[test]
    fn different_drives_are_distinguished() {
        for (one, two) in [
            ("/dev/nvme0n1", "/dev/nvme1n1"),
            ("/dev/nvme0n1", "/dev/nvme10n1"),
            ("/dev/sda1", "/dev/sdb1"),
            ("/dev/sda", "/dev/sdaa"),
            ("/dev/zram1", "/dev/zram2"),
            ("/dev/dm-0", "/dev/dm-1"),
            ("/dev/mapper/mpatha", "/dev/mapper/mpathb"),
            ("/dev/disk/by-id/wwn-0x5000", "/dev/disk/by-id/wwn-0x5001"),
            ("/dev/loop1", "/dev/loop10"),
            ("/dev/vg/lv1", "/dev/vg/lv2"),
        ] {
            assert!(!are_one_drive(one, two), "{one} {two}");
        }
    }
}
