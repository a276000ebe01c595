//! Devices that are not physical drives, judged by their names.

use crate::act::header::split_names;
use crate::act::run::Run;
use crate::finding::{Finding, rule};

/// Maximum number of names in a sentence.
const NAMED_MAX: usize = 8;

/// Return a finding if a name shows a virtual device.
pub fn by_name(run: &Run) -> Option<Finding> {
    let devices = run.setting("device-names")?;
    let named: Vec<String> = split_names(devices)
        .filter_map(|name| Some(format!("{name} ({})", what(name)?)))
        .take(NAMED_MAX)
        .collect();
    (!named.is_empty()).then(|| {
        // The register reads the names by the form `NAME (` (webapp/register/limits/virtual_devices.py).
        let sentence = format!("not a physical drive: {}", named.join(", "));
        rule::DEVICE_VIRTUAL.at(None, sentence)
    })
}

/// Return what a name shows, such as `a loop device`; `None` if it may be a drive.
fn what(name: &str) -> Option<&'static str> {
    let Some(device) = name.strip_prefix("/dev/") else {
        return name.starts_with(['/', '.']).then_some("a file");
    };
    let numbered = |stem: &str| {
        let rest = device.strip_prefix(stem);
        rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
    };
    if numbered("loop") {
        Some("a loop device")
    } else if numbered("zram") {
        Some("compressed memory")
    } else if numbered("ram") {
        Some("memory")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::what;

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
}
