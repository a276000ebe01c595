//! The `io_uring` engine: one ring for each worker, as many requests out as the load needs.
//!
//! A worker takes a request's number, sleeps until it is due, hands it over and goes on; what has come back is stamped
//! before anything else is done. Nothing is handed over before it is due. A device that has as many requests out as it
//! may have makes its own requests wait, never those of another.

mod arena;
mod backlog;
mod queue_depth;
mod stream_state;
mod uring;
mod worker;

pub(crate) use worker::Worker;
