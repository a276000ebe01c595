//! The host of a run.

use serde::Serialize;

use crate::telemetry::Root;

/// The host in the side file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Host {
    /// Host name.
    pub hostname: String,
    /// Kernel release.
    pub kernel: String,
    /// Model of the first processor; empty if not reported.
    pub cpu_model: String,
    /// Number of online processors.
    pub cpus_count: u32,
    /// Null if the kernel has no NUMA support.
    pub numa_nodes_count: Option<usize>,
    /// The distinct governors of the processors; null if the kernel does not scale frequencies.
    pub governors: Option<Vec<String>>,
    /// Null if other users' processes are hidden.
    pub is_irqbalance_running: Option<bool>,
    /// Memory that the kernel manages.
    pub memory_bytes: Option<u64>,
    /// Vendor and product of a virtual machine; null if there is no sign of one.
    pub virtual_machine: Option<String>,
}

impl Host {
    /// Reads the description of this host.
    pub fn here() -> Self {
        let names = rustix::system::uname();
        let online = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
        // A load also runs if the kernel does not describe the host.
        let described = drivetest_device::Host::here().unwrap_or_default();
        let root = Root::host();
        let allowed = || std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
        Self {
            hostname: names.nodename().to_string_lossy().into_owned(),
            kernel: names.release().to_string_lossy().into_owned(),
            cpu_model: cpu_model(&root),
            cpus_count: cpus(&online).map_or_else(allowed, |cpus| cpus.count() as u32),
            numa_nodes_count: described.numa_nodes_count,
            governors: described.governors,
            is_irqbalance_running: described.is_irqbalance_running,
            memory_bytes: root.line_bytes("proc/meminfo", "MemTotal:"),
            virtual_machine: virtual_machine(&root),
        }
    }
}

/// Returns the model of the first processor; empty if not reported.
fn cpu_model(root: &Root) -> String {
    let cpuinfo = root.text("proc/cpuinfo").unwrap_or_default();
    let mut lines = cpuinfo.lines();
    let model = lines.find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    model.map_or_else(String::new, |(_, model)| model.trim().to_owned())
}

/// Returns the name of the virtual machine. x86 processors have a flag under a hypervisor; Xen or the firmware has
/// the name.
fn virtual_machine(root: &Root) -> Option<String> {
    let cpuinfo = root.text("proc/cpuinfo").unwrap_or_default();
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags"));
    let is_flagged = flags.is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"));
    let xen = root.text("sys/hypervisor/type");
    let product = || {
        let parts = ["sys_vendor", "product_name"].map(|part| root.text(&format!("sys/class/dmi/id/{part}")));
        let reported = parts.into_iter().flatten().filter(|part| !part.is_empty());
        let name = reported.collect::<Vec<_>>().join(" ");
        if name.is_empty() {
            "unnamed".to_owned()
        } else {
            name
        }
    };
    xen.or_else(|| is_flagged.then(product))
}

/// Returns the processors in a list of the kernel such as `0-3,8`, or None if it is no such list. Upstream counts the
/// same online ones and starts five service threads for each.
pub(crate) fn cpus(list: &str) -> Option<impl Iterator<Item = u32>> {
    let range = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let range = first.parse::<u32>().ok()?..=last.parse().ok()?;
        (!range.is_empty()).then_some(range)
    };
    let ranges: Option<Vec<_>> = list.trim().split(',').map(range).collect();
    ranges.map(|ranges| ranges.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_counted_from_the_kernels_list() {
        let count = |list| cpus(list).map(Iterator::count);
        assert_eq!(
            [count("0-1\n"), count("0"), count("0-3,8,10-11")],
            [Some(2), Some(1), Some(7)]
        );
        assert_eq!([count(""), count("3-1"), count("all")], [None; 3]);
    }

    fn on_host<T>(files: &[(&str, &str)], read: impl Fn(&Root) -> T) -> T {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        read(&Root::at(folder.path()))
    }

    #[test]
    fn the_model_is_that_of_the_first_processor_and_needs_no_host_name() {
        let model = |cpuinfo| on_host(&[("proc/cpuinfo", cpuinfo)], cpu_model);
        let two = "processor\t: 0\nmodel name\t: AMD EPYC 9R14\nmodel name\t: other\n";
        assert_eq!(model(two), "AMD EPYC 9R14");
        assert_eq!(model("processor : 0"), "");
    }

    #[test]
    fn a_virtual_machine_is_detected_by_a_processor_flag_and_named_by_its_firmware() {
        let detected = |files: &[(&str, &str)]| on_host(files, virtual_machine);
        let virtual_cpu = ("proc/cpuinfo", "flags\t\t: fpu hypervisor sse\n");
        let firmware = [
            ("sys/class/dmi/id/sys_vendor", "QEMU\n"),
            ("sys/class/dmi/id/product_name", "Standard PC\n"),
        ];
        assert_eq!(detected(&[("proc/cpuinfo", "flags : fpu\n"), firmware[0]]), None);
        assert_eq!(detected(&[virtual_cpu]).as_deref(), Some("unnamed"));
        assert_eq!(
            detected(&[virtual_cpu, firmware[0], firmware[1]]).as_deref(),
            Some("QEMU Standard PC")
        );
        assert_eq!(
            detected(&[("sys/hypervisor/type", "xen\n")]).as_deref(),
            Some("xen")
        );
    }
}
