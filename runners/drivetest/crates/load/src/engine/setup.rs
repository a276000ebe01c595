//! The setup of a load: its rings, idle processors that stay ready, memory that stays resident, and the NUMA node.

use std::fs::File;
use std::io::{self, Write};

use rustix::mm::{MlockAllFlags, mlockall};
use rustix::thread::{CapabilitySet, CpuSet, capabilities, sched_getaffinity};
use serde::Serialize;

use super::{Engine, EngineSelection};
use crate::host::cpus;
use crate::telemetry::Root;

/// The setup, for the start record. Memory stays locked until the process ends, the rest lasts as long as this value.
#[derive(Debug, Default, Serialize)]
pub struct Setup {
    /// How the kernel runs completions: `defer-taskrun`, `coop-taskrun` or `plain`; null for threads.
    pub(super) ring_mode: Option<&'static str>,
    /// Whether the memory of the rings is registered with the kernel; null for threads.
    pub(super) has_registered_buffers: Option<bool>,
    /// Whether the kernel counts how long threads are ready but have no processor; null for rings.
    pub(super) is_processor_wait_counted: Option<bool>,
    /// Whether the kernel keeps idle processors ready, so that waking them takes little time.
    has_cpu_latency_request: bool,
    /// Whether the kernel keeps the memory of the load resident.
    is_memory_locked: bool,
    /// The number of rings and its reason; null for threads.
    rings_reason: Option<String>,
    /// The node whose processors run the rings; null if they run on all processors.
    numa_node: Option<u64>,
    /// The reasons for what is not set.
    sentences: Vec<String>,
    /// The request is valid as long as the file is open.
    #[serde(skip)]
    latency_request: Option<File>,
    #[serde(skip)]
    pub(super) ring_cpus: Option<CpuSet>,
}

impl Setup {
    /// Sets what this process may set. `nodes` are the NUMA nodes of the devices.
    pub fn apply(root: &Root, selection: &EngineSelection, nodes: &[Option<u64>]) -> Self {
        let mut setup = Self {
            rings_reason: selection.rings_reason.clone(),
            ..Self::default()
        };
        match request_latency(root) {
            Ok(file) => setup.latency_request = Some(file),
            Err(error) => setup.lacks("idle processors may sleep: /dev/cpu_dma_latency", &error),
        }
        setup.has_cpu_latency_request = setup.latency_request.is_some();
        match lock_memory() {
            Ok(()) => setup.is_memory_locked = true,
            Err(error) => setup.lacks("memory is not locked", &error),
        }
        let is_numa = root
            .text("sys/devices/system/node/online")
            .is_some_and(|nodes| nodes != "0");
        if selection.engine != Engine::Threads && is_numa {
            setup.set_node(root, nodes);
        }
        setup
    }

    fn lacks(&mut self, what: &str, why: &dyn std::fmt::Display) {
        self.sentences.push(format!("{what}: {why}"));
    }

    /// Selects the processors of the node that all devices are on.
    fn set_node(&mut self, root: &Root, nodes: &[Option<u64>]) {
        let what = "rings run on the processors of all NUMA nodes";
        let first = nodes.first().copied().flatten();
        let Some(node) = first.filter(|_| nodes.iter().all(|node| *node == first)) else {
            return self.lacks(what, &"the devices are not known to be on one node");
        };
        self.ring_cpus = cpus_of(root, node);
        match self.ring_cpus {
            Some(_) => self.numa_node = Some(node),
            None => self.lacks(what, &format!("this process may use no processor of node {node}")),
        }
    }
}

/// Asks the kernel to let no processor sleep so deeply that waking it takes time.
/// Source: Documentation/power/pm_qos_interface.rst.
fn request_latency(root: &Root) -> io::Result<File> {
    let mut file = File::options()
        .write(true)
        .open(root.path("dev/cpu_dma_latency"))?;
    file.write_all(&0_i32.to_ne_bytes())?;
    Ok(file)
}

/// Locks pages in memory as they are used, so that reserved memory stays unused.
fn lock_memory() -> io::Result<()> {
    // Without the capability, a later allocation beyond the limit would fail.
    if !capabilities(None)?.effective.contains(CapabilitySet::IPC_LOCK) {
        return Err(io::Error::other("it needs the capability CAP_IPC_LOCK"));
    }
    Ok(mlockall(
        MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT,
    )?)
}

/// Returns the processors of a node that this process may use, or None if there are none.
fn cpus_of(root: &Root, node: u64) -> Option<CpuSet> {
    let list = root.text(&format!("sys/devices/system/node/node{node}/cpulist"))?;
    let (allowed, mut found) = (sched_getaffinity(None).ok()?, CpuSet::new());
    let usable = |cpu: &usize| *cpu < CpuSet::MAX_CPU && allowed.is_set(*cpu);
    cpus(&list)?
        .map(|cpu| cpu as usize)
        .filter(usable)
        .for_each(|cpu| found.set(cpu));
    (found.count() > 0).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::fake_host::FakeHost;

    const RINGS: Engine = Engine::IoUring { workers: 1 };

    fn apply(host: &FakeHost, engine: Engine, nodes: &[Option<u64>]) -> Setup {
        let selection = EngineSelection {
            engine,
            reason: String::new(),
            rings_reason: engine.workers().map(|_| "configured".to_owned()),
        };
        Setup::apply(&host.root(), &selection, nodes)
    }

    /// Returns a host whose first node has the processors of this process, and whose second one has none.
    fn host() -> FakeHost {
        let host = FakeHost::new();
        host.write("sys/devices/system/node/online", "0-1");
        host.write("sys/devices/system/node/node0/cpulist", "0-1023");
        host.write("sys/devices/system/node/node1/cpulist", "4096-4097");
        host
    }

    fn nodes(engine: Engine, nodes: &[Option<u64>]) -> (Option<u64>, usize) {
        let setup = apply(&host(), engine, nodes);
        assert_eq!(setup.rings_reason.is_some(), engine == RINGS);
        assert_eq!(setup.ring_cpus.is_some(), setup.numa_node.is_some());
        let is_about_nodes = |sentence: &&String| sentence.contains("NUMA");
        (
            setup.numa_node,
            setup.sentences.iter().filter(is_about_nodes).count(),
        )
    }

    #[test]
    fn rings_run_on_the_node_of_all_devices() {
        assert_eq!(nodes(RINGS, &[Some(0), Some(0)]), (Some(0), 0));
        for several in [
            &[Some(0), Some(1)][..],
            &[Some(0), None],
            &[None],
            &[],
            &[Some(1)],
        ] {
            assert_eq!(nodes(RINGS, several), (None, 1), "{several:?}");
        }
        assert_eq!(nodes(Engine::Threads, &[Some(0)]), (None, 0));
    }

    #[test]
    fn idle_processors_stay_ready_if_that_is_permitted() {
        let host = host();
        let refused = apply(&host, RINGS, &[Some(0)]);
        assert!(!refused.has_cpu_latency_request);
        assert!(
            refused.sentences[0].starts_with("idle processors may sleep: /dev/cpu_dma_latency: No such file")
        );
        host.write("dev/cpu_dma_latency", "");
        let granted = apply(&host, RINGS, &[Some(0)]);
        assert!(granted.has_cpu_latency_request && granted.sentences.len() + 1 == refused.sentences.len());
        let written = std::fs::read(host.root().path("dev/cpu_dma_latency")).unwrap();
        assert_eq!(written[..4], [0; 4]);
    }

    #[test]
    fn memory_is_locked_only_with_the_capability() {
        let is_permitted = capabilities(None)
            .unwrap()
            .effective
            .contains(CapabilitySet::IPC_LOCK);
        let setup = apply(&host(), Engine::Threads, &[]);
        let sentence = "memory is not locked: it needs the capability CAP_IPC_LOCK".to_owned();
        assert_eq!(
            (setup.is_memory_locked, setup.sentences.contains(&sentence)),
            (is_permitted, !is_permitted)
        );
    }
}
