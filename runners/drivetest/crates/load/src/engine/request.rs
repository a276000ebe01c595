//! A request with its device and offset.

use crate::clock::Instant;
use crate::device::Extent;
use crate::engine::workers::RunContext;
use crate::schedule::rng::RequestRng;
use crate::schedule::stream::Stream;
use crate::stats::io_errors::{FailedRequest, Failure};
use crate::stop::StopReason;

/// Device, extent and due time of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    pub(crate) device: usize,
    pub(crate) extent: Extent,
    pub(crate) due: Instant,
}

/// Returns request `k`, and the random generator for its data.
pub(crate) fn draw(context: &RunContext, stream: &Stream, k: u64, due: Instant) -> (Request, RequestRng) {
    let mut rng = RequestRng::new(context.seed, stream.operation as u64, k);
    let device = stream.device(k, context.devices.len(), &mut rng);
    let extent = context.devices[device].offsets.extent(stream.operation, &mut rng);
    (Request { device, extent, due }, rng)
}

/// Counts a failed request. If it is one too many, the run stops.
pub(crate) fn fail(context: &RunContext, failed_request: FailedRequest) {
    match context.io_errors.record(failed_request) {
        true => context.stop.raise(StopReason::Device(failed_request)),
        // The collector logs the first ones during the run.
        false => context.stop.wake(),
    }
}

impl Request {
    /// Returns the failure of this request.
    pub(crate) fn failed_request(self, stream: &Stream, failure: Failure) -> FailedRequest {
        FailedRequest {
            device: self.device,
            operation: stream.operation,
            extent: self.extent,
            failure,
        }
    }
}
