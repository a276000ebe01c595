//! Keys whose value is one word of a few, and the two models of load.

/// Which of ACT's two programs is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    /// act_storage: records and large blocks.
    Storage,
    /// act_index: pages of 4096 bytes.
    Index,
}

impl Model {
    /// As in the name of ACT's program and of our command.
    pub fn name(self) -> &'static str {
        match self {
            Self::Storage => "storage",
            Self::Index => "index",
        }
    }
}

/// When requests are due within their rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrivals {
    /// Evenly spaced.
    Even,
    /// At random, as from many clients that know nothing of each other.
    Poisson,
    /// In bursts, as upstream's threads make them that all start together.
    Lockstep,
}

/// What carries the requests out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineChoice {
    /// Whichever suits the devices.
    Auto,
    /// io_uring.
    IoUring,
    /// Threads that each wait for one request.
    Threads,
}

/// A value that is told by a word.
pub(crate) trait KeywordEnum: Copy + 'static {
    /// Every word with its value; the first is the default.
    const ALL: &'static [(&'static str, Self)];

    /// The value of a word; the default where there is none.
    fn of(word: Option<&str>) -> Self {
        let found = Self::ALL.iter().find(|(name, _)| Some(*name) == word);
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

fn word_of<T: KeywordEnum + PartialEq>(value: T) -> &'static str {
    let found = T::ALL.iter().find(|(_, known)| *known == value);
    found.map_or("", |(name, _)| name)
}

impl Arrivals {
    /// As in a configuration.
    pub fn name(self) -> &'static str {
        word_of(self)
    }
}

impl EngineChoice {
    /// As in a configuration.
    pub fn name(self) -> &'static str {
        word_of(self)
    }
}
