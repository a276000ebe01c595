//! Background runs: `drivetest start`, `status`, `stop` and `remove`.

pub mod remove;
pub mod start;
pub mod status;
pub mod stop;
