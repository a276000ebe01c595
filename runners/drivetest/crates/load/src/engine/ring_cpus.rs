//! The processors that run the rings: those of the NUMA node of the devices, or all that this process may use.

use std::io;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::host::cpus;
use crate::telemetry::Root;

/// The processors that run the rings.
#[derive(Debug, Default)]
pub struct RingCpus {
    /// Number of processors.
    pub(super) count: usize,
    /// The node that has all devices; None if rings run on all processors.
    pub(super) node: Option<u64>,
    /// Its processors that this process may use.
    pub(super) set: Option<CpuSet>,
    /// Why rings run on all of several nodes.
    pub(super) unconfined_reason: Option<String>,
}

impl RingCpus {
    /// Selects processors for devices on these NUMA nodes, on a host with `online_count` processors.
    pub fn select(root: &Root, nodes: &[Option<u64>], online_count: u32) -> Self {
        let allowed = sched_getaffinity(None).map_err(io::Error::from);
        let count = allowed.as_ref().map_or(online_count, CpuSet::count) as usize;
        let on_all = Self {
            count,
            ..Self::default()
        };
        let is_numa = root
            .text("sys/devices/system/node/online")
            .is_some_and(|nodes| nodes != "0");
        if !is_numa {
            return on_all;
        }
        match node_of(nodes).and_then(|node| Ok((node, cpus_of(root, node, &allowed)?))) {
            Ok((node, set)) => Self {
                count: set.count() as usize,
                node: Some(node),
                set: Some(set),
                unconfined_reason: None,
            },
            Err(reason) => Self {
                unconfined_reason: Some(reason),
                ..on_all
            },
        }
    }

    /// Returns the processors as words, for the reason of the number of rings.
    pub(super) fn text(&self) -> String {
        let processors = if self.count == 1 {
            "processor"
        } else {
            "processors"
        };
        let node = self.node.map(|node| format!(" of NUMA node {node}"));
        format!("{} {processors}{}", self.count, node.unwrap_or_default())
    }
}

/// Returns the node that has all devices.
fn node_of(nodes: &[Option<u64>]) -> Result<u64, String> {
    let first = nodes.first().copied().flatten();
    let node = first.filter(|_| nodes.iter().all(|node| *node == first));
    node.ok_or_else(|| "the devices are not known to be on one node".to_owned())
}

/// Returns the processors of a node that are allowed for this process.
fn cpus_of(root: &Root, node: u64, allowed: &io::Result<CpuSet>) -> Result<CpuSet, String> {
    let allowed = allowed
        .as_ref()
        .map_err(|error| format!("the processors of this process cannot be read: {error}"))?;
    let list = root.text(&format!("sys/devices/system/node/node{node}/cpulist"));
    let list = list.unwrap_or_default();
    let listed = cpus(&list).ok_or_else(|| format!("the processors of node {node} are not reported"))?;
    let mut found = CpuSet::new();
    listed
        .map(|cpu| cpu as usize)
        .filter(|cpu| *cpu < CpuSet::MAX_CPU && allowed.is_set(*cpu))
        .for_each(|cpu| found.set(cpu));
    if found.count() == 0 {
        return Err(format!("this process may use no processor of node {node}"));
    }
    // Tried here, so that the start record is true.
    Confinement::begin(&found).map_err(|error| format!("the kernel refuses node {node}: {error}"))?;
    Ok(found)
}

/// Confines the thread that created it to some processors, until it is dropped.
pub(super) struct Confinement {
    before: CpuSet,
}

impl Confinement {
    /// Confines the calling thread.
    ///
    /// # Errors
    /// If the kernel refuses these processors.
    pub(super) fn begin(cpus: &CpuSet) -> io::Result<Self> {
        let before = sched_getaffinity(None)?;
        sched_setaffinity(None, cpus)?;
        Ok(Self { before })
    }
}

impl Drop for Confinement {
    fn drop(&mut self) {
        let _ = sched_setaffinity(None, &self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::fake_host::FakeHost;

    /// Returns the first processor of this process.
    fn first_cpu() -> usize {
        let allowed = sched_getaffinity(None).unwrap();
        (0..CpuSet::MAX_CPU).find(|cpu| allowed.is_set(*cpu)).unwrap()
    }

    /// Returns a host with the first processor of this process on node 0, and two others on node 1.
    fn host() -> FakeHost {
        let host = FakeHost::new();
        host.write("sys/devices/system/node/online", "0-1");
        host.write("sys/devices/system/node/node0/cpulist", &first_cpu().to_string());
        host.write("sys/devices/system/node/node1/cpulist", "4096-4097");
        host
    }

    fn set_of(cpus: &[usize]) -> CpuSet {
        let mut set = CpuSet::new();
        cpus.iter().for_each(|cpu| set.set(*cpu));
        set
    }

    #[test]
    fn rings_run_on_the_node_of_all_devices() {
        let before = sched_getaffinity(None).unwrap();
        let selected = RingCpus::select(&host().root(), &[Some(0), Some(0)], 64);
        assert_eq!((selected.node, selected.count), (Some(0), 1));
        assert_eq!(selected.set, Some(set_of(&[first_cpu()])));
        assert_eq!(selected.unconfined_reason, None);
        assert_eq!(selected.text(), "1 processor of NUMA node 0");
        // The trial is over.
        assert_eq!(sched_getaffinity(None).unwrap(), before);
    }

    #[test]
    fn rings_run_on_all_processors_of_this_process_if_there_is_no_common_node() {
        let allowed_count = sched_getaffinity(None).unwrap().count() as usize;
        let unknown = "the devices are not known to be on one node";
        let cases: [(&[Option<u64>], &str); 6] = [
            (&[Some(0), Some(1)], unknown),
            (&[Some(0), None], unknown),
            (&[None], unknown),
            (&[], unknown),
            (&[Some(1)], "this process may use no processor of node 1"),
            (&[Some(2)], "the processors of node 2 are not reported"),
        ];
        for (nodes, reason) in cases {
            let selected = RingCpus::select(&host().root(), nodes, 4_096);
            assert_eq!((selected.node, selected.set), (None, None), "{nodes:?}");
            assert_eq!(selected.unconfined_reason.as_deref(), Some(reason));
            assert_eq!(selected.count, allowed_count);
        }
        let single = RingCpus::select(&FakeHost::new().root(), &[None], 4_096);
        assert_eq!((single.count, single.unconfined_reason), (allowed_count, None));
    }

    #[test]
    fn an_error_of_the_kernel_is_the_reason() {
        let host = host();
        let many_processors = Err(io::Error::from_raw_os_error(22));
        assert_eq!(
            cpus_of(&host.root(), 0, &many_processors).unwrap_err(),
            "the processors of this process cannot be read: Invalid argument (os error 22)"
        );
        // A processor that went offline.
        host.write("sys/devices/system/node/node0/cpulist", "1023");
        assert_eq!(
            cpus_of(&host.root(), 0, &Ok(set_of(&[1_023]))).unwrap_err(),
            "the kernel refuses node 0: Invalid argument (os error 22)"
        );
    }
}
