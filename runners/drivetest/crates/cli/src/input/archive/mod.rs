//! Archives of logs: tar, plain or compressed, and zip. They are read in several passes; nothing is extracted.

mod entry;
mod logs;
mod member;
mod read_archive;
mod tar;
mod zip;

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read};

pub use self::member::{Member, role_of};
pub use self::read_archive::read;

use self::entry::Entry;
use self::tar::Tar;
use self::zip::Zip;
use crate::input::content::{Content, End};
use crate::input::decompress::Compression;
use crate::input::digest::StreamDigest;
use crate::input::limits::LimitExceeded;

/// An archive format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// tar, with any extensions.
    Tar,
    /// zip.
    Zip,
}

/// Returns the archive format of a content. None if it is not an archive.
///
/// # Errors
/// If the content cannot be read.
pub fn kind(content: &mut Content<'_>) -> io::Result<Option<Kind>> {
    let head = content.head(tar::BLOCK_BYTES)?;
    let is_zip = zip::MAGICS.iter().any(|magic| head.starts_with(*magic));
    Ok(if tar::is_tar(&head) {
        Some(Kind::Tar)
    } else {
        is_zip.then_some(Kind::Zip)
    })
}

/// An archive in a file that can be read several times.
pub struct Archive<'a> {
    file: &'a File,
    kind: Kind,
    limit_bytes: u64,
}

/// The result of one pass over an archive.
pub struct Pass {
    /// Compression of the archive as a whole.
    pub compression: Compression,
    /// Digest of the received bytes.
    pub received: StreamDigest,
    /// Digest of the decompressed bytes. None without compression.
    pub content: Option<StreamDigest>,
    /// How the pass ended.
    pub end: End,
}

/// A function that receives each entry. An error ends the pass.
pub type Visit<'v> = dyn FnMut(Entry<'_>) -> io::Result<()> + 'v;

impl<'a> Archive<'a> {
    /// Creates an archive of a format.
    pub fn new(file: &'a File, kind: Kind, limit_bytes: u64) -> Self {
        Self {
            file,
            kind,
            limit_bytes,
        }
    }

    /// Returns the limit on the content of all entries together.
    pub fn limit_bytes(&self) -> u64 {
        self.limit_bytes
    }

    /// Passes every entry to `visit`, in order.
    ///
    /// # Errors
    /// If the file cannot be read. Damage is a way in which the pass ended.
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
        let whole = zip::Part::new(self.file, 0, u64::MAX);
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
    let meter = ContentMeter {
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

/// Checks the content of all files of a zip against the size of the zip, because files can share the same bytes.
struct ContentMeter {
    received_bytes: u64,
    limit_bytes: u64,
    used_bytes: Cell<u64>,
}

struct Metered<'a, 'm> {
    bytes: Box<dyn Read + 'a>,
    meter: &'m ContentMeter,
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
