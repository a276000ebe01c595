//! Rounding of HdrHistogram with three digits: it stores ranges, not values.
//! Source: HdrHistogram 2.1, AbstractHistogram: lowestEquivalentValue(), medianEquivalentValue(), getValueAtPercentile().

/// Values in order, each standing for `weight`.
pub struct Sorted {
    us: Vec<u64>,
    weight: u64,
}

impl Sorted {
    pub fn new(us: &[u64], weight: u64) -> Self {
        let mut us = us.to_vec();
        us.sort_unstable();
        Self { us, weight }
    }

    pub fn min(&self) -> u64 {
        range(self.us[0]).0
    }

    pub fn max(&self) -> u64 {
        highest(self.us[self.us.len() - 1])
    }

    pub fn mean(&self) -> f64 {
        let middles = self.us.iter().map(|&us| {
            let (lowest, width) = range(us);
            (lowest + width / 2) as f64
        });
        middles.sum::<f64>() / self.us.len() as f64
    }

    pub fn percentile(&self, share: f64) -> u64 {
        let all = self.us.len() as u64 * self.weight;
        let wanted = ((share / 100.0 * all as f64 + 0.5) as u64).max(1);
        let place = wanted.div_ceil(self.weight) as usize - 1;
        highest(self.us[place.min(self.us.len() - 1)])
    }

    /// The counts of all ranges in their order, as far as there are values.
    pub fn counts(&self) -> Vec<i64> {
        let place = |us: u64| match us {
            ..2048 => us as usize,
            _ => {
                let shift = us.ilog2() - 10;
                1024 * shift as usize + (us >> shift) as usize
            }
        };
        let mut counts = vec![0; 1 + place(self.us[self.us.len() - 1])];
        self.us
            .iter()
            .for_each(|&us| counts[place(us)] += self.weight as i64);
        counts
    }

    /// Return each stored value with its count.
    pub fn values(&self) -> Vec<(u64, u64)> {
        let mut values: Vec<(u64, u64)> = Vec::new();
        for &us in &self.us {
            match values.last_mut() {
                Some((last, count)) if *last == highest(us) => *count += self.weight,
                _ => values.push((highest(us), self.weight)),
            }
        }
        values
    }
}

fn highest(us: u64) -> u64 {
    let (lowest, width) = range(us);
    lowest + width - 1
}

/// Return the lowest value of the range of a value, and its width.
fn range(us: u64) -> (u64, u64) {
    const EXACT_BELOW: u64 = 2048;
    if us < EXACT_BELOW {
        return (us, 1);
    }
    let shift = us.ilog2() - 10;
    (us >> shift << shift, 1 << shift)
}
