//! Bytes to lines, whatever terminals, mailers and editors did to them.

pub mod decode;
pub mod line_split;
pub mod repair;
pub mod stream;

/// The longest line that is kept, bytes; what is longer is cut there. The longest line that ACT prints names
/// 128 devices of 127 characters: 16 KiB.
pub const LINE_BYTES_MAX: usize = 65_536;

/// One line without its end: the number counts from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// 1 for the first line of the content.
    pub number: u64,
    /// The bytes, without line end, carriage return, trailing blanks and NULs.
    pub text: &'a [u8],
    /// False for a last line that no line end follows.
    pub ended: bool,
    /// NUL bytes stand in the line or stood around it.
    pub has_nuls: bool,
}
