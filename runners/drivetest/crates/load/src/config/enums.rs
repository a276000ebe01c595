//! Keys with a fixed set of values, and the two models of load.

use super::parse::KeyValue;

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

/// Declares the values of a key with their names.
macro_rules! keyword_enum {
    ($(#[$doc:meta])* $type:ident { $($(#[$about:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub enum $type {
            $($(#[$about])* $variant,)*
        }

        impl $type {
            /// Returns the name in a configuration.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }

        impl KeyValue for $type {
            fn parse(value: &str) -> Result<Self, String> {
                match value {
                    $($name => Ok(Self::$variant),)*
                    _ => Err([$($name),*].join(", ")),
                }
            }

            fn text(&self) -> String {
                self.name().to_owned()
            }
        }
    };
}

keyword_enum! {
    /// The distribution of requests over time.
    Arrivals {
        /// Evenly spaced.
        #[default]
        Even = "even",
        /// At random, as from many independent clients.
        Poisson = "poisson",
        /// In bursts, like upstream's threads, which all start together.
        Lockstep = "lockstep",
    }
}

keyword_enum! {
    /// The engine that sends the requests.
    EngineChoice {
        /// Selects the engine that suits the devices.
        #[default]
        Auto = "auto",
        /// io_uring.
        IoUring = "io_uring",
        /// Threads that each wait for one request.
        Threads = "threads",
    }
}
