//! Streaming reader of tar: ustar, GNU long names, pax paths and sizes. Names are never opened.
//!
//! Source: POSIX.1-2017, pax, "ustar Interchange Format" and "pax Header Block"; GNU tar, "Basic Tar Format".

use std::io::{self, Read};

use super::entry::{Entry, EntryType, NAME_BYTES_MAX};

/// Size of a header, and the unit of all sizes.
pub const BLOCK_BYTES: usize = 512;

/// Maximum bytes of a pax header that are read.
const PAX_BYTES_MAX: u64 = 64 << 10;

type Block = [u8; BLOCK_BYTES];

/// Returns whether bytes begin with a tar header with a correct checksum.
pub fn is_tar(head: &[u8]) -> bool {
    let block = head.first_chunk::<BLOCK_BYTES>();
    block.is_some_and(|block| block[0] != 0 && is_header(block))
}

/// A tar archive that is being read.
pub struct Tar<R> {
    source: R,
    left_bytes: u64,
    padding_bytes: u64,
}

/// Values for a file from the headers before its own.
#[derive(Default)]
struct Overrides {
    name: Option<Vec<u8>>,
    size_bytes: Option<u64>,
    is_sparse: bool,
}

impl<R: Read> Tar<R> {
    /// Creates a reader at the start of an archive.
    pub fn new(source: R) -> Self {
        Self {
            source,
            left_bytes: 0,
            padding_bytes: 0,
        }
    }

    /// Returns the next entry. None at the end of the archive.
    ///
    /// # Errors
    /// If the archive is truncated, or contains something other than a header.
    pub fn next(&mut self) -> io::Result<Option<Entry<'_>>> {
        let mut overrides = Overrides::default();
        loop {
            self.skip_rest()?;
            let Some(block) = self.header()? else {
                return Ok(None);
            };
            let size_bytes = number(&block[124..136]);
            self.begin(size_bytes);
            match block[156] {
                b'L' => overrides.name = Some(self.text(NAME_BYTES_MAX as u64)?),
                b'x' => self.apply_pax(&mut overrides)?,
                b'K' | b'g' => {}
                kind => return Ok(Some(self.entry(&block, kind, overrides))),
            }
        }
    }

    fn begin(&mut self, size_bytes: u64) {
        self.left_bytes = size_bytes;
        self.padding_bytes = (BLOCK_BYTES as u64 - size_bytes % BLOCK_BYTES as u64) % BLOCK_BYTES as u64;
    }

    fn entry(&mut self, block: &Block, kind: u8, overrides: Overrides) -> Entry<'_> {
        let entry_type = match kind {
            b'0' | 0 | b'7' if overrides.is_sparse => EntryType::Unknown,
            b'0' | 0 | b'7' => EntryType::File,
            b'1' | b'2' => EntryType::Link,
            b'3' | b'4' | b'6' => EntryType::Device,
            b'5' => EntryType::Directory,
            _ => EntryType::Unknown,
        };
        if let Some(size_bytes) = overrides.size_bytes {
            self.begin(size_bytes);
        }
        Entry {
            name: overrides.name.unwrap_or_else(|| name(block)),
            entry_type,
            size_bytes: self.left_bytes,
            bytes: Box::new(Bytes(self)),
        }
    }

    /// Returns the next header. None at the zero blocks that end an archive, or at the end of the bytes.
    fn header(&mut self) -> io::Result<Option<Block>> {
        let mut bytes = Vec::with_capacity(BLOCK_BYTES);
        let mut block = (&mut self.source).take(BLOCK_BYTES as u64);
        block.read_to_end(&mut bytes)?;
        if bytes.iter().all(|&byte| byte == 0) {
            return Ok(None);
        }
        let block: Block = bytes.try_into().map_err(|_| io::ErrorKind::UnexpectedEof)?;
        if !is_header(&block) {
            let what = "expected a tar header; the checksum is wrong";
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        Ok(Some(block))
    }

    fn skip_rest(&mut self) -> io::Result<()> {
        let rest = self.left_bytes.saturating_add(self.padding_bytes);
        let passed = io::copy(&mut (&mut self.source).take(rest), &mut io::sink())?;
        let is_truncated = passed < self.left_bytes;
        (self.left_bytes, self.padding_bytes) = (0, 0);
        match is_truncated {
            true => Err(io::ErrorKind::UnexpectedEof.into()),
            false => Ok(()),
        }
    }

    /// Returns the first bytes of an entry, up to its first NUL.
    fn text(&mut self, bytes_max: u64) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        Bytes(self).take(bytes_max).read_to_end(&mut text)?;
        if let Some(end) = text.iter().position(|&byte| byte == 0) {
            text.truncate(end);
        }
        Ok(text)
    }

    fn apply_pax(&mut self, overrides: &mut Overrides) -> io::Result<()> {
        let mut records = Vec::new();
        Bytes(self).take(PAX_BYTES_MAX).read_to_end(&mut records)?;
        let mut rest = records.as_slice();
        while let Some((key, value, after)) = pax_record(rest) {
            match key {
                b"path" => overrides.name = Some(value[..value.len().min(NAME_BYTES_MAX)].to_owned()),
                b"size" => {
                    overrides.size_bytes = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok())
                }
                _ => overrides.is_sparse |= key.starts_with(b"GNU.sparse."),
            }
            rest = after;
        }
        Ok(())
    }
}

/// The bytes of the entry that was returned last.
struct Bytes<'a, R>(&'a mut Tar<R>);

impl<R: Read> Read for Bytes<'_, R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let wanted = usize::try_from(self.0.left_bytes).map_or(target.len(), |left| left.min(target.len()));
        if wanted == 0 {
            return Ok(0);
        }
        let count = self.0.source.read(&mut target[..wanted])?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.0.left_bytes -= count as u64;
        Ok(count)
    }
}

/// Checks the checksum: the sum of all bytes, with blanks in place of the checksum. Old programs add signed bytes.
fn is_header(block: &Block) -> bool {
    let checksum = number(&block[148..156]);
    let bytes = block.iter().enumerate();
    let bytes = bytes.map(|(at, &byte)| if (148..156).contains(&at) { b' ' } else { byte });
    let unsigned: u64 = bytes.clone().map(u64::from).sum();
    let signed: i64 = bytes.map(|byte| i64::from(byte.cast_signed())).sum();
    checksum == unsigned || i64::try_from(checksum) == Ok(signed)
}

/// Parses a number: octal digits, or bytes if the highest bit is set. Saturates on overflow.
fn number(field: &[u8]) -> u64 {
    if field[0] & 0x80 != 0 {
        let bytes = std::iter::once(field[0] & 0x7F).chain(field[1..].iter().copied());
        return bytes.fold(0_u64, |value, byte| {
            let shifted = value.checked_mul(256);
            shifted.map_or(u64::MAX, |value| value | u64::from(byte))
        });
    }
    let digits = field.iter().skip_while(|&&byte| byte == b' ');
    let digits = digits.take_while(|byte| matches!(byte, b'0'..=b'7'));
    digits.fold(0_u64, |value, digit| {
        value.saturating_mul(8).saturating_add(u64::from(digit - b'0'))
    })
}

fn name(block: &Block) -> Vec<u8> {
    let text = |field: &[u8]| {
        let text = field.split(|&byte| byte == 0).next();
        text.unwrap_or_default().to_owned()
    };
    let (name, prefix) = (text(&block[..100]), text(&block[345..500]));
    let is_ustar = &block[257..263] == b"ustar\0";
    if is_ustar && !prefix.is_empty() {
        [&prefix[..], b"/", &name].concat()
    } else {
        name
    }
}

/// Parses a record `LENGTH KEY=VALUE`. Returns the key, the value and the following bytes. None if there is no record.
fn pax_record(records: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let space = records.iter().position(|&byte| byte == b' ')?;
    let length: usize = std::str::from_utf8(&records[..space]).ok()?.parse().ok()?;
    let record = records.get(space + 1..length)?.strip_suffix(b"\n")?;
    let equals = record.iter().position(|&byte| byte == b'=')?;
    Some((&record[..equals], &record[equals + 1..], &records[length..]))
}
