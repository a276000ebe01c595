//! Archives of logs: tar, plain or compressed, and zip. They are read in place, pass by pass; nothing is unpacked.

mod entry;
mod logs;
mod member;
mod read_archive;
mod tar;
mod zip;

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

pub use self::member::{Member, role_of};
pub use self::read_archive::read;

use self::entry::Entry;
use self::tar::Tar;
use self::zip::Zip;
use crate::input::content::{Content, End};
use crate::input::decompress::Compression;
use crate::input::digest::StreamDigest;
use crate::input::limits::LimitExceeded;

/// What kind of archive a content is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// tar, of any kind.
    Tar,
    /// zip.
    Zip,
}

/// The kind of archive that a content is, None where it is none.
///
/// # Errors
/// Where the content cannot be read.
pub fn kind(content: &mut Content<'_>) -> io::Result<Option<Kind>> {
    let head = content.head(tar::BLOCK_BYTES)?;
    let is_zip = zip::MAGICS.iter().any(|magic| head.starts_with(*magic));
    Ok(if tar::begins(&head) {
        Some(Kind::Tar)
    } else {
        is_zip.then_some(Kind::Zip)
    })
}

/// An archive in a file that can be read again and again.
pub struct Archive<'a> {
    file: &'a File,
    kind: Kind,
    limit_bytes: u64,
}

/// A pass over all of an archive.
pub struct Pass {
    /// How the archive is compressed as a whole.
    pub compression: Compression,
    /// The bytes as received.
    pub received: StreamDigest,
    /// The bytes as decompressed; None where that is the same.
    pub content: Option<StreamDigest>,
    /// How it ended.
    pub end: End,
}

/// What is done with each entry; an error ends the pass.
pub type Visit<'v> = dyn FnMut(Entry<'_>) -> io::Result<()> + 'v;

impl<'a> Archive<'a> {
    /// An archive of a kind.
    pub fn new(file: &'a File, kind: Kind, limit_bytes: u64) -> Self {
        Self {
            file,
            kind,
            limit_bytes,
        }
    }

    /// The content that all entries may have together.
    pub fn limit_bytes(&self) -> u64 {
        self.limit_bytes
    }

    /// Shows every entry in its order.
    ///
    /// # Errors
    /// Where the file cannot be read; damage is how the pass ended.
    pub fn pass(&self, visit: &mut Visit<'_>) -> io::Result<Pass> {
        let mut content = self.content()?;
        let compression = content.compression();
        let ended = match self.kind {
            Kind::Tar => each_of_tar(&mut content, visit),
            Kind::Zip => each_of_zip(self.file, self.limit_bytes, visit),
        };
        let end = content.end_of_archive(ended)?;
        let (received, content) = content.finish();
        Ok(Pass {
            compression,
            received,
            content,
            end,
        })
    }

    fn content(&self) -> io::Result<Content<'a>> {
        let size_bytes = self.file.metadata()?.len();
        let whole = FromStart {
            file: self.file,
            at: 0,
        };
        Content::of(Box::new(whole), size_bytes, self.limit_bytes)
    }
}

fn each_of_tar(content: &mut Content<'_>, visit: &mut Visit<'_>) -> io::Result<()> {
    let mut tar = Tar::new(content);
    while let Some(entry) = tar.next()? {
        visit(entry)?;
    }
    Ok(())
}

fn each_of_zip(file: &File, limit_bytes: u64, visit: &mut Visit<'_>) -> io::Result<()> {
    let mut zip = Zip::new(file)?;
    let meter = Meter {
        received_bytes: file.metadata()?.len(),
        limit_bytes,
        used_bytes: Cell::new(0),
    };
    while let Some(entry) = zip.next()? {
        let bytes = Box::new(Metered {
            bytes: entry.bytes,
            meter: &meter,
        });
        visit(Entry { bytes, ..entry })?;
    }
    Ok(())
}

/// What all files of a zip give together, against what the zip itself has: several may share the same bytes.
struct Meter {
    received_bytes: u64,
    limit_bytes: u64,
    used_bytes: Cell<u64>,
}

struct Metered<'a, 'm> {
    bytes: Box<dyn Read + 'a>,
    meter: &'m Meter,
}

impl Read for Metered<'_, '_> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(target)?;
        let meter = self.meter;
        meter.used_bytes.set(meter.used_bytes.get() + count as u64);
        LimitExceeded::check(meter.used_bytes.get(), meter.received_bytes, meter.limit_bytes)?;
        Ok(count)
    }
}

/// A file read from its start, whatever else reads it.
struct FromStart<'a> {
    file: &'a File,
    at: u64,
}

impl Read for FromStart<'_> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(target, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}
