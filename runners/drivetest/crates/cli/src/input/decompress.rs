//! Decompression of gzip, zstd and xz, also of several streams in one file.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;
use lzma_rust2::XzReader;
use serde::Serialize;
use zstd::stream::raw::{self, Operation};

use super::limits::{LimitExceeded, WINDOW_BYTES_MAX, XZ_MEMORY_KIB_MAX};
use super::source::Source;

const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// Magic number, descriptor, window, dictionary id, size.
const FRAME_HEADER_BYTES_MAX: usize = 4 + 1 + 1 + 4 + 8;

/// A compression format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    /// Uncompressed.
    None,
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
    /// The .xz format.
    Xz,
}

impl Compression {
    /// Detects the format from the first bytes.
    pub fn of(head: &[u8]) -> Self {
        match head {
            [0x1F, 0x8B, ..] => Self::Gzip,
            [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Self::Zstd,
            [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            _ => Self::None,
        }
    }
}

/// The stream that is being decoded. It owns the source until its end.
enum Stream<'a> {
    Plain(Source<'a>),
    Gzip(Box<GzDecoder<Source<'a>>>),
    Zstd(Box<Zstd<'a>>),
    Xz(Box<XzReader<Source<'a>>>),
    /// After the end of a stream.
    Ended(Source<'a>),
    /// Between two streams.
    Moved,
}

/// Decodes a source to its end.
pub struct Decoder<'a> {
    compression: Compression,
    stream: Stream<'a>,
}

impl<'a> Decoder<'a> {
    /// Creates a decoder for the format that the first bytes show.
    ///
    /// # Errors
    /// If the source cannot be read.
    pub fn new(mut source: Source<'a>) -> io::Result<Self> {
        let compression = Compression::of(source.peek(MAGIC_BYTES)?);
        // Uncompressed content needs no second thread, since its reader has one.
        let stream = match compression {
            Compression::None => Stream::Plain(source),
            _ => Stream::Ended(source.hashed_in_background()),
        };
        Ok(Self { compression, stream })
    }

    /// Returns the compression of the source.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// Returns the source.
    pub fn source(&mut self) -> &mut Source<'a> {
        match &mut self.stream {
            Stream::Plain(source) | Stream::Ended(source) => source,
            Stream::Gzip(gzip) => gzip.get_mut(),
            Stream::Zstd(zstd) => &mut zstd.source,
            Stream::Xz(xz) => xz.inner_mut(),
            Stream::Moved => unreachable!("a stream is moved only within one call"),
        }
    }

    /// Returns the source, for its digest.
    pub fn into_source(mut self) -> Source<'a> {
        self.end();
        match self.stream {
            Stream::Plain(source) | Stream::Ended(source) => source,
            _ => unreachable!("end() leaves a plain or an ended stream"),
        }
    }

    /// Starts the next stream. Returns false if none follows.
    fn begin(&mut self) -> io::Result<bool> {
        let Stream::Ended(source) = &mut self.stream else {
            return Ok(true);
        };
        if Compression::of(source.peek(MAGIC_BYTES)?) != self.compression {
            return Ok(false);
        }
        // Everything that can fail comes before the source is moved.
        let frames = raw::Decoder::new()?;
        if let Stream::Ended(source) = std::mem::replace(&mut self.stream, Stream::Moved) {
            self.stream = match self.compression {
                Compression::Gzip => Stream::Gzip(Box::new(GzDecoder::new(source))),
                Compression::Zstd => Stream::Zstd(Box::new(Zstd::new(source, frames))),
                Compression::Xz => {
                    let reader = XzReader::new_mem_limit(source, false, XZ_MEMORY_KIB_MAX);
                    Stream::Xz(Box::new(reader))
                }
                Compression::None => Stream::Plain(source),
            };
        }
        Ok(true)
    }

    fn end(&mut self) {
        self.stream = match std::mem::replace(&mut self.stream, Stream::Moved) {
            Stream::Gzip(gzip) => Stream::Ended(gzip.into_inner()),
            Stream::Zstd(zstd) => Stream::Ended(zstd.source),
            Stream::Xz(xz) => Stream::Ended(xz.into_inner()),
            stream => stream,
        };
    }
}

const MAGIC_BYTES: usize = 6;

impl Read for Decoder<'_> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = match &mut self.stream {
                Stream::Plain(source) => return source.read(target),
                Stream::Gzip(gzip) => gzip.read(target),
                Stream::Zstd(zstd) => zstd.read(target),
                Stream::Xz(xz) => xz.read(target).map_err(xz_error),
                Stream::Ended(_) | Stream::Moved => Ok(0),
            }?;
            if count > 0 {
                return Ok(count);
            }
            self.end();
            if !self.begin()? {
                return Ok(0);
            }
        }
    }
}

fn xz_error(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::OutOfMemory => LimitExceeded::Window.into(),
        _ => error,
    }
}

/// The frames of a zstd file.
struct Zstd<'a> {
    source: Source<'a>,
    frames: raw::Decoder<'static>,
    /// Whether a frame has begun.
    is_inside: bool,
}

impl<'a> Zstd<'a> {
    fn new(source: Source<'a>, frames: raw::Decoder<'static>) -> Self {
        Self {
            source,
            frames,
            is_inside: false,
        }
    }

    /// Starts the next frame. Returns false if none follows.
    fn begin(&mut self) -> io::Result<bool> {
        let head = self.source.peek(FRAME_HEADER_BYTES_MAX)?;
        if Compression::of(head) != Compression::Zstd {
            return Ok(false);
        }
        if window_bytes(head).is_some_and(|window_bytes| window_bytes > WINDOW_BYTES_MAX) {
            return Err(LimitExceeded::Window.into());
        }
        self.frames.reinit()?;
        self.is_inside = true;
        Ok(true)
    }

    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        while self.is_inside || self.begin()? {
            let bytes = self.source.fill_buf()?;
            if bytes.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let status = self.frames.run_on_buffers(bytes, target)?;
            self.source.consume(status.bytes_read);
            if status.remaining == 0 {
                self.is_inside = false;
            }
            if status.bytes_written > 0 {
                return Ok(status.bytes_written);
            }
        }
        Ok(0)
    }
}

/// Returns the window that a frame needs. None for a frame without content or with a truncated header.
///
/// Source: RFC 8878, 3.1.1.1, "Frame_Header".
fn window_bytes(head: &[u8]) -> Option<u64> {
    let (&descriptor, rest) = head.strip_prefix(&ZSTD_MAGIC)?.split_first()?;
    let is_single_segment = descriptor & 0x20 != 0;
    if !is_single_segment {
        let (exponent, mantissa) = (rest.first()? >> 3, rest.first()? & 7);
        let base = 1_u64 << (10 + exponent);
        return Some(base + base / 8 * u64::from(mantissa));
    }
    let dictionary_bytes = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size = rest.get(dictionary_bytes..)?;
    let (size, added) = match descriptor >> 6 {
        0 => (size.get(..1)?, 0),
        1 => (size.get(..2)?, 256),
        2 => (size.get(..4)?, 0),
        _ => (size.get(..8)?, 0),
    };
    let bytes = size.iter().rev();
    let value = bytes.fold(0_u64, |value, &byte| value << 8 | u64::from(byte));
    Some(value.saturating_add(added))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_show_the_compression() {
        for (head, expected) in [
            (&[0x1F, 0x8B][..], Compression::Gzip),
            (&ZSTD_MAGIC, Compression::Zstd),
            (&[0x53, 0x2A, 0x4D, 0x18], Compression::Zstd),
            (b"\xFD7zXZ\0", Compression::Xz),
            (b"\nACT version", Compression::None),
            (b"", Compression::None),
        ] {
            assert_eq!(Compression::of(head), expected);
        }
    }

    #[test]
    fn the_window_of_a_frame_is_read_from_its_header() {
        let window = |rest: &[u8]| window_bytes(&[&ZSTD_MAGIC[..], rest].concat());
        assert_eq!(window(&[0x00, 0x00]), Some(1024), "the smallest");
        assert_eq!(window(&[0x00, 15 << 3]), Some(WINDOW_BYTES_MAX));
        assert_eq!(window(&[0x00, (15 << 3) + 1]), Some(WINDOW_BYTES_MAX / 8 * 9));
        assert_eq!(window(&[0x20, 200]), Some(200));
        assert_eq!(window(&[0x61, 7, 1, 0]), Some(257), "a dictionary id comes first");
        assert_eq!(window(&[0xE0, 0, 0, 0, 0, 1, 0, 0, 0]), Some(1 << 32));
        assert_eq!((window(&[0x00]), window_bytes(b"\x50\x2A\x4D\x18")), (None, None));
    }
}
