//! A pass over the devices from start to end, with several requests at a time.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use super::device::PrepDevice;
use super::workers::StopFlag;
use super::{PassKind, PrepOptions};
use crate::engine::buffer::Payload;
use crate::schedule::rng::RequestRng;

/// Random streams from this number on belong to salting, one for each device.
const SALT_STREAM: u64 = 1 << 40;

/// Progress of the streams on one device. Pieces are taken in order, so all pieces before the first outstanding one
/// are written.
#[derive(Debug)]
pub(super) struct DeviceFill {
    size_bytes: u64,
    piece_bytes: u64,
    next: AtomicU64,
    /// For each stream, the first piece that it may still have to write.
    first_outstanding: Vec<AtomicU64>,
    written_bytes: AtomicU64,
}

impl DeviceFill {
    /// Continues after the completed bytes. A partly written piece is written again.
    pub fn new(size_bytes: u64, done_bytes: u64, options: &PrepOptions) -> Self {
        let piece_bytes = options.request_bytes as u64;
        let first = if done_bytes >= size_bytes {
            size_bytes.div_ceil(piece_bytes)
        } else {
            done_bytes / piece_bytes
        };
        Self {
            size_bytes,
            piece_bytes,
            next: AtomicU64::new(first),
            first_outstanding: (0..options.streams).map(|_| AtomicU64::new(first)).collect(),
            written_bytes: AtomicU64::new(0),
        }
    }

    /// Takes the next piece for a stream: number, offset and length. None if all are taken.
    fn take(&self, stream: usize) -> Option<(u64, u64, usize)> {
        let piece = self.next.fetch_add(1, SeqCst);
        let offset = piece.saturating_mul(self.piece_bytes);
        if offset >= self.size_bytes {
            self.first_outstanding[stream].store(u64::MAX, SeqCst);
            return None;
        }
        self.first_outstanding[stream].store(piece, SeqCst);
        let length = self.piece_bytes.min(self.size_bytes - offset);
        Some((piece, offset, length as usize))
    }

    fn done(&self, stream: usize, piece: u64, length: usize) {
        self.written_bytes.fetch_add(length as u64, SeqCst);
        self.first_outstanding[stream].store(piece + 1, SeqCst);
    }

    /// Returns how many bytes from the start are written.
    pub fn done_bytes(&self) -> u64 {
        let first_outstanding = self.first_outstanding.iter().map(|first| first.load(SeqCst));
        let least = first_outstanding.min().unwrap_or(0);
        least.saturating_mul(self.piece_bytes).min(self.size_bytes)
    }

    /// Returns the bytes written by this run.
    pub fn written_bytes(&self) -> u64 {
        self.written_bytes.load(SeqCst)
    }
}

/// Writes the pieces of one stream until the device is filled or all work stops.
pub(super) fn write(
    kind: PassKind,
    options: &PrepOptions,
    (ordinal, stream): (usize, usize),
    (device, fill): (&PrepDevice, &DeviceFill),
    stop: &StopFlag,
) {
    let salt_stream = SALT_STREAM + ordinal as u64;
    let mut payload = payload(kind, options, salt_stream);
    while !stop.is_raised() {
        let Some((piece, offset, length)) = fill.take(stream) else {
            return;
        };
        let content = content(&mut payload, options.seed, salt_stream, piece);
        let bytes = content.get(..length).unwrap_or_default();
        if !stop.write(&device.name, &device.file, bytes, offset) {
            return;
        }
        fill.done(stream, piece, length);
    }
}

/// Returns the payload of a pass over a device: zeros, or random data with the configured share of zeros.
fn payload(kind: PassKind, options: &PrepOptions, stream: u64) -> Payload {
    let random_pct = match kind {
        PassKind::Zero => 0,
        PassKind::Salt => options.compress_pct,
    };
    let rng = RequestRng::new(options.seed, stream, u64::MAX);
    Payload::new(options.request_bytes, random_pct, rng)
}

/// Returns the content of a piece. It depends on the seed, the device and the piece, but not on the worker.
fn content(payload: &mut Payload, seed: u64, salt_stream: u64, piece: u64) -> &[u8] {
    payload.stamp(RequestRng::new(seed, salt_stream, piece));
    payload.bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(streams: usize) -> PrepOptions {
        PrepOptions {
            passes: vec![PassKind::Salt],
            compress_pct: 100,
            streams,
            request_bytes: 8_192,
            seed: 1,
            may_destroy: false,
            state: None,
            steady: None,
        }
    }

    fn numbers(fill: &DeviceFill, stream: usize) -> Vec<(u64, u64, usize)> {
        std::iter::from_fn(|| fill.take(stream)).collect()
    }

    #[test]
    fn pieces_cover_the_device_and_the_last_is_shorter() {
        let fill = DeviceFill::new(20_480, 0, &options(1));
        assert_eq!(
            numbers(&fill, 0),
            [(0, 0, 8_192), (1, 8_192, 8_192), (2, 16_384, 4_096)]
        );
        assert_eq!(fill.done_bytes(), 20_480, "no piece is left");
    }

    #[test]
    fn a_partly_written_piece_is_written_again() {
        let first = |done_bytes| {
            DeviceFill::new(20_480, done_bytes, &options(1))
                .take(0)
                .map(|(piece, ..)| piece)
        };
        assert_eq!(
            [first(0), first(8_191), first(8_192), first(20_479)],
            [Some(0), Some(0), Some(1), Some(2)]
        );
        assert_eq!(first(20_480), None);
    }

    #[test]
    fn written_bytes_end_at_the_first_outstanding_piece() {
        let fill = DeviceFill::new(81_920, 0, &options(2));
        let (slow, quick) = (fill.take(0).unwrap(), fill.take(1).unwrap());
        fill.done(1, quick.0, quick.2);
        assert_eq!((fill.done_bytes(), fill.written_bytes()), (0, 8_192));
        fill.take(1).unwrap();
        fill.done(0, slow.0, slow.2);
        // The slow stream is at piece 1, which the quick one has written, so it takes 3 next; piece 2 is outstanding.
        assert_eq!(fill.done_bytes(), 8_192);
        fill.take(0).unwrap();
        assert_eq!(fill.done_bytes(), 16_384);
    }

    #[test]
    fn salt_depends_only_on_seed_device_and_piece() {
        let bytes = |seed, ordinal: u64, pieces: &[u64]| {
            let stream = SALT_STREAM + ordinal;
            let mut payload = payload(PassKind::Salt, &PrepOptions { seed, ..options(1) }, stream);
            pieces
                .iter()
                .map(|piece| content(&mut payload, seed, stream, *piece).to_vec())
                .last()
                .unwrap()
        };
        assert_eq!(bytes(1, 0, &[7]), bytes(1, 0, &[0, 3, 7]));
        assert_ne!(bytes(1, 0, &[7]), bytes(1, 0, &[8]));
        assert_ne!(bytes(1, 0, &[7]), bytes(1, 1, &[7]));
        assert_ne!(bytes(1, 0, &[7]), bytes(2, 0, &[7]));
    }

    #[test]
    fn the_zero_pass_writes_zeros() {
        let mut payload = payload(PassKind::Zero, &options(1), SALT_STREAM);
        assert_eq!(content(&mut payload, 1, SALT_STREAM, 3), [0; 8_192]);
    }

    proptest::proptest! {
        /// In any order of taking and finishing: all bytes that count as written are written.
        #[test]
        fn bytes_that_count_as_written_are_written(steps in proptest::collection::vec(0_usize..6, 0..60)) {
            let fill = DeviceFill::new(30 * 8_192 + 512, 0, &options(3));
            let mut out = [None; 3];
            let mut written = std::collections::BTreeSet::new();
            for step in steps {
                let stream = step % 3;
                match out[stream].take() {
                    None => out[stream] = fill.take(stream),
                    Some((piece, _, length)) => {
                        fill.done(stream, piece, length);
                        written.insert(piece);
                    }
                }
                let whole = fill.done_bytes() / 8_192;
                proptest::prop_assert!((0..whole).all(|piece| written.contains(&piece)));
            }
        }
    }
}
