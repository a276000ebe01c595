//! Encodings of HdrHistogram, which the cookies identify, and the header before the counts.
//!
//! Source: HdrHistogram, AbstractHistogram.decodeFromByteBuffer(): V0 is of releases up to 1.2, V1 of 2.0 to 2.1.6
//! (YCSB up to 0.17.0 has 2.1.4), V2 of 2.1.7 and later.

use std::borrow::Cow;

/// Description of an error in a histogram.
pub type Fault = Cow<'static, str>;

/// Bits of a cookie with the number of bytes per count; V2 always has 0x10.
const WORD_BITS: u32 = 0xf0;

/// V0CompressedEncodingCookieBase, V1..., V2...
const COMPRESSED: [u32; 3] = [0x1c84_9309, 0x1c84_9302, 0x1c84_9304];

/// V0EncodingCookieBase, V1..., V2...
const V0: u32 = 0x1c84_9308;
const V1: u32 = 0x1c84_9301;
const V2: u32 = 0x1c84_9303;

/// Bytes before the counts; V0 has neither a length nor a shift.
const HEAD_BYTES: usize = 40;
const V0_HEAD_BYTES: usize = 32;

/// Format of counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A fixed number of bytes for each count, most significant first.
    Words { bytes: usize },
    /// ZigZag in bytes of 7 bits; a negative number is the number of indexes without operations.
    ZigZag,
}

/// A histogram, as it is encoded.
#[derive(Debug)]
pub struct Encoding<'a> {
    /// Format of its counts.
    pub form: Form,
    /// Its significant digits.
    pub digits: u32,
    /// Lowest value that is distinguished from 0.
    pub lowest: u64,
    /// Its counts.
    pub counts: &'a [u8],
}

impl<'a> Encoding<'a> {
    /// Parse an inflated histogram.
    pub fn of(bytes: &'a [u8]) -> Result<Self, Fault> {
        let cookie = number(bytes, 0).ok_or("its header is truncated")?;
        let (base, word_bytes) = (cookie & !WORD_BITS, (cookie & WORD_BITS) >> 4);
        let form = match (base, word_bytes) {
            (V0 | V1, 2 | 4 | 8) => Form::Words {
                bytes: word_bytes as usize,
            },
            (V2, _) => Form::ZigZag,
            _ => return Err(unread(cookie)),
        };
        let (head_bytes, digits_at) = match base {
            V0 => (V0_HEAD_BYTES, 4),
            _ => (HEAD_BYTES, 12),
        };
        let counts = bytes.get(head_bytes..).ok_or("its header is truncated")?;
        if base != V0 {
            if number(bytes, 4).map(|length| length as usize) != Some(counts.len()) {
                return Err("its length differs from the stated one".into());
            }
            if number(bytes, 8) != Some(0) {
                return Err("its values are shifted".into());
            }
        }
        let word = |at| number(bytes, at).unwrap_or(0);
        Ok(Self {
            form,
            digits: word(digits_at),
            lowest: u64::from(word(digits_at + 4)) << 32 | u64::from(word(digits_at + 8)),
            counts,
        })
    }
}

/// Return whether the bytes begin as a compressed histogram does.
pub fn check_compressed(bytes: &[u8]) -> Result<(), Fault> {
    let cookie = number(bytes, 0).ok_or("it is truncated")?;
    let is_known = COMPRESSED.contains(&(cookie & !WORD_BITS));
    is_known.then_some(()).ok_or_else(|| unread(cookie))
}

fn unread(cookie: u32) -> Fault {
    format!("its encoding is not supported: cookie {cookie:#010x}").into()
}

/// Return the big-endian number at a place.
pub fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..at + 4)?.try_into().ok()?;
    Some(u32::from_be_bytes(word))
}
