//! Limit on the number of very short lines.
//!
//! Every line costs time, so a gigabyte of empty lines would occupy a reader for minutes. Real logs have more than 20
//! bytes per line.

/// Number of lines that any text may have.
pub const LINES_FREE: u64 = 4_194_304;

/// Minimum average length of lines in bytes for longer texts.
pub const MEAN_BYTES_MIN: u64 = 8;

/// Number of lines that each of many logs of an archive may have.
const LINES_FREE_MIN: u64 = 65_536;

/// Return the sentence about the line at which reading stopped.
pub fn sentence(line: u64) -> String {
    format!(
        "expected at least {MEAN_BYTES_MIN} bytes per line; got {line} lines with fewer on average; the rest is not read"
    )
}

/// Bytes so far, and the number of lines without a limit.
#[derive(Clone, Copy, Debug)]
pub struct NoiseLimit {
    free: u64,
    bytes_count: u64,
}

impl Default for NoiseLimit {
    fn default() -> Self {
        Self::share(1)
    }
}

impl NoiseLimit {
    /// Return the limit for one of several texts, which share one limit.
    pub fn share(texts_count: usize) -> Self {
        let free = LINES_FREE / (texts_count.max(1) as u64);
        Self {
            free: free.max(LINES_FREE_MIN),
            bytes_count: 0,
        }
    }

    /// Add bytes, with the number of lines so far; return whether the limit is exceeded.
    pub fn add(&mut self, bytes_count: usize, lines_count: u64) -> bool {
        self.bytes_count += bytes_count as u64;
        lines_count > self.free && self.bytes_count / MEAN_BYTES_MIN < lines_count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_lines_are_a_flood_only_beyond_what_is_free() {
        assert!(!NoiseLimit::default().add(LINES_FREE as usize, LINES_FREE));
        assert!(NoiseLimit::default().add(LINES_FREE as usize, LINES_FREE + 1));
    }

    #[test]
    fn lines_with_something_in_them_are_no_flood() {
        let lines_count = LINES_FREE * 2;
        assert!(!NoiseLimit::default().add((lines_count * MEAN_BYTES_MIN) as usize, lines_count));
        assert!(NoiseLimit::default().add((lines_count * MEAN_BYTES_MIN - 1) as usize, lines_count));
    }

    #[test]
    fn many_texts_share_what_is_free() {
        assert!(!NoiseLimit::share(64).add(0, 65_536));
        assert!(NoiseLimit::share(64).add(0, 65_537));
        assert!(!NoiseLimit::share(1_000_000).add(0, 65_536));
    }
}
