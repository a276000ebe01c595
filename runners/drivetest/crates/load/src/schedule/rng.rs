//! Random numbers that depend only on the seed, the stream and the number of the request.
//!
//! The offset of a request does not depend on the thread that sends it, so a run can be repeated.

/// The random generator of one request.
#[derive(Debug, Clone)]
pub struct RequestRng(u64);

impl RequestRng {
    /// Creates the generator of request `k` of a stream.
    pub fn new(seed: u64, stream: u64, k: u64) -> Self {
        Self(mix(mix(seed ^ mix(stream)).wrapping_add(k)))
    }

    /// Returns the next 64 random bits.
    /// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (SplitMix64).
    pub fn next_bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// Returns a uniformly distributed number below `limit`, or 0 if `limit` is 0.
    /// Source: Lemire, "Fast random integer generation in an interval" (bias below 2^-30 for any device).
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next_bits()) * u128::from(limit)) >> 64) as u64
    }
}

fn mix(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_always_has_the_same_numbers() {
        let draw = |seed, stream, k| RequestRng::new(seed, stream, k).next_bits();
        assert_eq!(draw(1, 0, 7), draw(1, 0, 7));
        assert!(
            draw(1, 0, 7) != draw(2, 0, 7)
                && draw(1, 0, 7) != draw(1, 1, 7)
                && draw(1, 0, 7) != draw(1, 0, 8)
        );
    }

    #[test]
    fn every_number_is_equally_likely() {
        let mut hits = [0_u32; 16];
        for k in 0..160_000 {
            hits[RequestRng::new(42, 0, k).below(16) as usize] += 1;
        }
        // 10000 each; six standard deviations are 580.
        assert!(
            hits.iter().all(|count| (9_400..10_600).contains(count)),
            "{hits:?}"
        );
    }

    #[test]
    fn the_limit_itself_is_never_drawn() {
        assert!((0..10_000).all(|k| RequestRng::new(0, 0, k).below(3) < 3));
        assert_eq!(RequestRng::new(0, 0, 0).below(0), 0);
        assert_eq!(RequestRng::new(0, 0, 0).below(1), 0);
    }
}
