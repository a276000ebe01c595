//! When a text is a flood: so many lines with so little in them that no log is like it.
//!
//! A line costs time whatever it holds, so that lines of a byte or none would keep a reader for minutes a gigabyte. Logs
//! of all kinds have more than 20 bytes a line.

/// Lines that any text may have, however short.
pub const LINES_FREE: u64 = 4_194_304;

/// Bytes that the lines of a text have on average, at least, once there are more than that.
pub const MEAN_BYTES_MIN: u64 = 8;

/// Lines that each of very many logs of an archive may have.
const LINES_FREE_MIN: u64 = 65_536;

/// What is said of a flood where reading stopped at a line.
pub fn sentence(line: u64) -> String {
    format!(
        "expected at least {MEAN_BYTES_MIN} bytes a line; got {line} lines with fewer; what follows is not read"
    )
}

/// How much passed, and how many short lines may pass.
#[derive(Clone, Copy, Debug)]
pub struct NoiseLimit {
    free: u64,
    bytes_count: u64,
}

impl Default for NoiseLimit {
    fn default() -> Self {
        Self {
            free: LINES_FREE,
            bytes_count: 0,
        }
    }
}

impl NoiseLimit {
    /// For one of several texts, whose floods together take no longer than one.
    pub fn share(texts_count: usize) -> Self {
        let free = LINES_FREE / (texts_count.max(1) as u64);
        Self {
            free: free.max(LINES_FREE_MIN),
            bytes_count: 0,
        }
    }

    /// Adds the bytes that passed, of which there are so many lines by now; true where the text is a flood.
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
