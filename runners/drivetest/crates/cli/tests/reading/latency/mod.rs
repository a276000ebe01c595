//! `latency` against upstream's own tables of the same real logs.

mod agreement;
mod case;
mod differences;
