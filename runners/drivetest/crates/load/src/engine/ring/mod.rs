//! The `io_uring` engine: one ring for each worker, with as many outstanding requests as the load needs.
//!
//! A worker takes a request's number, sleeps until it is due, submits it and continues. It timestamps completions
//! before anything else. No request is submitted early. If a device has no free slot, only its own requests wait.

mod arena;
mod backlog;
mod queue_depth;
mod stream_state;
mod uring;
mod worker;

pub(crate) use worker::Worker;
