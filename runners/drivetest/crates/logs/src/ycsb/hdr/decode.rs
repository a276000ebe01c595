//! Decoder of one compressed histogram; memory use is limited by the bytes.

use std::io::Read;

use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, PAD};
use flate2::read::ZlibDecoder;

use crate::ycsb::hdr::encoding::{self, Encoding, Fault, Form, number};

/// Base64 with padding (RFC 4648, section 4); non-zero bits after the last byte are ignored.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&alphabet::STANDARD, PAD.with_decode_allow_trailing_bits(true));

/// Inflated bytes that are read: a histogram of three digits over all of a u64 has 55,296 counts of at most 9 bytes.
const INFLATED_BYTES_MAX: u64 = 1 << 20;

/// Pass each value of a histogram (its bucket's greatest) and how many there are to `each`.
///
/// # Errors
/// A description of the damage; `each` may have received some counts by then.
pub fn decode(text: &[u8], mut each: impl FnMut(u64, u64)) -> Result<(), Fault> {
    let bytes = BASE64.decode(text);
    let inflated = inflate(&bytes.map_err(|_| "its base64 is damaged or truncated")?)?;
    let encoding = Encoding::of(&inflated)?;
    let scale = Scale::of(&encoding)?;
    let mut counts = Counts {
        left: encoding.counts,
        form: encoding.form,
    };
    let mut index = 0_u64;
    while let Some(count) = counts.next() {
        match count? {
            0 => index += 1,
            count @ 1.. => {
                let value = scale
                    .greatest(index)
                    .ok_or("a count is beyond the range of values")?;
                each(value, count.unsigned_abs());
                index += 1;
            }
            skipped => {
                let next = index.checked_add(skipped.unsigned_abs());
                index = next.ok_or("it skips beyond the range of values")?;
            }
        }
    }
    Ok(())
}

fn inflate(bytes: &[u8]) -> Result<Vec<u8>, Fault> {
    encoding::check_compressed(bytes)?;
    let length = number(bytes, 4).and_then(|length| usize::try_from(length).ok());
    let body = length.and_then(|length| bytes[8..].get(..length));
    let mut decoder = ZlibDecoder::new(body.ok_or("it is cut")?).take(INFLATED_BYTES_MAX + 1);
    let mut inflated = Vec::new();
    let read = decoder.read_to_end(&mut inflated);
    read.map_err(|_| "its zlib stream is damaged")?;
    if inflated.len() as u64 > INFLATED_BYTES_MAX {
        return Err("it is larger than a histogram of latencies can be".into());
    }
    Ok(inflated)
}

/// Mapping of indexes to values.
struct Scale {
    unit_bits: u32,
    half_bits: u32,
}

impl Scale {
    fn of(encoding: &Encoding<'_>) -> Result<Self, &'static str> {
        let digits = Some(encoding.digits).filter(|digits| (1..=5).contains(digits));
        let digits = digits.ok_or("its digits are not 1 to 5")?;
        // 2 x 10^digits values are distinguished, rounded up to a power of two.
        let sub_bits = (2 * 10_u32.pow(digits)).next_power_of_two().ilog2();
        Ok(Self {
            unit_bits: encoding.lowest.checked_ilog2().ok_or("its lowest value is 0")?,
            half_bits: sub_bits - 1,
        })
    }

    /// Return the greatest value that is counted at an index; `None` beyond 2^63.
    /// Source: HdrHistogram, AbstractHistogram.valueFromIndex(), highestEquivalentValue().
    fn greatest(&self, index: u64) -> Option<u64> {
        let half = 1_u64 << self.half_bits;
        let (bucket, sub) = match (index >> self.half_bits).checked_sub(1) {
            None => (0, index),
            Some(bucket) => (bucket, (index & (half - 1)) + half),
        };
        let shift = u32::try_from(bucket).ok()?.checked_add(self.unit_bits)?;
        let is_within = sub.max(1).ilog2().checked_add(shift)? < 63;
        is_within.then(|| ((sub + 1) << shift) - 1)
    }
}

/// Counts, one after the other; a negative one skips as many indexes.
struct Counts<'a> {
    left: &'a [u8],
    form: Form,
}

impl Counts<'_> {
    fn next(&mut self) -> Option<Result<i64, &'static str>> {
        (!self.left.is_empty()).then(|| match self.form {
            Form::ZigZag => self.zigzag().ok_or("a count is cut"),
            Form::Words { bytes } => self.word(bytes),
        })
    }

    /// Decode 7 bits per byte, least significant first, and all 8 bits of a ninth byte.
    /// Source: HdrHistogram, ZigZagEncoding.java.
    fn zigzag(&mut self) -> Option<i64> {
        let mut value = 0_u64;
        for at in 0..9 {
            let (&byte, rest) = self.left.split_first()?;
            self.left = rest;
            let bits = if at == 8 { byte } else { byte & 0x7f };
            value |= u64::from(bits) << (7 * at);
            if byte & 0x80 == 0 {
                break;
            }
        }
        let sign = (value & 1).wrapping_neg();
        Some(((value >> 1) ^ sign).cast_signed())
    }

    /// Source: HdrHistogram, AbstractHistogram.fillCountsArrayFromSourceBuffer().
    fn word(&mut self, bytes: usize) -> Result<i64, &'static str> {
        let (word, rest) = self.left.split_at_checked(bytes).unwrap_or_default();
        self.left = rest;
        match word.first() {
            None => Err("a count is cut"),
            Some(0x80..) => Err("a count is negative"),
            Some(_) => Ok(word.iter().fold(0, |value, &byte| value << 8 | i64::from(byte))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn counts(form: Form, bytes: &[u8]) -> Vec<Result<i64, &'static str>> {
        let mut counts = Counts { left: bytes, form };
        std::iter::from_fn(|| counts.next()).collect()
    }

    /// Return a compressed cookie, the words before the counts, and the counts.
    fn written(cookie: u32, head: &[u32], body: &[u8]) -> String {
        let mut bytes: Vec<u8> = head.iter().flat_map(|word| word.to_be_bytes()).collect();
        bytes.extend_from_slice(body);
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        zlib.write_all(&bytes).unwrap();
        let zlib = zlib.finish().unwrap();
        let length = u32::try_from(zlib.len()).unwrap();
        BASE64.encode([&cookie.to_be_bytes()[..], &length.to_be_bytes(), &zlib].concat())
    }

    fn v0(words: u32, digits: u32, body: &[u8]) -> String {
        let head = [0x1c84_9308 | words << 4, digits, 0, 1, 0, 1 << 30, 0, 6];
        written(0x1c84_9309 | words << 4, &head, body)
    }

    fn v1(words: u32, digits: u32, body: &[u8]) -> String {
        let length = u32::try_from(body.len()).unwrap();
        let head = [
            0x1c84_9301 | words << 4,
            length,
            0,
            digits,
            0,
            1,
            0,
            1 << 30,
            0x3ff0_0000,
            0,
        ];
        written(0x1c84_9302 | words << 4, &head, body)
    }

    fn head(digits: u32, body: &[u8]) -> [u32; 10] {
        let length = u32::try_from(body.len()).unwrap();
        [0x1c84_9313, length, 0, digits, 0, 1, 0, 1 << 30, 0x3ff0_0000, 0]
    }

    fn v2(digits: u32, body: &[u8]) -> String {
        written(0x1c84_9314, &head(digits, body), body)
    }

    fn read(text: &str) -> Result<Vec<(u64, u64)>, Fault> {
        let mut reported = Vec::new();
        decode(text.as_bytes(), |value, count| reported.push((value, count)))?;
        Ok(reported)
    }

    fn fault(text: &str) -> String {
        read(text).unwrap_err().into_owned()
    }

    /// Return 2051 words of some bytes: one at 0, two at 1, three at the last, which is 2053.
    fn words(bytes: usize) -> Vec<u8> {
        let mut body = vec![0; bytes * 2051];
        for (index, count) in [(0, 1), (1, 2), (2050, 3)] {
            body[(index + 1) * bytes - 1] = count;
        }
        body
    }

    #[test]
    fn numbers_are_zigzag_in_seven_bits() {
        assert_eq!(
            counts(Form::ZigZag, &[0, 1, 2, 0x80, 1]),
            [Ok(0), Ok(-1), Ok(1), Ok(64)]
        );
        assert_eq!(counts(Form::ZigZag, &[0xff; 9]), [Ok(i64::MIN)]);
        assert_eq!(counts(Form::ZigZag, &[0x80]), [Err("a count is cut")]);
    }

    #[test]
    fn indexes_are_buckets_that_double() {
        let scale = Scale {
            unit_bits: 0,
            half_bits: 10,
        };
        let greatest = [0, 1, 2047, 2048, 3071, 3072].map(|index| scale.greatest(index));
        assert_eq!(
            greatest,
            [Some(0), Some(1), Some(2047), Some(2049), Some(4095), Some(4099)]
        );
        assert_eq!(scale.greatest(u64::MAX), None);
        assert_eq!(scale.greatest(55_295), Some(i64::MAX.unsigned_abs()));
        assert_eq!(scale.greatest(55_296), None);
    }

    #[test]
    fn words_are_big_endian_and_never_negative() {
        let two = Form::Words { bytes: 2 };
        assert_eq!(counts(two, &[0x12, 0x34, 0x7f, 0xff]), [Ok(0x1234), Ok(0x7fff)]);
        assert_eq!(counts(two, &[0, 1, 0]), [Ok(1), Err("a count is cut")]);
        assert_eq!(counts(two, &[0x80, 0]), [Err("a count is negative")]);
        let eight = Form::Words { bytes: 8 };
        let greatest = i64::MAX.to_be_bytes();
        assert_eq!(counts(eight, &greatest), [Ok(i64::MAX)]);
        assert_eq!(counts(eight, &[0xff; 8]), [Err("a count is negative")]);
    }

    #[test]
    fn a_histogram_made_by_hand_is_read() {
        // One at 0, two at 1, 2048 indexes from 2 on without any, three at 2050.
        let truth = Ok(vec![(0, 1), (1, 2), (2053, 3)]);
        assert_eq!(read(&v2(3, &[2, 4, 0xff, 0x1f, 6])), truth);
        for bytes in [2, 4, 8] {
            let size = u32::try_from(bytes).unwrap();
            assert_eq!(read(&v1(size, 3, &words(bytes))), truth, "V1 of {bytes}");
            assert_eq!(read(&v0(size, 3, &words(bytes))), truth, "V0 of {bytes}");
        }
    }

    #[test]
    fn damage_is_an_error() {
        let good = v2(3, &[2]);
        assert!(read(&good).is_ok());
        assert!(read(&good[..good.len() - 4]).is_err());
        for damaged in [v2(9, &[2]), v1(8, 9, &[0; 8]), v0(8, 9, &[0; 8])] {
            assert_eq!(fault(&damaged), "its digits are not 1 to 5");
        }
        assert!(read(&written(0x1c84_9314, &head(3, &[]), &[2])).is_err());
        let zeros = vec![0; 3 << 20];
        for large in [v2(3, &zeros), v1(8, 3, &zeros), v0(8, 3, &zeros)] {
            assert_eq!(fault(&large), "it is larger than a histogram of latencies can be");
        }
        assert_eq!(fault(&v1(8, 3, &[0; 12])), "a count is cut");
        assert_eq!(fault(&v0(8, 3, &[0xff; 8])), "a count is negative");
        let skip = [0xff; 9];
        assert_eq!(read(&v2(3, &skip)), Ok(vec![]));
        let beyond = [1_u64 << 40; 60_000].map(u64::to_be_bytes).concat();
        assert_eq!(fault(&v1(8, 3, &beyond)), "a count is beyond the range of values");
    }

    #[test]
    fn incomplete_base64_and_other_characters_are_errors() {
        for text in ["Z", "Zg", "Zg=", "Zg==Zg==", "Zm9*", "====", "Z==="] {
            assert_eq!(fault(text), "its base64 is damaged or truncated", "{text}");
        }
        assert_eq!(
            BASE64.decode("Zh==").unwrap(),
            b"f",
            "non-zero bits after the last byte"
        );
    }

    #[test]
    fn an_unknown_encoding_is_reported_with_its_cookie() {
        let unread = |cookie| format!("its encoding is not supported: cookie {cookie}");
        assert_eq!(fault("SElTVA=="), unread("0x48495354"));
        assert_eq!(fault("SEk="), "it is truncated");
        assert_eq!(
            fault(&written(0x1c84_9316, &head(3, &[]), &[])),
            unread("0x1c849316")
        );
        assert_eq!(fault(&v1(3, 3, &[0; 3])), unread("0x1c849331"));
        assert_eq!(fault(&v0(0, 3, &[0; 3])), unread("0x1c849308"));
    }

    proptest::proptest! {
        /// Every encoding of the same counts has the same result.
        #[test]
        fn encodings_are_equivalent(counts in proptest::collection::vec(0_u16..0x8000, 1..3000)) {
            let body = |bytes: usize| -> Vec<u8> {
                let word = |&count: &u16| u64::from(count).to_be_bytes()[8 - bytes..].to_vec();
                counts.iter().flat_map(word).collect()
            };
            let truth = read(&v1(8, 3, &body(8))).unwrap();
            let reported: Vec<u64> = truth.iter().map(|&(_, count)| count).collect();
            let expected: Vec<u64> = counts.iter().filter(|&&count| count > 0).map(|&count| count.into()).collect();
            assert_eq!(reported, expected);
            for bytes in [2, 4, 8] {
                let size = u32::try_from(bytes).unwrap();
                assert_eq!(read(&v1(size, 3, &body(bytes))).unwrap(), truth);
                assert_eq!(read(&v0(size, 3, &body(bytes))).unwrap(), truth);
            }
        }

        /// Arbitrary bytes after the cookies never cause a panic, nor counts beyond the inflated bytes.
        #[test]
        fn arbitrary_bytes_are_read_or_reported(
            base in 0x1c84_9300_u32..0x1c84_9400,
            inner in 0x1c84_9300_u32..0x1c84_9400,
            mut bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..400),
        ) {
            let length = u32::try_from(bytes.len().saturating_sub(36)).unwrap();
            if let Some(payload) = bytes.get_mut(..4) {
                payload.copy_from_slice(&length.to_be_bytes());
            }
            let mut sum = 0;
            let _ = decode(written(base, &[inner], &bytes).as_bytes(), |_, _| sum += 1);
            assert!(sum <= bytes.len());
        }
    }
}
