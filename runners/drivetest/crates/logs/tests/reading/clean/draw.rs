//! Random draws from a seed, the same on every machine.

/// A stream of draws. Source: SplitMix64, Steele, Lea and Flood, "Fast splittable pseudorandom number generators".
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// In [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// In [least, most].
    pub fn whole(&mut self, least: u64, most: u64) -> u64 {
        least + self.next() % (most - least + 1)
    }

    /// One of some.
    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.whole(0, of.len() as u64 - 1) as usize]
    }

    /// True with a chance.
    pub fn chance(&mut self, chance: f64) -> bool {
        self.unit() < chance
    }

    /// Of mean 0 and deviation 1.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Successes among `tries` of a chance: Poisson's for rare ones, else the normal.
    pub fn binomial(&mut self, tries: u64, chance: f64) -> u64 {
        let mean = tries as f64 * chance;
        if mean < 30.0 {
            return self.poisson(mean).min(tries);
        }
        let deviation = (mean * (1.0 - chance)).max(0.0).sqrt();
        ((mean + deviation * self.normal()).round().max(0.0) as u64).min(tries)
    }

    /// Of a mean below about 700.
    pub fn poisson(&mut self, mean: f64) -> u64 {
        let (mut product, floor) = (self.unit(), (-mean).exp());
        let mut count = 0;
        while product > floor {
            product *= self.unit();
            count += 1;
        }
        count
    }
}
