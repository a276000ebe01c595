//! Compressed bytes of a series.

use std::io::{self, Write};

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
        (!self.is_broken && bytes.len() <= FRAME_BYTES_MAX).then(|| base64(&bytes))
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

/// Return bytes in base64 with padding.
///
/// Source: RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at)) as usize & 63];
            text.push(if at as usize <= three.len() {
                char::from(letter)
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        let vectors = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
        ];
        for (plain, text) in vectors {
            assert_eq!(base64(plain.as_bytes()), text);
        }
        assert_eq!(base64(&[0xFB, 0xFF, 0xBF]), "+/+/");
    }

    #[test]
    fn a_frame_without_chunks_is_a_frame_that_holds_nothing() {
        assert!(
            Frame::default()
                .finish()
                .is_some_and(|text| text.starts_with("KLUv/"))
        );
    }
}
