//! Where a block device is mounted.

use std::path::Path;

/// Returns the mount point of the device with these numbers, or of one of its partitions.
pub(super) fn mount_point(mountinfo: &str, numbers: &[String]) -> Option<String> {
    mountinfo.lines().find_map(|line| {
        // Source: proc_pid_mountinfo(5): ID, parent ID, major:minor, root, mount point.
        let fields: Vec<&str> = line.split(' ').collect();
        let is_ours = numbers.iter().any(|ours| Some(&ours.as_str()) == fields.get(2));
        is_ours
            .then(|| fields.get(4).map(|point| unescaped(point)))
            .flatten()
    })
}

/// Returns `major:minor` of the device and of its partitions, as sysfs lists them.
pub(super) fn numbers_of(sysfs: &Path, numbers: &str) -> Vec<String> {
    let mut all = vec![numbers.to_owned()];
    let Ok(entries) = std::fs::read_dir(sysfs.join("dev/block").join(numbers)) else {
        return all; // No sysfs: the device's own numbers still tell.
    };
    for entry in entries.flatten() {
        if entry.path().join("partition").exists() {
            let partition = std::fs::read_to_string(entry.path().join("dev")).unwrap_or_default();
            all.push(partition.trim().to_owned());
        }
    }
    all
}

/// The kernel writes blanks in mount points as octal.
fn unescaped(point: &str) -> String {
    point
        .replace("\\040", " ")
        .replace("\\011", "\t")
        .replace("\\012", "\n")
        .replace("\\134", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTINFO: &str = "22 1 254:0 / / rw - ext4 /dev/vda rw\n\
                             30 22 7:3 / /mnt/my\\040drive rw - ext4 /dev/loop3 rw\n";

    fn found(numbers: &str) -> Option<String> {
        mount_point(MOUNTINFO, &[numbers.to_owned()])
    }

    #[test]
    fn a_mounted_device_is_found_by_its_numbers() {
        assert_eq!(found("7:3").as_deref(), Some("/mnt/my drive"));
        assert_eq!(found("7:33"), None);
        assert_eq!(found("22"), None);
    }

    #[test]
    fn partitions_count_as_the_device() {
        let sysfs = tempfile::tempdir().unwrap();
        let partition = sysfs.path().join("dev/block/259:0/nvme0n1p1");
        std::fs::create_dir_all(&partition).unwrap();
        std::fs::write(partition.join("partition"), "1\n").unwrap();
        std::fs::write(partition.join("dev"), "259:1\n").unwrap();
        assert_eq!(numbers_of(sysfs.path(), "259:0"), ["259:0", "259:1"]);
        assert_eq!(numbers_of(sysfs.path(), "259:9"), ["259:9"]);
    }
}
