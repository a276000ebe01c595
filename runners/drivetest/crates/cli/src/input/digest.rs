//! Size and SHA-256 of a stream.

use std::io;

use sha2::{Digest, Sha256};

use super::background::{Background, LONG_BYTES};
use super::limits::LimitExceeded;

/// Counts and hashes the bytes of a stream.
pub struct StreamHasher {
    size_bytes: u64,
    sha256: Background<Sha256>,
}

/// Size and hash of a stream.
pub struct StreamDigest {
    /// Number of bytes.
    pub size_bytes: u64,
    /// SHA-256 in hexadecimal.
    pub sha256: String,
}

impl Default for StreamHasher {
    /// Returns a hasher of an empty stream that runs in the thread of the caller.
    fn default() -> Self {
        Self {
            size_bytes: 0,
            sha256: Background::Inline(Sha256::new(), hash),
        }
    }
}

fn hash(sha256: &mut Sha256, bytes: &[u8]) {
    sha256.update(bytes);
}

impl StreamHasher {
    /// Hashes the rest of the stream in a thread if the expected size is worth one.
    pub fn in_background(self, expected_bytes: u64) -> Self {
        let so_far = self.sha256.finish();
        Self {
            sha256: Background::new(move || so_far.clone(), hash, expected_bytes >= LONG_BYTES),
            ..self
        }
    }

    /// Checks the number of bytes against a limit.
    ///
    /// # Errors
    /// If the stream is longer.
    pub fn check(&self, limit_bytes: u64) -> io::Result<()> {
        if self.size_bytes > limit_bytes {
            return Err(LimitExceeded::TooLarge { limit_bytes }.into());
        }
        Ok(())
    }

    /// Adds the next bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.size_bytes += bytes.len() as u64;
        self.sha256.add(bytes);
    }

    /// Returns the number of bytes so far.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Returns the size and the hash of the whole stream.
    pub fn finish(self) -> StreamDigest {
        StreamDigest {
            size_bytes: self.size_bytes,
            sha256: drivetest_logs::judge::profile::hex(&self.sha256.finish().finalize()),
        }
    }
}
