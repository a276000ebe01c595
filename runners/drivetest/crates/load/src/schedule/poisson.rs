//! Random arrivals with a rate that is exact over every block of requests.
//!
//! A block of [`BLOCK`] requests takes exactly as long as with even arrivals. Within it, requests are independent and
//! uniformly distributed, which is a Poisson process with a known number of events. So the gaps are those of a
//! Poisson process (on times well below that of a block), and there is no drift.
//!
//! There is no state. The position of a request is computed from its number by halving the block. Of n requests in a
//! span, the number in its first half is binomial: the ones among n random bits. After a few halvings, a few requests
//! remain; their positions are drawn and sorted.

use crate::schedule::rng::RequestRng;

/// Requests in a block: a second at 2,000 requests per second, five milliseconds at 400,000. Computing a position
/// takes a quarter of a microsecond, and twice that with blocks of double size.
pub(super) const BLOCK: u64 = 2_048;

/// A span with at most this many requests is not halved again.
const FEW: usize = 16;

/// After this many halvings a span is shorter than the arithmetic can resolve: 2^-40 of a block.
const MOST_HALVINGS: u32 = 40;

/// Returns the position of the request with this `rank` among the `count` of a block, in 2^-64 of the block.
///
/// # Panics
/// If `rank` is not below `count`, or `count` is above [`BLOCK`]: both are bugs.
pub(super) fn position(seed: u64, block: u64, rank: u64, count: u64) -> u64 {
    assert!(
        rank < count && count <= BLOCK,
        "request {rank} of {count} in a block"
    );
    let mut span = Span {
        begin: 0,
        halvings: 0,
        rank: rank as usize,
        count: count as usize,
    };
    while span.count > FEW && span.halvings < MOST_HALVINGS {
        span.halve(RequestRng::new(seed, block, span.node()));
    }
    span.draw(RequestRng::new(seed, block, span.node()))
}

/// Part of a block, and its requests.
struct Span {
    begin: u64,
    halvings: u32,
    rank: usize,
    count: usize,
}

impl Span {
    /// Returns a number that is unique in the block: the heap order of the halvings.
    fn node(&self) -> u64 {
        match self.halvings {
            0 => 1,
            halvings => (1 << halvings) | (self.begin >> (64 - halvings)),
        }
    }

    /// Moves to the half that contains the request.
    fn halve(&mut self, mut rng: RequestRng) {
        let first = binomial(&mut rng, self.count);
        self.halvings += 1;
        if self.rank < first {
            self.count = first;
        } else {
            self.rank -= first;
            self.count -= first;
            self.begin |= 1 << (64 - self.halvings);
        }
    }

    /// Returns the request's position among the remaining ones.
    fn draw(&self, mut rng: RequestRng) -> u64 {
        let mut positions = [u64::MAX; FEW];
        let few = &mut positions[..self.count.min(FEW)];
        few.fill_with(|| rng.next_bits());
        few.sort_unstable();
        let within = few.get(self.rank).copied().unwrap_or(u64::MAX);
        self.begin | (within >> self.halvings)
    }
}

/// Returns how many of `count` random bits are 1.
fn binomial(rng: &mut RequestRng, count: usize) -> usize {
    let words = count / 64;
    let whole: u32 = (0..words).map(|_| rng.next_bits().count_ones()).sum();
    let rest = rng.next_bits() & ((1 << (count % 64)) - 1);
    (whole + rest.count_ones()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(seed: u64, block: u64, count: u64) -> Vec<f64> {
        let scale = 2_f64.powi(-64);
        let at = |rank| position(seed, block, rank, count) as f64 * scale;
        (0..count).map(at).collect()
    }

    #[test]
    fn positions_are_sorted_for_every_count() {
        for count in [1, 2, 15, 16, 17, 63, 64, 65, 1_000, BLOCK] {
            let all = positions(7, 3, count);
            assert!(
                all.is_sorted() && all[0] >= 0.0 && all[all.len() - 1] < 1.0,
                "{count}"
            );
        }
    }

    #[test]
    fn a_position_depends_on_seed_block_and_rank() {
        assert_eq!(positions(1, 0, 100), positions(1, 0, 100));
        assert_ne!(positions(1, 0, 100), positions(2, 0, 100));
        assert_ne!(positions(1, 0, 100), positions(1, 1, 100));
    }

    /// Returns Kolmogorov's statistic times the root of the count. It exceeds 1.95 once in a thousand.
    fn distance(sorted: &[f64], expected: impl Fn(f64) -> f64) -> f64 {
        let count = sorted.len() as f64;
        let gap = |(index, value): (usize, &f64)| {
            let (below, at) = (index as f64 / count, (index + 1) as f64 / count);
            (expected(*value) - below)
                .abs()
                .max((expected(*value) - at).abs())
        };
        sorted.iter().enumerate().map(gap).fold(0.0, f64::max) * count.sqrt()
    }

    #[test]
    fn positions_are_uniform_in_a_block() {
        for block in 0..20 {
            let found = distance(&positions(5, block, BLOCK), |value| value);
            assert!(found < 1.95, "block {block}: {found}");
        }
    }

    #[test]
    fn gaps_are_those_of_a_poisson_process() {
        let mut gaps = Vec::new();
        for block in 0..50 {
            let all = positions(11, block, BLOCK);
            gaps.extend(all.windows(2).map(|two| (two[1] - two[0]) * BLOCK as f64));
        }
        gaps.sort_unstable_by(f64::total_cmp);
        let found = distance(&gaps, |gap| 1.0 - (-gap).exp());
        assert!(found < 1.95, "{found} over {} gaps", gaps.len());
    }

    #[test]
    fn counts_in_short_times_have_the_variance_of_a_poisson_process() {
        // 64 spans of 32 requests each: mean 32, and variance 32 * (1 - 1/64).
        let mut counts = Vec::new();
        for block in 0..100 {
            let mut in_stretch = [0_u32; 64];
            for at in positions(13, block, BLOCK) {
                in_stretch[(at * 64.0) as usize] += 1;
            }
            counts.extend(in_stretch.map(f64::from));
        }
        let variance = counts.iter().map(|count| (count - 32.0).powi(2)).sum::<f64>() / counts.len() as f64;
        // 6,400 spans: three standard deviations of the variance 31.5 are 31.5 * 3 * sqrt(2/6400) = 1.7.
        assert!((29.8..33.2).contains(&variance), "{variance}");
    }
}
