//! Reader of zip by its central directory: stored and deflated files, zip64. Names are never opened.
//!
//! Source: PKWARE, APPNOTE.TXT 6.3.10, sections 4.3 and 4.5.3.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;

use flate2::Crc;
use flate2::bufread::DeflateDecoder;

use super::entry::{Entry, EntryType};

/// First bytes of a zip with files and of an empty one.
pub const MAGICS: [&[u8; 4]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

const END_BYTES: u64 = 22;
const END64_PLACE_BYTES: u64 = 20;
const COMMENT_BYTES_MAX: u64 = u16::MAX as u64;
/// Value of a 32-bit field whose real value is in the zip64 field.
const FULL: u64 = u32::MAX as u64;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
const ENCRYPTED: u16 = 1;
const LINK_MODE: u32 = 0o120_000;
const MODE_MASK: u32 = 0o170_000;

/// A zip archive that is being read.
pub struct Zip<'a> {
    file: &'a File,
    directory: BufReader<Part<'a>>,
    entries_left: u64,
}

/// A range of a file.
pub struct Part<'a> {
    file: &'a File,
    at: u64,
    end: u64,
}

impl<'a> Part<'a> {
    /// Returns the bytes from `at` to `end`, or to the end of the file.
    pub fn new(file: &'a File, at: u64, end: u64) -> Self {
        Self { file, at, end }
    }
}

impl Read for Part<'_> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let wanted = left.min(target.len());
        let count = self.file.read_at(&mut target[..wanted], self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// An entry of the central directory.
struct Record {
    flags: u16,
    method: u16,
    crc: u32,
    packed_bytes: u64,
    size_bytes: u64,
    header_at: u64,
    mode: u32,
    name: Vec<u8>,
}

impl<'a> Zip<'a> {
    /// Opens the zip in a file.
    ///
    /// # Errors
    /// If it has no central directory.
    pub fn new(file: &'a File) -> io::Result<Self> {
        let (at, size_bytes, entries_left) = directory(file)?;
        let outside = || invalid("the central directory is outside the file");
        let end = at.checked_add(size_bytes).ok_or_else(outside)?;
        Ok(Self {
            file,
            directory: BufReader::new(Part::new(file, at, end)),
            entries_left,
        })
    }

    /// Returns the next entry. None at the end of the archive.
    ///
    /// # Errors
    /// If the directory is truncated, or contains something other than an entry.
    pub fn next(&mut self) -> io::Result<Option<Entry<'_>>> {
        if self.entries_left == 0 || self.directory.fill_buf()?.is_empty() {
            return Ok(None);
        }
        self.entries_left -= 1;
        let record = self.record()?;
        Ok(Some(Entry {
            entry_type: record.entry_type(),
            size_bytes: record.size_bytes,
            bytes: record.bytes(self.file)?,
            name: record.name,
        }))
    }

    fn record(&mut self) -> io::Result<Record> {
        let mut fixed = [0; 46];
        self.directory.read_exact(&mut fixed)?;
        if &fixed[..4] != b"PK\x01\x02" {
            return Err(invalid("expected an entry in the central directory"));
        }
        let [name_bytes, extra_bytes, comment_bytes] = [28, 30, 32].map(|at| usize::from(u16_at(&fixed, at)));
        let mut variable = vec![0; name_bytes + extra_bytes + comment_bytes];
        self.directory.read_exact(&mut variable)?;
        let mut record = Record {
            flags: u16_at(&fixed, 8),
            method: u16_at(&fixed, 10),
            crc: u32_at(&fixed, 16),
            packed_bytes: u32_at(&fixed, 20).into(),
            size_bytes: u32_at(&fixed, 24).into(),
            header_at: u32_at(&fixed, 42).into(),
            mode: u32_at(&fixed, 38) >> 16,
            name: variable[..name_bytes].to_owned(),
        };
        record.apply_zip64(&variable[name_bytes..name_bytes + extra_bytes]);
        Ok(record)
    }
}

impl Record {
    fn entry_type(&self) -> EntryType {
        if self.name.ends_with(b"/") {
            EntryType::Directory
        } else if self.mode & MODE_MASK == LINK_MODE {
            EntryType::Link
        } else if self.flags & ENCRYPTED != 0 {
            EntryType::Encrypted
        } else if matches!(self.method, STORED | DEFLATED) {
            EntryType::File
        } else {
            EntryType::Unknown
        }
    }

    /// Reads sizes and offsets above 32 bits from the zip64 field, which has them in this order.
    fn apply_zip64(&mut self, mut extra: &[u8]) {
        while let [a, b, c, d, rest @ ..] = extra {
            let size = usize::from(u16::from_le_bytes([*c, *d])).min(rest.len());
            let (mut field, after) = rest.split_at(size);
            if u16::from_le_bytes([*a, *b]) == 1 {
                let values = [&mut self.size_bytes, &mut self.packed_bytes, &mut self.header_at];
                for value in values.into_iter().filter(|value| **value == FULL) {
                    if let Some((wide, more)) = field.split_first_chunk() {
                        *value = u64::from_le_bytes(*wide);
                        field = more;
                    }
                }
            }
            extra = after;
        }
    }

    fn bytes<'a>(&self, file: &'a File) -> io::Result<Box<dyn Read + 'a>> {
        if self.entry_type() != EntryType::File {
            return Ok(Box::new(io::empty()));
        }
        let mut fixed = [0; 30];
        file.read_exact_at(&mut fixed, self.header_at)?;
        if &fixed[..4] != b"PK\x03\x04" {
            return Err(invalid("no file header at the offset in the central directory"));
        }
        let variable = u64::from(u16_at(&fixed, 26)) + u64::from(u16_at(&fixed, 28));
        let at = self.header_at.saturating_add(30 + variable);
        let end = at.saturating_add(self.packed_bytes);
        let packed = BufReader::new(Part::new(file, at, end));
        let unpacked: Box<dyn Read + 'a> = match self.method {
            DEFLATED => Box::new(DeflateDecoder::new(packed)),
            _ => Box::new(packed),
        };
        Ok(Box::new(Checked {
            bytes: unpacked,
            crc: Crc::new(),
            expected_crc: self.crc,
            left_bytes: self.size_bytes,
        }))
    }
}

/// Bytes with an expected number and checksum.
struct Checked<'a> {
    bytes: Box<dyn Read + 'a>,
    crc: Crc,
    expected_crc: u32,
    left_bytes: u64,
}

impl Read for Checked<'_> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(target)?;
        self.crc.update(&target[..count]);
        let too_many = || invalid("a file has more bytes than the central directory states");
        self.left_bytes = self.left_bytes.checked_sub(count as u64).ok_or_else(too_many)?;
        if count == 0 && !target.is_empty() && (self.left_bytes > 0 || self.crc.sum() != self.expected_crc) {
            let what = "a file has fewer bytes than the central directory states, or another checksum";
            return Err(invalid(what));
        }
        Ok(count)
    }
}

/// Returns the offset of the central directory, its size and its number of entries.
fn directory(file: &File) -> io::Result<(u64, u64, u64)> {
    let size_bytes = file.metadata()?.len();
    let from = size_bytes.saturating_sub(END_BYTES + COMMENT_BYTES_MAX);
    let mut tail = Vec::new();
    Part::new(file, from, size_bytes).read_to_end(&mut tail)?;
    let at = find_end_record(&tail).ok_or_else(|| invalid("no central directory at the end of the file"))?;
    let end = &tail[at..];
    let entries = u64::from(u16_at(end, 10));
    let [size, place] = [12, 16].map(|at| u64::from(u32_at(end, at)));
    match entries == u64::from(u16::MAX) || size == FULL || place == FULL {
        true => directory64(file, from + at as u64),
        false => Ok((place, size, entries)),
    }
}

fn find_end_record(tail: &[u8]) -> Option<usize> {
    let last = tail.len().checked_sub(END_BYTES as usize)?;
    (0..=last).rev().find(|&at| tail[at..].starts_with(b"PK\x05\x06"))
}

fn directory64(file: &File, end_at: u64) -> io::Result<(u64, u64, u64)> {
    let mut place = [0; END64_PLACE_BYTES as usize];
    let missing = || invalid("no end record of zip64");
    let place_at = end_at.checked_sub(END64_PLACE_BYTES).ok_or_else(missing)?;
    file.read_exact_at(&mut place, place_at)?;
    let mut end = [0; 56];
    file.read_exact_at(&mut end, u64_at(&place, 8))?;
    if &place[..4] != b"PK\x06\x07" || &end[..4] != b"PK\x06\x06" {
        return Err(missing());
    }
    Ok((u64_at(&end, 48), u64_at(&end, 40), u64_at(&end, 32)))
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}
