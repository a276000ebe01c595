//! Compressed bytes of a series.

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zstd::stream::raw::CParameter;
use zstd::stream::write::Encoder;

use crate::series::chunk::Chunk;

/// Maximum compressed size of a series in bytes.
pub const FRAME_BYTES_MAX: usize = 32 << 20;

/// Highest level at which decoders need no more memory than the window.
const LEVEL: i32 = 19;

/// Window of 1 MiB and matching tables: the default of 8 MiB costs 80 MiB, for bytes that hardly repeat.
const MEMORY: [CParameter; 3] = [
    CParameter::WindowLog(20),
    CParameter::HashLog(20),
    CParameter::ChainLog(20),
];

/// One zstd frame that grows.
#[derive(Default)]
pub struct Frame {
    /// `None` before the first chunk and after a failure.
    encoder: Option<Encoder<'static, Vec<u8>>>,
    plain: Vec<u8>,
    is_broken: bool,
}

impl std::fmt::Debug for Frame {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Frame").finish_non_exhaustive()
    }
}

impl Frame {
    /// Add a chunk.
    pub fn add(&mut self, chunk: &Chunk) {
        self.plain.clear();
        chunk.write(&mut self.plain);
        self.is_broken |= self.compress().is_err();
    }

    /// Return whether the frame exceeds its limit, so that adding chunks is useless.
    pub fn is_full(&self) -> bool {
        let length = self.encoder.as_ref().map_or(0, |encoder| encoder.get_ref().len());
        self.is_broken || length > FRAME_BYTES_MAX
    }

    /// Return the frame in base64; `None` if it is too large, or if memory was insufficient.
    pub fn finish(mut self) -> Option<String> {
        if self.encoder.is_none() {
            self.is_broken |= self.compress().is_err();
        }
        let bytes = self.encoder?.finish().ok()?;
        (!self.is_broken && bytes.len() <= FRAME_BYTES_MAX).then(|| STANDARD.encode(&bytes))
    }

    fn compress(&mut self) -> io::Result<()> {
        if self.encoder.is_none() {
            let mut encoder = Encoder::new(Vec::new(), LEVEL)?;
            for parameter in MEMORY {
                encoder.set_parameter(parameter)?;
            }
            self.encoder = Some(encoder);
        }
        let mut encoder = self.encoder.iter_mut();
        encoder.try_for_each(|encoder| encoder.write_all(&self.plain))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_without_chunks_is_a_frame_that_holds_nothing() {
        assert!(
            Frame::default()
                .finish()
                .is_some_and(|text| text.starts_with("KLUv/"))
        );
    }
}
