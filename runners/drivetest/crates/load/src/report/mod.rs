//! What a run tells: the log in ACT's grammar, and the side file for machines.

pub mod block;
pub mod header;
pub mod output;
pub mod side;
