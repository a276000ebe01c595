//! What may be kept of outputs, whatever they hold.

/// Runs read of one file: a sweep has some dozens.
pub const RUNS_MAX: usize = 512;

/// What may still be kept, over all files: a hostile one must not fill the memory.
#[derive(Debug)]
pub struct MemoryBudget {
    /// Rows, some 100 bytes each.
    pub rows: usize,
    /// Bytes of status lines.
    pub status_bytes: usize,
    /// Bytes of command lines and properties.
    pub word_bytes: usize,
    /// Runs; findings are bounded in each.
    pub runs: usize,
}

impl MemoryBudget {
    /// The share of one of several logs, which together keep no more than one.
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
