//! One compressed histogram to its counts; nothing is made room for that the bytes do not hold.

use std::io::Read;

use flate2::read::ZlibDecoder;

use crate::ycsb::hdr::base64;

/// Inflated bytes that are read: a histogram of three digits over all of a u64 has 55,296 counts of at most 9 bytes.
const INFLATED_BYTES_MAX: u64 = 1 << 20;

/// Source: HdrHistogram, V2EncodingCookieBase and V2CompressedEncodingCookieBase, each with 0x10 for its words' size.
const COOKIE: u32 = 0x1c84_9313;
const COMPRESSED_COOKIE: u32 = 0x1c84_9314;

/// Bytes before the counts.
const HEAD_BYTES: usize = 40;

/// Hands each value of a histogram (its bucket's greatest) and how many there are to `each`.
///
/// # Errors
/// What is wrong with it, in words; some counts may have been handed over by then.
pub fn decode(text: &[u8], mut each: impl FnMut(u64, u64)) -> Result<(), &'static str> {
    let bytes = base64::decode(text).ok_or("its base64 is damaged or cut")?;
    let inflated = inflate(&bytes)?;
    let scale = Scale::of(&inflated)?;
    let mut counts = Counts(&inflated[HEAD_BYTES..]);
    let mut index = 0_u64;
    while let Some(count) = counts.next() {
        let count = count?;
        if let Ok(count) = u64::try_from(count) {
            if count > 0 {
                each(
                    scale
                        .greatest(index)
                        .ok_or("a count is beyond the range of values")?,
                    count,
                );
            }
            index += 1;
        } else {
            index = index
                .checked_add(count.unsigned_abs())
                .ok_or("it skips beyond the range of values")?;
        }
    }
    Ok(())
}

fn inflate(bytes: &[u8]) -> Result<Vec<u8>, &'static str> {
    if number(bytes, 0) != Some(COMPRESSED_COOKIE) {
        return Err("it is no compressed histogram of version 2");
    }
    let length = number(bytes, 4).and_then(|length| usize::try_from(length).ok());
    let body = length
        .and_then(|length| bytes[8..].get(..length))
        .ok_or("it is cut")?;
    let mut inflated = Vec::new();
    let read = ZlibDecoder::new(body)
        .take(INFLATED_BYTES_MAX + 1)
        .read_to_end(&mut inflated);
    read.map_err(|_| "its zlib stream is damaged")?;
    if inflated.len() as u64 > INFLATED_BYTES_MAX {
        return Err("it is larger than a histogram of latencies can be");
    }
    Ok(inflated)
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..at + 4)?.try_into().ok()?;
    Some(u32::from_be_bytes(word))
}

/// How indexes are values.
struct Scale {
    unit_bits: u32,
    half_bits: u32,
}

impl Scale {
    fn of(bytes: &[u8]) -> Result<Self, &'static str> {
        if number(bytes, 0) != Some(COOKIE) || bytes.len() < HEAD_BYTES {
            return Err("it has no head of version 2");
        }
        if number(bytes, 4).map(|length| length as usize) != Some(bytes.len() - HEAD_BYTES) {
            return Err("it holds more or fewer bytes than it says");
        }
        if number(bytes, 8) != Some(0) {
            return Err("its values are shifted");
        }
        let digits = number(bytes, 12).filter(|digits| (1..=5).contains(digits));
        let digits = digits.ok_or("its digits are not 1 to 5")?;
        let lowest =
            u64::from(number(bytes, 16).unwrap_or(0)) << 32 | u64::from(number(bytes, 20).unwrap_or(0));
        // 2 x 10^digits values are told apart, in the next power of two.
        let sub_bits = (2 * 10_u32.pow(digits)).next_power_of_two().ilog2();
        Ok(Self {
            unit_bits: lowest.checked_ilog2().ok_or("its lowest value is 0")?,
            half_bits: sub_bits - 1,
        })
    }

    /// The greatest value that is counted at an index; None beyond 2^63.
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

/// Counts as they are written: ZigZag, then 7 bits a byte, the least first, and all 8 of a ninth.
/// Source: HdrHistogram, ZigZagEncoding.java.
struct Counts<'a>(&'a [u8]);

impl Counts<'_> {
    fn next(&mut self) -> Option<Result<i64, &'static str>> {
        (!self.0.is_empty()).then(|| self.number().ok_or("a count is cut"))
    }

    fn number(&mut self) -> Option<i64> {
        let mut value = 0_u64;
        for at in 0..9 {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            let kept = if at == 8 { byte } else { byte & 0x7f };
            value |= u64::from(kept) << (7 * at);
            if byte & 0x80 == 0 {
                break;
            }
        }
        let sign = (value & 1).wrapping_neg();
        Some(((value >> 1) ^ sign).cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn counts(bytes: &[u8]) -> Vec<Result<i64, &'static str>> {
        let mut counts = Counts(bytes);
        std::iter::from_fn(|| counts.next()).collect()
    }

    fn written(head: [u32; 10], body: &[u8]) -> Vec<u8> {
        let mut bytes: Vec<u8> = head.iter().flat_map(|word| word.to_be_bytes()).collect();
        bytes.extend_from_slice(body);
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        zlib.write_all(&bytes).unwrap();
        let zlib = zlib.finish().unwrap();
        let length = u32::try_from(zlib.len()).unwrap();
        [
            COMPRESSED_COOKIE.to_be_bytes().to_vec(),
            length.to_be_bytes().to_vec(),
            zlib,
        ]
        .concat()
    }

    fn head(digits: u32, body: &[u8]) -> [u32; 10] {
        let length = u32::try_from(body.len()).unwrap();
        [COOKIE, length, 0, digits, 0, 1, 0, 1 << 30, 0x3ff0_0000, 0]
    }

    fn read(bytes: &[u8]) -> Result<Vec<(u64, u64)>, &'static str> {
        let inflated = inflate(bytes)?;
        let scale = Scale::of(&inflated)?;
        let mut told = Vec::new();
        let mut index = 0_u64;
        for count in self::counts(&inflated[HEAD_BYTES..]) {
            match u64::try_from(count?) {
                Ok(count) => {
                    told.push((scale.greatest(index).ok_or("range")?, count));
                    index += 1;
                }
                Err(_) => index += 2048,
            }
        }
        Ok(told)
    }

    #[test]
    fn numbers_are_zigzag_in_seven_bits() {
        assert_eq!(counts(&[0, 1, 2, 0x80, 1]), [Ok(0), Ok(-1), Ok(1), Ok(64)]);
        assert_eq!(counts(&[0xff; 9]), [Ok(i64::MIN)]);
        assert_eq!(counts(&[0x80]), [Err("a count is cut")]);
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
    fn a_histogram_made_by_hand_is_read() {
        // One at 0, two at 1, 2048 indexes from 2 on without any, three at 2050.
        let body = [2, 4, 0xff, 0x1f, 6];
        assert_eq!(
            read(&written(head(3, &body), &body)),
            Ok(vec![(0, 1), (1, 2), (2053, 3)])
        );
    }

    #[test]
    fn damage_is_told_and_never_believed() {
        let body = [2];
        let good = written(head(3, &body), &body);
        assert!(read(&good).is_ok());
        assert!(read(&good[..good.len() - 1]).is_err());
        assert!(read(&written(head(9, &body), &body)).is_err());
        assert!(read(&written(head(3, &[]), &body)).is_err());
        let zeros = vec![0; 3 << 20];
        assert!(read(&written(head(3, &zeros), &zeros)).is_err());
        assert!(decode(b"HIST", |_, _| ()).is_err());
        let skip = [0xff; 9];
        assert!(read(&written(head(3, &skip), &skip)).is_ok());
    }
}
