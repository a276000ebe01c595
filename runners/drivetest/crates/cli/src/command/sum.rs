//! Bytes counted and hashed.

use sha2::{Digest, Sha256};

use super::behind::Behind;

/// Bytes from which a stream is hashed by a thread of its own: 1 MiB takes half a millisecond, a thread a tenth.
const LONG_BYTES: u64 = 1 << 20;

/// Counts and hashes a stream of bytes.
pub struct Sum {
    size_bytes: u64,
    sha256: Behind<Sha256>,
}

/// A stream that was counted and hashed.
pub struct Summed {
    /// Its bytes.
    pub size_bytes: u64,
    /// Its SHA-256 in hexadecimal.
    pub sha256: String,
}

impl Sum {
    /// A stream of about so many bytes.
    pub fn new(expected_bytes: u64) -> Self {
        Self {
            size_bytes: 0,
            sha256: Behind::new(
                Sha256::new,
                |sha256, bytes| sha256.update(bytes),
                expected_bytes >= LONG_BYTES,
            ),
        }
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
    pub fn finish(self) -> Summed {
        Summed {
            size_bytes: self.size_bytes,
            sha256: drivetest_log::judge::profile::hex(&self.sha256.finish().finalize()),
        }
    }
}
