//! Which version family wrote a header, told by its keys: version strings repeat across flavours.

/// A family of versions that share a grammar and the meaning of their histograms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// 1.x to 4.0: one section `ACT CONFIGURATION` or `CIO CONFIGURATION`, no list of histograms.
    A,
    /// 5.x: queues; `reads` includes the time in them.
    B,
    /// 6.x: no queues; `reads` is the device's service time.
    C,
}

/// Which of the ACT programs wrote the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// `act_storage`.
    Storage,
    /// `act_index`.
    Index,
}

/// How a family's blocks look.
#[derive(Debug, PartialEq, Eq)]
pub struct Grammar {
    /// What stands before the seconds of an interval line.
    pub interval_word: &'static [u8],
}

/// The grammar of 6.x.
pub const GRAMMAR_C: Grammar = Grammar {
    interval_word: b"after ",
};

/// Keys that only programs with queues print.
const QUEUE_KEYS: [&str; 3] = ["num-queues", "threads-per-queue", "max-reqs-queued"];

impl Family {
    /// Tells the family by the title of the configuration and its keys; None for a title of no known program.
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

    /// The grammar of the family's blocks; None where this reader has none.
    pub fn grammar(self) -> Option<&'static Grammar> {
        match self {
            Self::A | Self::B => None,
            Self::C => Some(&GRAMMAR_C),
        }
    }

    /// What a message calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::A => "ACT 1.x to 4.0",
            Self::B => "ACT 5.x",
            Self::C => "ACT 6.x",
        }
    }
}

impl Workload {
    /// The workload's code in documents.
    pub fn code(self) -> &'static str {
        match self {
            Self::Storage => "act-storage",
            Self::Index => "act-index",
        }
    }

    /// Upstream's program for it.
    pub fn act_program(self) -> &'static str {
        match self {
            Self::Storage => "act_storage",
            Self::Index => "act_index",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_tell_the_family_not_the_version() {
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
