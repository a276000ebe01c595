//! Identities on fake hosts.

use super::*;
use crate::fake_host::FakeHost;

/// Returns an NVMe drive with a sensor, on a PCI Express link below its maximum speed.
fn host() -> (FakeHost, PathBuf) {
    let mut host = FakeHost::new();
    let path = host.nvme("nvme0n1", "S1");
    for (attribute, text) in [
        ("current_link_speed", "8.0 GT/s PCIe"),
        ("current_link_width", "2"),
        ("max_link_speed", "16.0 GT/s PCIe"),
        ("max_link_width", "4"),
        ("numa_node", "1"),
    ] {
        host.write_file(&format!("sys/devices/of-nvme0n1/{attribute}"), text);
    }
    host.set("nvme0n1", "device/hwmon/hwmon3/temp1_input", "41850\n");
    host.set("nvme0n1", "device/hwmon/hwmon3/temp1_max", "81850\n");
    host.set("nvme0n1", "queue/nr_requests", "1023\n");
    (host, path)
}

fn identity(host: &FakeHost, path: &Path) -> Identity {
    identify_on(&host.system(), path).unwrap()
}

#[test]
fn link_numa_node_and_temperature_are_reported() {
    let (host, path) = host();
    let found = identity(&host, &path);
    let pcie = found.hardware.pcie.unwrap();
    assert_eq!(
        (pcie.address.as_str(), pcie.width, pcie.max_width),
        ("of-nvme0n1", Some(2), Some(4))
    );
    assert_eq!(pcie.max_speed.as_deref(), Some("16.0 GT/s PCIe"));
    assert_eq!(
        (found.hardware.numa_node, found.queue.nr_requests),
        (Some(1), Some(1023))
    );
    assert_eq!(
        (found.hardware.temperature_c, found.hardware.temperature_limit_c),
        (Some(41), Some(81))
    );
}

#[test]
fn a_sensor_of_older_kernels_has_no_separate_directory() {
    let mut host = FakeHost::new();
    let path = host.nvme("nvme0n1", "S1");
    host.set("nvme0n1", "device/hwmon0/temp1_input", "-2000\n");
    assert_eq!(identity(&host, &path).hardware.temperature_c, Some(-2));
}

#[test]
fn attributes_that_are_not_reported_are_none() {
    let mut host = FakeHost::new();
    let path = host.nvme("nvme0n1", "S1");
    host.write_file("sys/devices/of-nvme0n1/numa_node", "-1");
    let found = identity(&host, &path);
    assert_eq!(
        (
            found.hardware.pcie,
            found.hardware.numa_node,
            found.hardware.temperature_c
        ),
        (None, None, None)
    );
    assert_eq!(
        (
            found.hardware.wear_pct,
            found.queue.nr_requests,
            found.queue.optimal_io_bytes
        ),
        (None, None, None)
    );
    assert_eq!((found.host.governors, found.host.numa_nodes_count), (None, None));
    assert_eq!(found.host.is_irqbalance_running, None, "process 1 cannot be seen");
}

#[test]
fn a_scsi_drive_does_not_have_the_link_of_its_adapter() {
    let mut host = FakeHost::new();
    let path = host.scsi("sda", "naa.5");
    host.write_file("sys/devices/of-sda/current_link_speed", "8.0 GT/s PCIe");
    assert_eq!(identity(&host, &path).hardware.pcie, None);
}

#[test]
fn the_wear_is_that_of_the_worse_kind_of_cells() {
    let mut host = FakeHost::new();
    let path = host.disk("mmcblk0", "mmc", &[("device/life_time", "0x02 0x0a")]);
    assert_eq!(identity(&host, &path).hardware.wear_pct, Some(100));
    host.set("mmcblk0", "device/life_time", "0x00 0x00\n");
    assert_eq!(
        identity(&host, &path).hardware.wear_pct,
        None,
        "0 means that it is not defined"
    );
}

#[test]
fn other_devices_mounts_and_stacks_of_the_drive_are_reported() {
    let mut host = FakeHost::new();
    let whole = host.nvme("nvme0n1", "S1");
    let part = host.partition("nvme0n1", 1);
    let volume = host.stack("dm-0", &["nvme0n1p1"]);
    host.nvme("nvme1n1", "S2");
    host.mount(&volume, "/mnt");
    let found = identity(&host, &whole);
    assert_eq!(
        (&found.same_drive, &found.holders),
        (&vec![part], &vec![volume.clone()])
    );
    let expected = MountPoint {
        device: volume,
        point: "/mnt".into(),
    };
    assert_eq!(found.mounts, [expected]);
}

#[test]
fn nothing_is_read_from_a_drive_in_use() {
    let mut host = FakeHost::new();
    let path = host.nvme("nvme0n1", "S1");
    assert_eq!(identity(&host, &path).signature, Some("a partition table"));
    host.mount(&path, "/mnt");
    assert_eq!(identity(&host, &path).signature, None);
}

#[test]
fn a_drive_that_cannot_be_read_has_the_error() {
    let mut host = FakeHost::new();
    let path = host.nvme("nvme0n1", "S1");
    assert_eq!(identity(&host, &path).signature_error, None);
    host.signature = || Err(std::io::Error::from_raw_os_error(5));
    let found = identity(&host, &path);
    assert_eq!(found.signature, None);
    assert_eq!(
        found.signature_error.as_deref(),
        Some("Input/output error (os error 5)")
    );
    host.mount(&path, "/mnt");
    assert_eq!(identity(&host, &path).signature_error, None, "nothing was read");
}

#[test]
fn the_host_has_governors_nodes_and_irqbalance() {
    let (host, path) = host();
    for (cpu, governor) in [("cpu0", "performance"), ("cpu1", "powersave"), ("cpufreq", "x")] {
        host.write_file(
            &format!("sys/devices/system/cpu/{cpu}/cpufreq/scaling_governor"),
            governor,
        );
    }
    host.write_file("sys/devices/system/node/node0/cpulist", "0-1");
    host.write_file("sys/devices/system/node/possible", "0");
    host.process(1, "init");
    let found = identity(&host, &path).host;
    assert_eq!(found.governors.unwrap(), ["performance", "powersave"]);
    assert_eq!(
        (found.numa_nodes_count, found.is_irqbalance_running),
        (Some(1), Some(false))
    );
    host.process(42, "irqbalance");
    assert_eq!(identity(&host, &path).host.is_irqbalance_running, Some(true));
}

#[test]
fn an_nvme_drive_reports_its_health_and_wear() {
    let (mut host, path) = host();
    host.health = || {
        let mut page = [0; crate::state::health::PAGE_BYTES];
        (page[5], page[224]) = (12, 60);
        Some(page)
    };
    host.write_file("proc/sys/kernel/random/boot_id", "b-1");
    host.set("nvme0n1", "stat", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17");
    let found = identity(&host, &path);
    assert_eq!(found.hardware.wear_pct, Some(12));
    assert_eq!(found.health.map(|health| health.throttled_s), Some(60));
    assert_eq!(found.discards.map(|discards| discards.requests_count), Some(12));
}

#[test]
fn a_drive_of_another_kind_gets_no_health_command() {
    let mut host = FakeHost::new();
    let path = host.scsi("sda", "naa.5");
    host.health = || Some([1; crate::state::health::PAGE_BYTES]);
    assert_eq!(identity(&host, &path).health, None);
}
