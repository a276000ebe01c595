//! The setup of a load: its rings, idle processors that stay ready, memory that stays resident, and the NUMA node.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use rustix::mm::{MlockAllFlags, mlockall};
use rustix::thread::{CapabilitySet, capabilities};
use serde::Serialize;

use super::ring_cpus::RingCpus;
use super::{Engine, EngineSelection};
use crate::telemetry::Root;

/// The newest mode of a ring.
const NEWEST_MODE: &str = "defer-taskrun";

/// The initial user namespace, `PROC_USER_INIT_INO`. Source: include/linux/proc_ns.h.
const INITIAL_USER_NAMESPACE: &str = "user:[4026531837]";

/// The setup, for the start record. Memory stays locked until the process ends, the rest lasts as long as this value.
#[derive(Debug, Default, Serialize)]
pub struct Setup {
    /// How the kernel runs completions: `defer-taskrun`, `coop-taskrun` or `plain`; null for threads.
    pub(super) ring_mode: Option<&'static str>,
    /// Whether the memory of all rings is registered with the kernel; null for threads.
    pub(super) has_registered_buffers: Option<bool>,
    /// Whether the kernel counts how long threads are ready but have no processor; null for rings.
    pub(super) is_processor_wait_counted: Option<bool>,
    /// Whether the kernel keeps idle processors ready, so that waking them takes little time.
    has_cpu_latency_request: bool,
    /// Whether the kernel keeps the memory of the load resident.
    is_memory_locked: bool,
    /// The number of rings and its reason; null for threads.
    rings_reason: Option<String>,
    /// The node that runs the rings and has their memory; null if all nodes do.
    numa_node: Option<u64>,
    /// The reasons for what is not set, or not for all rings.
    sentences: Vec<String>,
    /// The request is valid as long as the file is open.
    #[serde(skip)]
    latency_request: Option<File>,
}

impl Setup {
    /// Sets what this process may set.
    pub fn apply(root: &Root, selection: &EngineSelection, ring_cpus: &RingCpus) -> Self {
        let mut setup = Self {
            rings_reason: selection.rings_reason.clone(),
            ..Self::default()
        };
        match request_latency(root) {
            Ok(file) => setup.latency_request = Some(file),
            Err(error) => setup.note_unset("idle processors may sleep: /dev/cpu_dma_latency", &error),
        }
        setup.has_cpu_latency_request = setup.latency_request.is_some();
        match lock_memory(root) {
            Ok(()) => setup.is_memory_locked = true,
            Err(error) => setup.note_unset("memory is not locked", &error),
        }
        if selection.engine != Engine::Threads {
            setup.numa_node = ring_cpus.node;
            if let Some(reason) = &ring_cpus.unconfined_reason {
                setup.note_unset("rings run on the processors of all NUMA nodes", reason);
            }
        }
        setup
    }

    /// Records how a ring is set up. The record states what all rings have.
    pub(super) fn add_ring(&mut self, mode: &'static str, unregistered_reason: Option<&io::Error>) {
        let is_first = self.ring_mode.is_none();
        if mode != NEWEST_MODE && self.ring_mode != Some(mode) {
            self.note_unset(
                "the ring mode is not the newest",
                &format!("the kernel refuses {NEWEST_MODE}"),
            );
        }
        if is_first || mode != NEWEST_MODE {
            self.ring_mode = Some(mode);
        }
        let had_registered_buffers = self.has_registered_buffers != Some(false);
        if let Some(reason) = unregistered_reason.filter(|_| had_registered_buffers) {
            self.note_unset("memory of rings is not registered", reason);
        }
        self.has_registered_buffers = Some(had_registered_buffers && unregistered_reason.is_none());
    }

    pub(super) fn note_unset(&mut self, setting: &str, reason: &dyn std::fmt::Display) {
        self.sentences.push(format!("{setting}: {reason}"));
    }
}

/// Requests a wake-up latency of 0, so that idle processors stay in shallow sleep states.
/// Source: Documentation/power/pm_qos_interface.rst.
fn request_latency(root: &Root) -> io::Result<File> {
    let mut file = File::options()
        .write(true)
        .open(root.path("dev/cpu_dma_latency"))?;
    file.write_all(&0_i32.to_ne_bytes())?;
    Ok(file)
}

/// Locks pages in memory as they are used, so that reserved memory stays unused.
fn lock_memory(root: &Root) -> io::Result<()> {
    // Without the capability, a later allocation beyond the limit would fail. The kernel ignores the capability in a
    // rootless container.
    if !capabilities(None)?.effective.contains(CapabilitySet::IPC_LOCK) {
        return Err(io::Error::other("it needs the capability CAP_IPC_LOCK"));
    }
    if !is_in_initial_user_namespace(root) {
        return Err(io::Error::other("it is not possible in a user namespace"));
    }
    Ok(mlockall(
        MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT,
    )?)
}

/// Returns whether this process has the host's capabilities. A kernel without user namespaces has no such link.
fn is_in_initial_user_namespace(root: &Root) -> bool {
    fs::read_link(root.path("proc/self/ns/user"))
        .map_or(true, |link| link == Path::new(INITIAL_USER_NAMESPACE))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::telemetry::fake_host::FakeHost;

    const RINGS: Engine = Engine::IoUring { workers: 1 };

    fn apply(host: &FakeHost, engine: Engine, ring_cpus: &RingCpus) -> Setup {
        let selection = EngineSelection {
            engine,
            reason: String::new(),
            rings_reason: engine.workers().map(|_| "configured".to_owned()),
        };
        Setup::apply(&host.root(), &selection, ring_cpus)
    }

    #[test]
    fn the_node_of_the_rings_is_recorded_or_why_there_is_none() {
        let recorded = |engine, node, reason: Option<&str>| {
            let ring_cpus = RingCpus {
                node,
                unconfined_reason: reason.map(str::to_owned),
                ..RingCpus::default()
            };
            let setup = apply(&FakeHost::new(), engine, &ring_cpus);
            assert_eq!(setup.rings_reason.is_some(), engine == RINGS);
            let about_nodes = setup
                .sentences
                .into_iter()
                .find(|sentence| sentence.contains("NUMA"));
            (setup.numa_node, about_nodes)
        };
        let sentence = "rings run on the processors of all NUMA nodes: two nodes".to_owned();
        assert_eq!(recorded(RINGS, Some(0), None), (Some(0), None));
        assert_eq!(recorded(RINGS, None, Some("two nodes")), (None, Some(sentence)));
        assert_eq!(recorded(Engine::Threads, Some(0), None), (None, None));
        assert_eq!(recorded(Engine::Threads, None, Some("two nodes")), (None, None));
    }

    #[test]
    fn idle_processors_stay_ready_if_that_is_permitted() {
        let host = FakeHost::new();
        let refused = apply(&host, RINGS, &RingCpus::default());
        assert!(!refused.has_cpu_latency_request);
        assert!(
            refused.sentences[0].starts_with("idle processors may sleep: /dev/cpu_dma_latency: No such file")
        );
        host.write("dev/cpu_dma_latency", "");
        let granted = apply(&host, RINGS, &RingCpus::default());
        assert!(granted.has_cpu_latency_request && granted.sentences.len() + 1 == refused.sentences.len());
        let written = fs::read(host.root().path("dev/cpu_dma_latency")).unwrap();
        assert_eq!(written[..4], [0; 4]);
    }

    #[test]
    fn a_ring_without_registered_memory_or_newest_mode_is_recorded_in_any_place() {
        let exhausted = io::Error::from_raw_os_error(12);
        let good = (NEWEST_MODE, None);
        let recorded = |rings: &[(&'static str, Option<&io::Error>)]| {
            let mut setup = Setup::default();
            for &(mode, unregistered_reason) in rings {
                setup.add_ring(mode, unregistered_reason);
            }
            (setup.ring_mode, setup.has_registered_buffers, setup.sentences)
        };
        assert_eq!(
            recorded(&[good, good]),
            (Some(NEWEST_MODE), Some(true), Vec::new())
        );
        let worst = ("plain", Some(&exhausted));
        let sentences = [
            "the ring mode is not the newest: the kernel refuses defer-taskrun",
            "memory of rings is not registered: Cannot allocate memory (os error 12)",
        ];
        for rings in [
            [worst, good, good],
            [good, worst, good],
            [good, good, worst],
            [worst; 3],
        ] {
            assert_eq!(
                recorded(&rings),
                (Some("plain"), Some(false), sentences.map(str::to_owned).to_vec())
            );
        }
    }

    /// Returns whether memory is locked, and the sentence about that, with this link to the user namespace.
    fn locked(link: &Path) -> (bool, Option<String>) {
        let host = FakeHost::new();
        host.write("proc/self/ns/net", "");
        symlink(link, host.root().path("proc/self/ns/user")).unwrap();
        let setup = apply(&host, Engine::Threads, &RingCpus::default());
        let about_memory = setup
            .sentences
            .into_iter()
            .find(|sentence| sentence.starts_with("memory"));
        (setup.is_memory_locked, about_memory)
    }

    #[test]
    fn memory_is_locked_only_with_the_capability_of_the_host() {
        let has_capability = capabilities(None)
            .unwrap()
            .effective
            .contains(CapabilitySet::IPC_LOCK);
        let in_container = if has_capability {
            "memory is not locked: it is not possible in a user namespace"
        } else {
            "memory is not locked: it needs the capability CAP_IPC_LOCK"
        };
        assert_eq!(
            locked(Path::new("user:[1]")),
            (false, Some(in_container.to_owned()))
        );
        let link = fs::read_link("/proc/self/ns/user").unwrap();
        let is_permitted = has_capability && link == Path::new(INITIAL_USER_NAMESPACE);
        let (is_locked, sentence) = locked(&link);
        assert_eq!((is_locked, sentence.is_none()), (is_permitted, is_permitted));
    }
}
