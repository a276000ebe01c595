//! Bytes counted and hashed.

use std::io;

use sha2::{Digest, Sha256};

use super::background::{Background, LONG_BYTES};
use super::limits::LimitExceeded;

/// Counts and hashes a stream of bytes.
pub struct StreamHasher {
    size_bytes: u64,
    sha256: Background<Sha256>,
}

/// A stream that was counted and hashed.
pub struct StreamDigest {
    /// Its bytes.
    pub size_bytes: u64,
    /// Its SHA-256 in hexadecimal.
    pub sha256: String,
}

impl Default for StreamHasher {
    /// An empty stream, hashed in the thread of the caller.
    fn default() -> Self {
        Self {
            size_bytes: 0,
            sha256: Background::Here(Sha256::new(), hash),
        }
    }
}

fn hash(sha256: &mut Sha256, bytes: &[u8]) {
    sha256.update(bytes);
}

impl StreamHasher {
    /// The same, its rest hashed by a thread of its own where the stream is of so many bytes that it is worth one.
    pub fn behind(self, expected_bytes: u64) -> Self {
        let so_far = self.sha256.finish();
        Self {
            sha256: Background::new(move || so_far.clone(), hash, expected_bytes >= LONG_BYTES),
            ..self
        }
    }

    /// Refuses a stream that is longer than a limit.
    ///
    /// # Errors
    /// Carries the reason.
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

    /// How many bytes were added.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Ends the stream.
    pub fn finish(self) -> StreamDigest {
        StreamDigest {
            size_bytes: self.size_bytes,
            sha256: drivetest_logs::judge::profile::hex(&self.sha256.finish().finalize()),
        }
    }
}
