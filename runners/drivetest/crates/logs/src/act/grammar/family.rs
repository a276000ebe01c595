//! Version families of ACT, detected by the keys of the header: version strings repeat across variants.

use serde::Serialize;

/// Family of versions that share a grammar and the meaning of their histograms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Family {
    /// 1.x to 4.0: one section `ACT CONFIGURATION` or `CIO CONFIGURATION`, no list of histograms.
    #[serde(rename = "act-1-4")]
    A,
    /// 5.x: queues; `reads` includes the time in them.
    #[serde(rename = "act-5")]
    B,
    /// 6.x: no queues; `reads` is the device's service time.
    #[serde(rename = "act-6")]
    C,
}

/// Program of ACT that wrote a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// `act_storage`, and `act` before 5.0.
    Storage,
    /// `act_index`.
    Index,
}

/// Format of the blocks of a family.
#[derive(Debug, PartialEq, Eq)]
pub struct Grammar {
    /// Text before the seconds of an interval line.
    pub interval_word: &'static [u8],
    /// Texts before the number of queued requests.
    pub queued_words: &'static [&'static [u8]],
    /// The same tag names the reads of a device and later its writes.
    pub tags_depend_on_place: bool,
}

const GRAMMAR_A: Grammar = Grammar {
    interval_word: b"After ",
    queued_words: &[b"read-reqs queued: ", b"requests queued: "],
    tags_depend_on_place: true,
};

const GRAMMAR_B: Grammar = Grammar {
    interval_word: b"after ",
    queued_words: &[b"requests-queued: "],
    tags_depend_on_place: false,
};

const GRAMMAR_C: Grammar = Grammar {
    interval_word: b"after ",
    queued_words: &[],
    tags_depend_on_place: false,
};

/// Keys that only programs with queues print.
const QUEUE_KEYS: [&str; 3] = ["num-queues", "threads-per-queue", "max-reqs-queued"];

impl Family {
    /// Detect the family by the title and the keys of the configuration; `None` for the title of an unknown program.
    pub fn detect<'a>(title: &str, mut keys: impl Iterator<Item = &'a str>) -> Option<(Self, Workload)> {
        let workload = match title {
            "CIO CONFIGURATION" | "ACT CONFIGURATION" => return Some((Self::A, Workload::Storage)),
            "ACT-STORAGE CONFIGURATION" => Workload::Storage,
            "ACT-INDEX CONFIGURATION" => Workload::Index,
            _ => return None,
        };
        let queues = keys.any(|key| QUEUE_KEYS.contains(&key));
        Some((if queues { Self::B } else { Self::C }, workload))
    }

    /// Return the family of a version string, for headers that end before any key; `None` for an unknown version.
    pub fn of_version(version: &str) -> Option<Self> {
        match version.split('.').next()? {
            "1" | "2" | "3" | "4" => Some(Self::A),
            "5" => Some(Self::B),
            "6" => Some(Self::C),
            _ => None,
        }
    }

    /// Return the format of the family's blocks.
    pub fn grammar(self) -> &'static Grammar {
        match self {
            Self::A => &GRAMMAR_A,
            Self::B => &GRAMMAR_B,
            Self::C => &GRAMMAR_C,
        }
    }

    /// Return the name for messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::A => "ACT 1.x to 4.0",
            Self::B => "ACT 5.x",
            Self::C => "ACT 6.x",
        }
    }

    /// Return the versions that this reader was tested with.
    pub fn known_versions(self) -> &'static [&'static str] {
        match self {
            Self::A => &["1.x", "2.0", "3.0", "3.1", "4.0"],
            Self::B => &["5.0", "5.1", "5.2", "5.3"],
            Self::C => &["6.0", "6.1", "6.2", "6.3", "6.4", "6.5", "6.6"],
        }
    }
}

impl Workload {
    /// Return the code of the workload in JSON.
    pub fn code(self) -> &'static str {
        match self {
            Self::Storage => "act-storage",
            Self::Index => "act-index",
        }
    }

    /// Return the program of ACT that runs the workload in a family.
    pub fn act_program(self, family: Option<Family>) -> &'static str {
        match self {
            Self::Storage if family == Some(Family::A) => "act",
            Self::Storage => "act_storage",
            Self::Index => "act_index",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_determine_the_family_not_the_version() {
        let detect = |title, keys: &[&'static str]| Family::detect(title, keys.iter().copied());
        assert_eq!(
            detect("ACT CONFIGURATION", &["num-queues"]),
            Some((Family::A, Workload::Storage))
        );
        assert_eq!(
            detect("ACT-STORAGE CONFIGURATION", &["num-devices", "num-queues"]),
            Some((Family::B, Workload::Storage))
        );
        assert_eq!(
            detect("ACT-INDEX CONFIGURATION", &["service-threads"]),
            Some((Family::C, Workload::Index))
        );
        assert_eq!(detect("FIO CONFIGURATION", &[]), None);
    }
}
