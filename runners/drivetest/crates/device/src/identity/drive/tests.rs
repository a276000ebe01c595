//! Keys of drives on fake hosts.

use std::path::Path;

use super::*;
use crate::fake_host::FakeHost;
use crate::identity::{Identity, identify_on};

fn identity(host: &FakeHost, path: &Path) -> Identity {
    identify_on(&host.system(), path).unwrap()
}

fn key(host: &FakeHost, path: &Path) -> String {
    identity(host, path).drive_key
}

#[test]
fn an_nvme_drive_is_named_by_model_and_serial() {
    let mut host = FakeHost::new();
    let path = host.nvme("nvme0n1", "S64G");
    let identity = identity(&host, &path);
    assert_eq!(
        (identity.kind, identity.drive_key.as_str()),
        (DriveKind::Nvme, "nvme:PM_9A3:S64G")
    );
    let reported = [identity.model, identity.serial, identity.firmware, identity.wwn];
    assert_eq!(
        reported.map(Option::unwrap),
        ["PM 9A3", "S64G", "GDC5", "eui.0025"]
    );
}

#[test]
fn namespaces_and_partitions_of_one_drive_share_its_key() {
    let mut host = FakeHost::new();
    let (first, second) = (host.nvme("nvme0n1", "S1"), host.nvme("nvme0n2", "S1"));
    let part = host.partition("nvme0n2", 1);
    let other = host.nvme("nvme1n1", "S2");
    assert_eq!(key(&host, &first), key(&host, &second));
    assert_eq!(key(&host, &first), key(&host, &part));
    assert_ne!(key(&host, &first), key(&host, &other));
}

#[test]
fn an_nvme_drive_without_a_serial_is_named_by_its_nqn() {
    let mut host = FakeHost::new();
    let path = host.disk(
        "nvme0n1",
        "nvme",
        &[("device/model", "X"), ("device/subsysnqn", "nqn.2014-08.org:x")],
    );
    assert_eq!(key(&host, &path), "nvme:nqn.2014-08.org:x");
}

#[test]
fn two_paths_to_one_scsi_drive_share_its_key() {
    let mut host = FakeHost::new();
    let (one, two) = (host.scsi("sda", "naa.5000"), host.scsi("sdb", "naa.5000"));
    assert_eq!(key(&host, &one), "scsi:naa.5000");
    assert_eq!(key(&host, &one), key(&host, &two));
    assert_eq!(identity(&host, &one).model.as_deref(), Some("SEAGATE ST1"));
}

#[test]
fn a_sata_drive_without_a_world_wide_name_is_named_by_its_serial_page() {
    let mut host = FakeHost::new();
    let path = host.disk(
        "sda",
        "scsi",
        &[("device/vendor", "ATA"), ("device/model", "SSD 1")],
    );
    host.set("sda", "device/vpd_pg80", b"\x00\x80\x00\x06 S4XYZtrailing");
    let identity = identity(&host, &path);
    assert_eq!(
        (identity.drive_key.as_str(), identity.serial.as_deref()),
        ("scsi:SSD_1:S4XYZ", Some("S4XYZ"))
    );
    assert_eq!(identity.model.as_deref(), Some("SSD 1"));
}

#[test]
fn a_serial_page_that_is_cut_is_read_as_far_as_it_goes() {
    let mut host = FakeHost::new();
    let path = host.scsi("sda", "naa.5");
    host.set("sda", "device/vpd_pg80", b"\x00\x80\x00\x20S4");
    assert_eq!(identity(&host, &path).serial.as_deref(), Some("S4"));
    host.set("sda", "device/vpd_pg80", b"\x00\x80");
    assert_eq!(identity(&host, &path).serial, None);
}

#[test]
fn a_file_and_a_loop_device_over_it_share_one_key() {
    let mut host = FakeHost::new();
    let file = host.file("/srv/drive.img");
    let shown = host.loop_over("loop0", "/srv/drive.img");
    let part = host.partition("loop0", 1);
    let hard_link = host.alias("/srv/link.img", &file);
    assert_eq!(key(&host, &file), "file:lab1:64768:1000");
    assert!(
        [shown.clone(), part, hard_link]
            .iter()
            .all(|path| key(&host, path) == "file:lab1:64768:1000")
    );
    assert_eq!(identity(&host, &shown).backing.as_deref(), Some(file.as_path()));
    assert_eq!(identity(&host, &shown).kind, DriveKind::Virtual);
}

#[test]
fn a_loop_device_over_a_drive_has_the_drives_key() {
    let mut host = FakeHost::new();
    let drive = host.nvme("nvme0n1", "S1");
    let shown = host.loop_over("loop0", "/dev/nvme0n1");
    assert_eq!(key(&host, &shown), key(&host, &drive));
}

#[test]
fn a_zram_device_is_named_by_host_number_and_size() {
    let mut host = FakeHost::new();
    let path = host.disk("zram3", "none", &[]);
    assert_eq!(key(&host, &path), "zram:lab1:3:1073741824");
}

#[test]
fn a_drive_without_an_identity_is_named_by_its_location() {
    let mut host = FakeHost::new();
    let path = host.disk("vda", "virtio", &[]);
    let identity = identity(&host, &path);
    assert_eq!(
        (identity.kind, identity.drive_key.as_str()),
        (DriveKind::Virtual, "block:lab1:of-vda/block/vda")
    );
}

#[test]
fn a_partition_has_its_own_size_and_the_queue_of_its_drive() {
    let mut host = FakeHost::new();
    host.nvme("nvme0n1", "S1");
    let part = host.partition("nvme0n1", 1);
    let identity = identity(&host, &part);
    assert_eq!(identity.size_bytes, 1 << 28);
    assert_eq!(
        (
            identity.queue.logical_block_bytes,
            identity.queue.minimum_io_bytes
        ),
        (Some(512), Some(4096))
    );
    assert_eq!(
        (identity.queue.rotational, identity.queue.scheduler.as_deref()),
        (Some(false), Some("none"))
    );
}

#[test]
fn a_cycle_of_devices_does_not_hang() {
    let mut host = FakeHost::new();
    let path = host.loop_over("loop0", "/dev/loop1");
    host.loop_over("loop1", "/dev/loop0");
    assert!(key(&host, &path).starts_with("loop:lab1:loop"));
}

#[test]
fn the_host_is_reported() {
    let mut host = FakeHost::new();
    let path = host.nvme("nvme0n1", "S1");
    let reported = identity(&host, &path).host;
    assert_eq!(
        (
            reported.hostname.as_str(),
            reported.cpus_count,
            reported.cpu_model.as_deref()
        ),
        ("lab1", 2, Some("Tester"))
    );
}

#[test]
fn files_on_machines_with_the_same_name_have_different_keys() {
    let (mut one, mut other) = (FakeHost::new(), FakeHost::new());
    let (path, of_other) = (one.file("/srv/drive.img"), other.file("/srv/drive.img"));
    one.write_file("etc/machine-id", "0123456789abcdef0123456789abcdef\n");
    other.write_file("etc/machine-id", "0123456789abcdef0123456789abcdee\n");
    let (first, second) = (key(&one, &path), key(&other, &of_other));
    assert!(
        first.starts_with("file:lab1~") && first.ends_with(":64768:1000"),
        "{first}"
    );
    assert!(!first.contains("0123456789ab"), "the id itself is secret");
    assert_ne!(first, second);
    assert!(!is_same_drive(&first, &second) && !is_same_drive(&second, &first));
}

#[test]
fn a_machine_without_an_id_has_keys_without_a_hash() {
    let capital = format!("{}\n", "0123456789ABCDEF".repeat(2));
    for reported in [
        "",
        "uninitialized\n",
        &capital,
        "0123456789abcdef0123456789abcde\n",
    ] {
        let mut host = FakeHost::new();
        host.write_file("etc/machine-id", reported);
        let path = host.file("/srv/drive.img");
        assert_eq!(key(&host, &path), "file:lab1:64768:1000");
    }
}

/// The register's runners/hosts/drive_keys.py passes the same table.
#[test]
fn both_programs_match_the_same_keys() {
    let table = include_str!("../../../../../../../tests/data/drive_keys.tsv");
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split('\t').collect())
        .collect();
    assert!(rows.iter().any(|row| row[2] == "yes") && rows.iter().any(|row| row[2] == "no"));
    for row in rows {
        let &[bound, now, is_same, why] = row.as_slice() else {
            panic!("{row:?}")
        };
        assert_eq!(
            is_same_drive(bound, now),
            is_same == "yes",
            "{bound} {now}: {why}"
        );
    }
}

#[test]
fn a_machine_id_that_cannot_be_read_names_its_file_and_the_remedy() {
    let mut host = FakeHost::new();
    host.unreadable("etc/machine-id");
    let path = host.file("/srv/drive.img");
    let error = identify_on(&host.system(), &path).unwrap_err().to_string();
    for word in ["etc/machine-id: cannot be read: ", "expected", "chmod 0444 "] {
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn a_drive_with_an_own_identity_needs_no_machine_id() {
    let mut host = FakeHost::new();
    host.unreadable("etc/machine-id");
    host.file("/srv/drive.img");
    let shown = host.loop_over("loop0", "/srv/drive.img");
    host.disk("vda", "virtio", &[]);
    let (first, second) = (host.nvme("nvme0n1", "S1"), host.nvme("nvme0n2", "S1"));
    assert_eq!(key(&host, &first), "nvme:PM_9A3:S1");
    assert_eq!(identity(&host, &first).same_drive, [second]);
    assert!(identify_on(&host.system(), &shown).is_err());
}

#[test]
fn a_drive_without_an_own_identity_needs_a_machine_id() {
    let mut host = FakeHost::new();
    let path = host.disk("nvme0n1", "nvme", &[("device/model", "X")]);
    assert!(identify_on(&host.system(), &path).is_ok());
    host.unreadable("etc/machine-id");
    assert!(identify_on(&host.system(), &path).is_err());
}

#[test]
fn a_key_without_the_machine_hash_remains_valid() {
    for (now, bound) in [
        ("file:lab1~0123456789ab:64768:1000", "file:lab1:64768:1000"),
        ("file:lab1~0123456789ab:64768:1000", "file:64768:1000"),
        ("zram:lab1~0123456789ab:3:1073741824", "zram:lab1:3:1073741824"),
        ("block:lab1~0123456789ab:pci0/a:b", "block:lab1:pci0/a:b"),
    ] {
        assert!(is_same_drive(bound, now) && !is_same_drive(now, bound), "{now}");
    }
    for (now, other) in [
        ("file:lab1~0123456789ab:64768:1000", "file:lab2:64768:1000"),
        (
            "file:lab1~0123456789ab:64768:1000",
            "file:lab1~0123456789ac:64768:1000",
        ),
        ("file:lab1~0123456789:64768:1000", "file:lab1:64768:1000"),
        ("nvme:M~0123456789ab:S1", "nvme:M:S1"),
    ] {
        assert!(!is_same_drive(other, now), "{now}");
    }
}

#[test]
fn a_key_of_a_file_without_its_host_remains_valid_and_matches_no_other_key() {
    let now = "file:lab1:64768:1000";
    assert!(is_same_drive(now, now) && is_same_drive("file:64768:1000", now));
    for other in [
        "file:lab2:64768:1000",
        "file:64768:100",
        "file:64768:10000",
        "file:8:1000",
        "file:1000",
        "loop:64768:1000",
        "64768:1000",
        "",
    ] {
        assert!(!is_same_drive(other, now), "{other}");
    }
    assert!(!is_same_drive(now, "file:64768:1000"));
    assert!(!is_same_drive("nvme:S1", "nvme:M:S1"));
}
