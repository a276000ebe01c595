//! Meaning of histograms: the same name means different things in different families, and names vary for one meaning.

use serde::Serialize;

use crate::act::grammar::family::{Family, Workload};
use crate::act::run::{Histogram, Run};

/// Requests that a histogram counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Reads, as the program's own analysis judges them.
    Reads,
    /// Reads of all devices without the time in queue; only programs with queues have it separately.
    DeviceReads,
    /// Reads of one device.
    ReadsOfDevice,
    /// Reads of whole blocks by defragmentation.
    LargeBlockReads,
    /// Writes of whole blocks.
    LargeBlockWrites,
    /// Writes, as the program's own analysis judges them.
    Writes,
    /// Writes of all devices without the time in queue.
    DeviceWrites,
    /// Writes of one device.
    WritesOfDevice,
    /// A name that no version of ACT prints.
    Other,
}

/// Part of a request's duration that a histogram measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Time {
    /// From submission to the device until completion.
    Service,
    /// From entering the program's queue until completion.
    QueueAndService,
}

impl Time {
    /// Return the text after the name of a histogram.
    pub fn words(self) -> &'static str {
        match self {
            Self::Service => " (service time)",
            Self::QueueAndService => " (time in queue and service)",
        }
    }
}

/// Bucket edges of a histogram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum Edges {
    /// Bucket 0 is below 1 unit, bucket b is [2^(b-1), 2^b) units.
    #[default]
    #[serde(rename = "act")]
    Act,
    /// ACT 1.x: bucket 0 is below 2 units, bucket b is [2^b, 2^(b+1)) units, so 1 unit is not an edge.
    ///
    /// Source: aerospike/act fcb708a, histogram.c, histogram_insert_data_point().
    #[serde(rename = "act-1")]
    Act1,
}

impl Edges {
    /// Return the last bucket below 2^`power` units, for `Tally::over_count`; `None` without such an edge.
    ///
    /// ```
    /// use drivetest_logs::act::semantics::Edges;
    /// assert_eq!(Edges::Act.bucket_below(3), Some(3), "8 units: bucket 4 is [8, 16)");
    /// assert_eq!(Edges::Act1.bucket_below(3), Some(2), "8 units: bucket 3 is [8, 16)");
    /// assert_eq!(Edges::Act1.bucket_below(0), None);
    /// ```
    pub fn bucket_below(self, power: u32) -> Option<u32> {
        match self {
            Self::Act => Some(power),
            Self::Act1 => power.checked_sub(1),
        }
    }
}

/// Meaning of a histogram.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Meaning {
    /// Requests that it counts.
    pub role: Role,
    /// Device, for the roles of one device.
    pub device: Option<String>,
    /// Time that it measures; `None` for a name that no version prints.
    pub time: Option<Time>,
    /// Bucket edges.
    pub edges: Edges,
    /// Whether the measurement is meaningless: `writes` of 6.4 to 6.6.
    pub is_meaningless: bool,
}

/// Facts of a run that determine the meaning of its histograms.
#[derive(Clone, Debug)]
pub struct Context<'a> {
    /// Version family.
    pub family: Family,
    /// Workload.
    pub workload: Workload,
    /// Devices of the configuration.
    pub devices: &'a [&'a str],
    /// Bucket edges.
    pub edges: Edges,
    /// Whether the program wrote to one place only.
    pub writes_are_meaningless: bool,
}

impl Context<'_> {
    /// Return the meaning of the histogram with a name.
    pub fn meaning(&self, name: &str) -> Meaning {
        let (role, device) = self.role(name);
        let is_write = matches!(role, Role::Writes | Role::WritesOfDevice);
        Meaning {
            role,
            device,
            time: self.time(role),
            edges: self.edges,
            is_meaningless: is_write && self.writes_are_meaningless,
        }
    }

    fn role(&self, name: &str) -> (Role, Option<String>) {
        if let Some(role) = of_all(self.family, self.workload, name) {
            return (role, None);
        }
        let known = |device: &str| self.devices.contains(&device).then(|| device.to_owned());
        let read = name.strip_suffix("-reads").and_then(known);
        let written = name.strip_suffix("-writes").and_then(known);
        let plain = known(name).filter(|_| self.family == Family::A);
        match (written, read.or(plain)) {
            (Some(device), _) => (Role::WritesOfDevice, Some(device)),
            (None, Some(device)) => (Role::ReadsOfDevice, Some(device)),
            (None, None) => (Role::Other, None),
        }
    }

    fn time(&self, role: Role) -> Option<Time> {
        match role {
            Role::Other => None,
            Role::Reads | Role::Writes if self.family != Family::C => Some(Time::QueueAndService),
            _ => Some(Time::Service),
        }
    }
}

/// Return the role of a histogram of all devices together.
///
/// Source: aerospike/act, act.c (1.x to 4.0), src/storage/act_storage.c and src/index/act_index.c (from 5.0).
fn of_all(family: Family, workload: Workload, name: &str) -> Option<Role> {
    Some(match (family, name) {
        (Family::A, "READS") | (Family::C, "reads") => Role::Reads,
        (Family::B, "reads") if workload == Workload::Storage => Role::Reads,
        (Family::B, "trans-reads") if workload == Workload::Index => Role::Reads,
        (Family::A, "RAW READS") | (Family::B | Family::C, "device-reads") => Role::DeviceReads,
        (Family::A, "LARGE BLOCK READS") | (Family::B | Family::C, "large-block-reads") => {
            Role::LargeBlockReads
        }
        (Family::A, "LARGE BLOCK WRITES") | (Family::B | Family::C, "large-block-writes") => {
            Role::LargeBlockWrites
        }
        (Family::A, "WRITES") | (Family::B | Family::C, "writes") => Role::Writes,
        (Family::A, "RAW WRITES") | (Family::B | Family::C, "device-writes") => Role::DeviceWrites,
        _ => return None,
    })
}

/// Name of the histogram of reads in 6.x, and of reads in general.
pub const READS: &str = "reads";

/// Return the name of the histogram that the program's own analysis judges, as its family prints it.
pub fn judged_name(family: Family, workload: Workload) -> &'static str {
    match (family, workload) {
        (Family::A, _) => "READS",
        (Family::B, Workload::Index) => "trans-reads",
        _ => READS,
    }
}

/// Return the histogram that a verdict judges: reads, up to 5.3 with the time in queue; `None` if the log has none.
pub fn judged(run: &Run) -> Option<&Histogram> {
    with_role(run, Role::Reads)
}

/// Return the histogram for comparisons between versions: service times of reads.
///
/// `None` if the log has none, and for the buckets of 1.x, which are not comparable with others.
pub fn compared(run: &Run) -> Option<&Histogram> {
    let is_comparable = |histogram: &&Histogram| {
        let meaning = &histogram.meaning;
        meaning.time == Some(Time::Service) && meaning.edges == Edges::Act
    };
    let comparable = |role: Role| with_role(run, role).filter(is_comparable);
    comparable(Role::DeviceReads).or_else(|| comparable(Role::Reads))
}

fn with_role(run: &Run, role: Role) -> Option<&Histogram> {
    let mut histograms = run.histograms.iter();
    histograms.find(|histogram| histogram.meaning.role == role)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(family: Family, workload: Workload) -> Context<'static> {
        Context {
            family,
            workload,
            devices: &["/dev/a", "/dev/b-reads"],
            edges: Edges::Act,
            writes_are_meaningless: false,
        }
    }

    #[test]
    fn reads_hold_the_time_in_queue_before_6_and_not_since() {
        let time = |family, name| context(family, Workload::Storage).meaning(name).time;
        assert_eq!(time(Family::A, "READS"), Some(Time::QueueAndService));
        assert_eq!(time(Family::B, "reads"), Some(Time::QueueAndService));
        assert_eq!(time(Family::C, "reads"), Some(Time::Service));
        assert_eq!(time(Family::A, "RAW READS"), Some(Time::Service));
        assert_eq!(time(Family::B, "device-reads"), Some(Time::Service));
        assert_eq!(time(Family::B, "large-block-reads"), Some(Time::Service));
    }

    #[test]
    fn what_the_index_program_of_5_judged_is_trans_reads() {
        let meaning = context(Family::B, Workload::Index).meaning("trans-reads");
        assert_eq!(
            (meaning.role, meaning.time),
            (Role::Reads, Some(Time::QueueAndService))
        );
        assert_eq!(
            context(Family::B, Workload::Storage).meaning("trans-reads").role,
            Role::Other
        );
        assert_eq!(judged_name(Family::B, Workload::Index), "trans-reads");
    }

    #[test]
    fn the_configuration_decides_which_names_are_devices() {
        let of = |family, name| {
            let meaning = context(family, Workload::Storage).meaning(name);
            (meaning.role, meaning.device)
        };
        let device = |name: &str| Some(name.to_owned());
        assert_eq!(
            of(Family::C, "/dev/a-reads"),
            (Role::ReadsOfDevice, device("/dev/a"))
        );
        assert_eq!(
            of(Family::C, "/dev/b-reads-writes"),
            (Role::WritesOfDevice, device("/dev/b-reads"))
        );
        assert_eq!(of(Family::A, "/dev/a"), (Role::ReadsOfDevice, device("/dev/a")));
        assert_eq!(
            of(Family::C, "/dev/a"),
            (Role::Other, None),
            "6.x prints no bare device"
        );
        assert_eq!(of(Family::C, "/dev/c-reads"), (Role::Other, None));
    }

    #[test]
    fn only_writes_of_records_are_meaningless() {
        let context = Context {
            writes_are_meaningless: true,
            ..context(Family::C, Workload::Storage)
        };
        let is = |name| context.meaning(name).is_meaningless;
        assert!(is("writes") && is("/dev/a-writes"));
        assert!(!is("reads") && !is("large-block-writes"));
    }
}
