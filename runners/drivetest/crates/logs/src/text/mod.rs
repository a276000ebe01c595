//! Text of a log: bytes to lines, with repairs of changes by terminals, mailers and editors.

pub mod decode;
pub mod line_split;
pub mod repair;
pub mod stream;

/// Maximum length of a line in bytes; longer lines are cut. The longest line that ACT prints names
/// 128 devices of 127 characters: 16 KiB.
pub const LINE_BYTES_MAX: usize = 65_536;

/// One line without its line end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Line number, from 1.
    pub number: u64,
    /// Bytes without line end, carriage return, trailing blanks and NULs.
    pub text: &'a [u8],
    /// Whether a line end follows; false only for the last line.
    pub ended: bool,
    /// Whether NUL bytes were in or around the line.
    pub has_nuls: bool,
}
