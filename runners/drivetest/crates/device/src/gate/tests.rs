//! Each reason on a fake host, and one invariant for all hosts.

use std::io;

use proptest::prelude::*;

use super::*;
use crate::fake_host::FakeHost;

fn refusals_on(system: &System, path: &Path) -> Result<Vec<Refusal>, DeviceError> {
    of(
        system,
        &ResolvedDevice::find(system, path)?,
        &Activity::of(system),
    )
}

fn ids(host: &FakeHost, path: &Path) -> Vec<&'static str> {
    refusals_on(&host.system(), path)
        .unwrap()
        .into_iter()
        .map(|refusal| refusal.id)
        .collect()
}

fn only_sentence(host: &FakeHost, path: &Path) -> String {
    let refusals = refusals_on(&host.system(), path).unwrap();
    assert_eq!(refusals.len(), 1, "{refusals:?}");
    refusals[0].sentence.clone()
}

#[test]
fn a_free_drive_is_not_refused() {
    let mut host = FakeHost::new();
    let (nvme, scsi) = (host.nvme("nvme0n1", "S1"), host.scsi("sda", "naa.5"));
    assert!(ids(&host, &nvme).is_empty() && ids(&host, &scsi).is_empty());
}

#[test]
fn the_refusal_of_a_mounted_device_has_the_mount_point() {
    let mut host = FakeHost::new();
    let path = host.nvme("nvme0n1", "S1");
    host.mount(&path, r"/mnt/my\040data");
    assert_eq!(
        only_sentence(&host, &path),
        "/dev/nvme0n1: mounted at /mnt/my data; unmount it or choose another device"
    );
}

#[test]
fn a_mounted_partition_refuses_its_drive_and_its_siblings() {
    let mut host = FakeHost::new();
    let whole = host.nvme("nvme0n1", "S1");
    let (used, sibling) = (host.partition("nvme0n1", 1), host.partition("nvme0n1", 2));
    host.mount(&used, "/mnt");
    assert_eq!(ids(&host, &whole), ["mounted", "partitioned"]);
    assert_eq!(ids(&host, &used), ["mounted"]);
    let sentence = only_sentence(&host, &sibling);
    assert!(
        sentence.contains("/dev/nvme0n1p1, on the same drive, is mounted at /mnt"),
        "{sentence}"
    );
}

#[test]
fn a_mounted_namespace_refuses_the_others_of_its_drive_only() {
    let mut host = FakeHost::new();
    let (used, sibling, other) = (
        host.nvme("nvme0n1", "S1"),
        host.nvme("nvme0n2", "S1"),
        host.nvme("nvme1n1", "S2"),
    );
    host.mount(&used, "/mnt");
    assert_eq!(ids(&host, &sibling), ["mounted"]);
    assert!(ids(&host, &other).is_empty());
}

#[test]
fn a_drive_with_the_root_file_system_has_a_reason_of_its_own() {
    let mut host = FakeHost::new();
    let path = host.scsi("sda", "naa.5");
    host.mount(&path, "/");
    assert_eq!(ids(&host, &path), ["boot"]);
}

#[test]
fn a_btrfs_mount_is_found_by_its_source() {
    let mut host = FakeHost::new();
    let path = host.scsi("sda", "naa.5");
    host.mount_btrfs(&path, "/mnt");
    assert_eq!(ids(&host, &path), ["mounted"]);
}

#[test]
fn a_mount_of_a_container_counts() {
    let mut host = FakeHost::new();
    let path = host.scsi("sda", "naa.5");
    host.mount_elsewhere(99, &path, "/data");
    assert_eq!(ids(&host, &path), ["mounted"]);
}

#[test]
fn a_mounted_loop_device_refuses_its_file() {
    let mut host = FakeHost::new();
    let file = host.file("/srv/drive.img");
    let shown = host.loop_over("loop0", "/srv/drive.img");
    assert!(ids(&host, &file).is_empty() && ids(&host, &shown).is_empty());
    host.mount(&shown, "/mnt");
    assert_eq!(
        (ids(&host, &file), ids(&host, &shown)),
        (vec!["mounted"], vec!["mounted"])
    );
}

#[test]
fn a_mounted_file_system_does_not_refuse_files_on_it() {
    let mut host = FakeHost::new();
    let disk = host.scsi("sda", "naa.5");
    host.mount(&disk, "/");
    let file = host.file("/srv/drive.img");
    let shown = host.loop_over("loop0", "/srv/drive.img");
    assert!(ids(&host, &file).is_empty() && ids(&host, &shown).is_empty());
}

#[test]
fn a_mounted_logical_volume_refuses_all_devices_below_it() {
    let mut host = FakeHost::new();
    let (a, b) = (host.scsi("sda", "naa.5"), host.scsi("sdb", "naa.6"));
    let volume = host.stack("dm-0", &["sda", "sdb"]);
    host.mount(&volume, "/mnt");
    assert_eq!(
        (ids(&host, &a), ids(&host, &b)),
        (vec!["mounted", "held"], vec!["mounted", "held"])
    );
}

#[test]
fn a_drive_below_a_stack_names_the_stacked_device() {
    let mut host = FakeHost::new();
    let path = host.scsi("sda", "naa.5");
    host.stack("md0", &["sda"]);
    assert!(only_sentence(&host, &path).contains("used by /dev/md0 (built on sda)"));
}

#[test]
fn a_stacked_device_is_refused() {
    let mut host = FakeHost::new();
    host.scsi("sda", "naa.5");
    let volume = host.stack("dm-0", &["sda"]);
    assert_eq!(ids(&host, &volume), ["stacked"]);
}

#[test]
fn a_swap_partition_refuses_its_drive() {
    let mut host = FakeHost::new();
    let whole = host.scsi("sda", "naa.5");
    let swap = host.partition("sda", 1);
    host.swap_to(&swap);
    assert_eq!(
        (ids(&host, &swap), ids(&host, &whole)),
        (vec!["swap"], vec!["swap", "partitioned"])
    );
}

#[test]
fn a_swap_file_is_refused_under_another_name() {
    let mut host = FakeHost::new();
    let file = host.file("/swapfile");
    host.swap_to(&file);
    let other_name = host.alias("/srv/hard-link", &file);
    assert_eq!(ids(&host, &other_name), ["swap"]);
}

#[test]
fn a_partitioned_drive_is_refused_and_its_partition_is_not() {
    let mut host = FakeHost::new();
    let (whole, part) = (host.scsi("sda", "naa.5"), host.partition("sda", 1));
    assert_eq!(ids(&host, &whole), ["partitioned"]);
    assert!(ids(&host, &part).is_empty());
}

#[test]
fn a_drive_that_a_process_has_open_names_the_process() {
    let mut host = FakeHost::new();
    let (path, other) = (host.scsi("sda", "naa.5"), host.scsi("sdb", "naa.6"));
    let alias = host.alias("/tmp/another-node", &path);
    host.open(4711, &alias);
    assert!(only_sentence(&host, &path).contains("open in process 4711 (dd)"));
    assert!(ids(&host, &other).is_empty());
}

#[test]
fn a_loop_device_whose_file_a_process_has_open_is_refused() {
    let mut host = FakeHost::new();
    let file = host.file("/srv/drive.img");
    let shown = host.loop_over("loop0", "/srv/drive.img");
    host.open(4711, &file);
    assert_eq!(
        (ids(&host, &shown), ids(&host, &file)),
        (vec!["open"], vec!["open"])
    );
}

#[test]
fn files_that_this_process_has_open_are_no_reason() {
    let mut host = FakeHost::new();
    let path = host.scsi("sda", "naa.5");
    host.open(7, &path);
    assert!(ids(&host, &path).is_empty());
}

#[test]
fn a_device_below_the_smallest_size_is_refused() {
    let mut host = FakeHost::new();
    let path = host.scsi("sda", "naa.5");
    host.set("sda", "size", "2048");
    assert!(ids(&host, &path).is_empty());
    host.set("sda", "size", "2047");
    assert_eq!(ids(&host, &path), ["too-small"]);
}

#[test]
fn a_read_only_device_is_refused() {
    let mut host = FakeHost::new();
    let path = host.scsi("sda", "naa.5");
    host.set("sda", "ro", "1\n");
    assert_eq!(ids(&host, &path), ["read-only"]);
}

#[test]
fn a_file_without_write_permission_is_refused() {
    let mut host = FakeHost::new();
    let file = host.file("/srv/drive.img");
    host.writable = || Err(io::ErrorKind::PermissionDenied.into());
    assert!(only_sentence(&host, &file).contains("permission denied"));
}

#[test]
fn a_drive_in_exclusive_use_is_refused() {
    let mut host = FakeHost::new();
    let path = host.scsi("sda", "naa.5");
    host.exclusive = |_| Exclusive::Claimed;
    assert_eq!(ids(&host, &path), ["claimed"]);
    host.exclusive = |_| Exclusive::Denied(io::ErrorKind::PermissionDenied.into());
    assert_eq!(ids(&host, &path), ["no-access"]);
}

/// Like ZFS, which appears neither in the mounts nor in the stacks.
#[test]
fn a_partition_in_exclusive_use_refuses_its_siblings() {
    let mut host = FakeHost::new();
    let (whole, used, sibling) = (
        host.scsi("sda", "naa.5"),
        host.partition("sda", 1),
        host.partition("sda", 2),
    );
    let other = host.scsi("sdb", "naa.6");
    host.exclusive = |path| match path.to_str() {
        Some("/dev/sda" | "/dev/sda1") => Exclusive::Claimed,
        _ => Exclusive::Free,
    };
    let sentence = only_sentence(&host, &sibling);
    assert!(
        sentence.starts_with("/dev/sda2: /dev/sda1, on the same drive, is in exclusive use"),
        "{sentence}"
    );
    assert!(only_sentence(&host, &used).starts_with("/dev/sda1: in exclusive use"));
    assert_eq!(ids(&host, &whole), ["claimed", "partitioned"]);
    assert!(ids(&host, &other).is_empty());
}

#[test]
fn a_sibling_that_a_process_has_open_is_named() {
    let mut host = FakeHost::new();
    host.scsi("sda", "naa.5");
    let (used, sibling) = (host.partition("sda", 1), host.partition("sda", 2));
    host.open(4711, &used);
    assert!(
        only_sentence(&host, &sibling)
            .starts_with("/dev/sda2: /dev/sda1, on the same drive, is open in process 4711 (dd)")
    );
    assert!(only_sentence(&host, &used).starts_with("/dev/sda1: open in process 4711 (dd)"));
}

#[test]
fn a_loop_device_whose_file_is_gone_is_refused() {
    let mut host = FakeHost::new();
    let path = host.loop_over("loop0", "/srv/drive.img (deleted)");
    assert_eq!(ids(&host, &path), ["backing-gone"]);
}

#[test]
fn a_drive_without_an_identity_is_refused() {
    let mut host = FakeHost::new();
    let path = host.disk("sda", "scsi", &[("device/model", "NoName")]);
    assert_eq!(ids(&host, &path), ["no-identity"]);
}

#[test]
fn a_device_that_disappears_does_not_affect_another() {
    let mut host = FakeHost::new();
    let (path, gone) = (host.scsi("sda", "naa.5"), host.scsi("sdb", "naa.6"));
    host.remove("sdb");
    assert!(ids(&host, &path).is_empty());
    let error = refusals_on(&host.system(), &gone).unwrap_err().to_string();
    assert!(error.contains("is not in"), "{error}");
}

#[test]
fn a_directory_is_not_a_drive() {
    let refused = crate::identity::identify(Path::new("/")).unwrap_err();
    assert!(refused.to_string().contains("got a directory"), "{refused}");
}

/// Requests outstanding at every sample, without progress on a fake host.
const STALLED: &str = "7 0 0 0 9 0 0 0 3 0 0\n";

#[test]
fn a_drive_with_io_from_an_unknown_source_is_refused() {
    let mut host = FakeHost::new();
    let (whole, part, other) = (
        host.scsi("sda", "naa.5"),
        host.partition("sda", 1),
        host.scsi("sdb", "naa.6"),
    );
    host.set("sda", "stat", "7 0 0 0 9 0 0 0 0 0 0\n");
    assert!(ids(&host, &part).is_empty());
    host.set("sda", "stat", STALLED);
    assert!(only_sentence(&host, &part).contains("/dev/sda receives I/O from an unknown source"));
    assert!(ids(&host, &other).is_empty());
    assert_eq!(ids(&host, &whole), ["partitioned"]);
}

#[test]
fn io_of_a_known_user_is_no_reason_of_its_own() {
    let mut host = FakeHost::new();
    let path = host.scsi("sda", "naa.5");
    host.set("sda", "stat", STALLED);
    assert_eq!(ids(&host, &path), ["busy"]);
    host.open(4711, &path);
    assert_eq!(ids(&host, &path), ["open"]);
}

/// The shape of a fake drive: its whole devices, each with a number of partitions.
#[derive(Debug, Clone)]
enum Shape {
    Nvme { namespaces: usize, partitions: usize },
    Scsi { paths: usize, partitions: usize },
    File { loops: usize, partitions: usize },
}

fn shape() -> impl Strategy<Value = Shape> {
    let counts = || (1..3_usize, 0..3_usize);
    prop_oneof![
        counts().prop_map(|(namespaces, partitions)| Shape::Nvme {
            namespaces,
            partitions
        }),
        counts().prop_map(|(paths, partitions)| Shape::Scsi { paths, partitions }),
        counts().prop_map(|(loops, partitions)| Shape::File { loops, partitions }),
    ]
}

/// Builds a drive and returns all its paths. The last ones are block devices.
fn build(host: &mut FakeHost, number: usize, shape: &Shape) -> Vec<std::path::PathBuf> {
    let mut paths = Vec::new();
    let (wholes, partitions): (Vec<String>, usize) = match *shape {
        Shape::Nvme {
            namespaces,
            partitions,
        } => (
            (1..=namespaces)
                .map(|namespace| format!("nvme{number}n{namespace}"))
                .collect(),
            partitions,
        ),
        Shape::Scsi { paths, partitions } => (
            (0..paths)
                .map(|path| format!("sd{}{}", letter(number), letter(path)))
                .collect(),
            partitions,
        ),
        Shape::File { loops, partitions } => {
            paths.push(host.file(&format!("/srv/{number}.img")));
            (
                (0..loops).map(|order| format!("loop{number}{order}")).collect(),
                partitions,
            )
        }
    };
    for whole in &wholes {
        paths.push(match shape {
            Shape::Nvme { .. } => host.nvme(whole, &format!("S{number}")),
            Shape::Scsi { .. } => host.scsi(whole, &format!("naa.{number}")),
            Shape::File { .. } => host.loop_over(whole, &format!("/srv/{number}.img")),
        });
        paths.extend((1..=partitions as u32).map(|partition| host.partition(whole, partition)));
    }
    let alias = format!("/dev/disk/by-id/{number}");
    paths.push(host.alias(&alias, &paths[paths.len() - 1].clone()));
    paths
}

fn letter(number: usize) -> char {
    char::from(b'a' + number as u8)
}

/// How a device is in use.
#[derive(Debug, Clone, Copy)]
enum Use {
    Mounted,
    MountedThroughAStack,
    MountedThroughALoop,
    SwappedTo,
    Open,
}

fn put_to_use(host: &mut FakeHost, path: &Path, how: Use) {
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    match how {
        Use::Mounted => host.mount(path, "/mnt"),
        Use::MountedThroughAStack => {
            let stack = host.stack("dm-0", &[&name]);
            host.mount(&stack, "/mnt");
        }
        Use::MountedThroughALoop => {
            let shown = host.loop_over("loop99", path.to_str().unwrap());
            host.mount(&shown, "/mnt");
        }
        Use::SwappedTo => host.swap_to(path),
        Use::Open => host.open(4711, path),
    }
}

const REASONS: [&str; 4] = ["mounted", "held", "swap", "open"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// On every host: a device in use refuses all paths to its drive, and no path to another drive.
    #[test]
    fn a_device_in_use_refuses_all_paths_to_its_drive_and_no_other(
        shapes in prop::collection::vec(shape(), 1..4),
        chosen in any::<prop::sample::Index>(),
        how in prop::sample::select(vec![Use::Mounted, Use::MountedThroughAStack, Use::MountedThroughALoop, Use::SwappedTo, Use::Open]),
    ) {
        let mut host = FakeHost::new();
        let drives: Vec<_> = shapes.iter().enumerate().map(|(number, shape)| build(&mut host, number, shape)).collect();
        let blocks: Vec<_> = drives.iter().enumerate()
            .flat_map(|(drive, paths)| paths.iter().map(move |path| (drive, path)))
            .filter(|(_, path)| path.starts_with("/dev") && !path.starts_with("/dev/disk")).collect();
        let (used_drive, used) = *chosen.get(&blocks);
        put_to_use(&mut host, used, how);
        for (drive, paths) in drives.iter().enumerate() {
            for path in paths {
                let refused = ids(&host, path).iter().any(|id| REASONS.contains(id));
                prop_assert_eq!(refused, drive == used_drive, "{:?} while {:?} is {:?}", path, used, how);
            }
        }
    }
}
