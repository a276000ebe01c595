//! A request with its place drawn.

use crate::clock::Instant;
use crate::device::Extent;
use crate::draws::Draws;
use crate::engine::crew::Shared;
use crate::faults::{Failure, Fault};
use crate::stop::Cause;
use crate::stream::Stream;

/// What is asked, of whom, and when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    pub(crate) device: usize,
    pub(crate) extent: Extent,
    pub(crate) due: Instant,
}

/// The place of request `k`, and the choices that are left for its data.
pub(crate) fn draw(shared: &Shared, stream: &Stream, k: u64, due: Instant) -> (Request, Draws) {
    let mut draws = Draws::new(shared.seed, stream.operation as u64, k);
    let device = stream.device(k, shared.devices.len(), &mut draws);
    let extent = shared.devices[device].places.extent(stream.operation, &mut draws);
    (Request { device, extent, due }, draws)
}

/// Counts a request that failed; the one that is too many stops the run.
pub(crate) fn fail(shared: &Shared, fault: Fault) {
    match shared.faults.note(fault) {
        true => shared.stop.raise(Cause::Device(fault)),
        // The collector tells the first ones while the run goes on.
        false => shared.stop.ring(),
    }
}

impl Request {
    /// This request, failed.
    pub(crate) fn fault(self, stream: &Stream, failure: Failure) -> Fault {
        Fault {
            device: self.device,
            operation: stream.operation,
            extent: self.extent,
            failure,
        }
    }
}
