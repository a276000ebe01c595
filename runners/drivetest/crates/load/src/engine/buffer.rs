//! The data to write, in aligned memory.

pub use drivetest_device::Buffer;

use crate::schedule::rng::RequestRng;

/// ACT makes data compressible in pieces of this size: first zeros, then random data. Source: src/common/random.c.
const PIECE_BYTES: usize = 512;

/// The layout of written data: each piece of 512 bytes has zeros first and random data after them, as in ACT.
#[derive(Debug, Clone, Copy)]
pub struct Pattern {
    zeros_bytes: usize,
}

impl Pattern {
    /// Creates a layout with `compress_pct` per cent of random data.
    pub fn new(compress_pct: u32) -> Self {
        let words = PIECE_BYTES / 8;
        Self {
            zeros_bytes: words * (100 - compress_pct as usize) / 100 * 8,
        }
    }

    /// Fills memory that contains zeros.
    pub fn fill(self, bytes: &mut [u8], rng: &mut RequestRng) {
        for piece in bytes.chunks_mut(PIECE_BYTES) {
            let random = piece.get_mut(self.zeros_bytes..).unwrap_or_default();
            for word in random.chunks_mut(8) {
                word.copy_from_slice(&rng.next_bits().to_le_bytes()[..word.len()]);
            }
        }
    }

    /// Puts new random bits at the start of each random part, so that no two blocks are equal. This is one store per
    /// piece; upstream fills the whole block again.
    pub fn stamp(self, bytes: &mut [u8], rng: &mut RequestRng) {
        if self.zeros_bytes < PIECE_BYTES {
            for piece in bytes.chunks_exact_mut(PIECE_BYTES) {
                piece[self.zeros_bytes..self.zeros_bytes + 8].copy_from_slice(&rng.next_bits().to_le_bytes());
            }
        }
    }
}

/// Data to write: filled once, and changed before each write.
#[derive(Debug)]
pub struct Payload {
    buffer: Buffer,
    pattern: Pattern,
}

impl Payload {
    /// Creates data of that size and layout.
    pub fn new(size: usize, compress_pct: u32, mut rng: RequestRng) -> Self {
        let pattern = Pattern::new(compress_pct);
        let mut buffer = Buffer::new(size);
        pattern.fill(buffer.bytes(), &mut rng);
        Self { buffer, pattern }
    }

    /// Makes the data different from all earlier writes.
    pub fn stamp(&mut self, mut rng: RequestRng) {
        self.pattern.stamp(self.buffer.bytes(), &mut rng);
    }

    /// Returns the bytes.
    pub fn bytes(&mut self) -> &mut [u8] {
        self.buffer.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(compress_pct: u32) -> Payload {
        Payload::new(8_192, compress_pct, RequestRng::new(1, 2, 3))
    }

    fn stamped(data: &mut Payload, k: u64) -> Vec<u8> {
        data.stamp(RequestRng::new(1, 2, k));
        data.bytes().to_vec()
    }

    #[test]
    fn no_piece_is_written_twice() {
        let mut data = payload(100);
        let first = stamped(&mut data, 4);
        let second = stamped(&mut data, 5);
        let mut pieces: Vec<&[u8]> = first.chunks(512).chain(second.chunks(512)).collect();
        pieces.sort_unstable();
        pieces.dedup();
        assert_eq!(pieces.len(), 32);
    }

    #[test]
    fn a_compressible_piece_starts_with_zeros() {
        // 64 words: 30 % random leaves 64 * 70 / 100 = 44 zero words, 352 bytes.
        let mut data = payload(30);
        for piece in stamped(&mut data, 6).chunks(512) {
            assert!(piece[..352].iter().all(|byte| *byte == 0));
            assert!(piece[352..].chunks(8).all(|word| word != [0; 8]));
        }
    }

    #[test]
    fn data_without_random_bits_is_zeros() {
        assert!(stamped(&mut payload(0), 7).iter().all(|byte| *byte == 0));
    }
}
