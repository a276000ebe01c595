//! Memory limits of the readers of YCSB outputs.

/// Maximum number of runs read from one file; a sweep has a few dozen.
pub const RUNS_MAX: usize = 512;

/// Remaining memory for all files, so that a hostile file cannot exhaust memory.
#[derive(Debug)]
pub struct MemoryBudget {
    /// Number of rows, about 100 bytes each.
    pub rows: usize,
    /// Bytes of status lines.
    pub status_bytes: usize,
    /// Bytes of command lines and properties.
    pub word_bytes: usize,
    /// Number of runs; the findings of each are limited.
    pub runs: usize,
}

impl MemoryBudget {
    /// Return the share of one of several logs, which together have the limit of one.
    pub fn share(logs_count: usize) -> Self {
        let (whole, logs_count) = (Self::default(), logs_count.max(1));
        Self {
            rows: whole.rows / logs_count,
            status_bytes: whole.status_bytes / logs_count,
            word_bytes: whole.word_bytes / logs_count,
            runs: whole.runs.div_ceil(logs_count),
        }
    }
}

impl Default for MemoryBudget {
    fn default() -> Self {
        Self {
            rows: 250_000,
            status_bytes: 24 << 20,
            word_bytes: 4 << 20,
            runs: RUNS_MAX,
        }
    }
}
