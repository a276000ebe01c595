//! Output of a run: the log in ACT's grammar, the side file for programs, and a summary for people.

pub mod block;
pub mod header;
pub mod output;
pub mod rounded;
pub mod side;
pub mod summary;
pub mod worst;
