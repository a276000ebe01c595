//! A request with its place drawn.

use crate::clock::Instant;
use crate::device::Extent;
use crate::engine::workers::RunContext;
use crate::schedule::rng::RequestRng;
use crate::schedule::stream::Stream;
use crate::stats::io_errors::{FailedRequest, Failure};
use crate::stop::StopReason;

/// What is asked, of whom, and when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    pub(crate) device: usize,
    pub(crate) extent: Extent,
    pub(crate) due: Instant,
}

/// The place of request `k`, and the choices that are left for its data.
pub(crate) fn draw(context: &RunContext, stream: &Stream, k: u64, due: Instant) -> (Request, RequestRng) {
    let mut rng = RequestRng::new(context.seed, stream.operation as u64, k);
    let device = stream.device(k, context.devices.len(), &mut rng);
    let extent = context.devices[device].offsets.extent(stream.operation, &mut rng);
    (Request { device, extent, due }, rng)
}

/// Counts a request that failed; the one that is too many stops the run.
pub(crate) fn fail(context: &RunContext, failed_request: FailedRequest) {
    match context.io_errors.record(failed_request) {
        true => context.stop.raise(StopReason::Device(failed_request)),
        // The collector tells the first ones while the run goes on.
        false => context.stop.wake(),
    }
}

impl Request {
    /// This request, failed.
    pub(crate) fn failed_request(self, stream: &Stream, failure: Failure) -> FailedRequest {
        FailedRequest {
            device: self.device,
            operation: stream.operation,
            extent: self.extent,
            failure,
        }
    }
}
