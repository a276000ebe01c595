//! What may be kept of outputs, whatever they hold.

/// Runs read of one file: a sweep has some dozens.
pub const RUNS_MAX: usize = 512;

/// What may still be kept, over all files: a hostile one must not fill the memory.
#[derive(Debug)]
pub struct Room {
    /// Rows, some 100 bytes each.
    pub rows: usize,
    /// Bytes of status lines.
    pub status_bytes: usize,
    /// Bytes of command lines and properties.
    pub word_bytes: usize,
    /// Runs; findings are bounded in each.
    pub runs: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            rows: 250_000,
            status_bytes: 24 << 20,
            word_bytes: 4 << 20,
            runs: RUNS_MAX,
        }
    }
}
