//! Keys with a fixed set of values, and the two models of load.

/// The ACT program that is reproduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    /// act_storage: records and large blocks.
    Storage,
    /// act_index: index pages of 4096 bytes.
    Index,
}

impl Model {
    /// Returns the name in ACT's program and in our command.
    pub fn name(self) -> &'static str {
        match self {
            Self::Storage => "storage",
            Self::Index => "index",
        }
    }
}

/// The distribution of requests over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrivals {
    /// Evenly spaced.
    Even,
    /// At random, as from many independent clients.
    Poisson,
    /// In bursts, like upstream's threads, which all start together.
    Lockstep,
}

/// The engine that sends the requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineChoice {
    /// Selects the engine that suits the devices.
    Auto,
    /// io_uring.
    IoUring,
    /// Threads that each wait for one request.
    Threads,
}

/// A value with a fixed set of names.
pub(crate) trait KeywordEnum: Copy + 'static {
    /// All names with their values. The first is the default.
    const ALL: &'static [(&'static str, Self)];

    /// Returns the value of a name, or the default without one.
    fn of(name: Option<&str>) -> Self {
        let found = Self::ALL.iter().find(|(known, _)| Some(*known) == name);
        found.unwrap_or(&Self::ALL[0]).1
    }
}

impl KeywordEnum for Arrivals {
    const ALL: &'static [(&'static str, Self)] = &[
        ("even", Self::Even),
        ("poisson", Self::Poisson),
        ("lockstep", Self::Lockstep),
    ];
}

impl KeywordEnum for EngineChoice {
    const ALL: &'static [(&'static str, Self)] = &[
        ("auto", Self::Auto),
        ("io_uring", Self::IoUring),
        ("threads", Self::Threads),
    ];
}

fn name_of<T: KeywordEnum + PartialEq>(value: T) -> &'static str {
    let found = T::ALL.iter().find(|(_, known)| *known == value);
    found.map_or("", |(name, _)| name)
}

impl Arrivals {
    /// Returns the name in a configuration.
    pub fn name(self) -> &'static str {
        name_of(self)
    }
}

impl EngineChoice {
    /// Returns the name in a configuration.
    pub fn name(self) -> &'static str {
        name_of(self)
    }
}
