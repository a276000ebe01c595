//! What a run tells: the log in ACT's grammar, the side file for machines, and a summary for people.

pub mod block;
pub mod decimal;
pub mod header;
pub mod output;
pub mod side;
pub mod summary;
pub mod worst;
