//! Preallocation of plain files: reads of a hole do not reach the disk.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

use crate::engine::buffer::Payload;
use crate::schedule::rng::RequestRng;

/// Bytes per write.
const PIECE_BYTES: u64 = 1024 * 1024;

/// Extends a plain file to `size_bytes` and writes random data into every hole. Calls `stop` before each write, with
/// the number of bytes before it, which have no hole.
///
/// # Errors
/// The system's error, or `EINTR` if `stop` returned true.
pub(super) fn fill(file: &File, size_bytes: u64, stop: impl FnMut(u64) -> bool) -> io::Result<()> {
    if file.metadata()?.len() != size_bytes {
        file.set_len(size_bytes)?;
    }
    fill_holes(file, size_bytes, stop)
}

fn fill_holes(file: &File, size_bytes: u64, mut stop: impl FnMut(u64) -> bool) -> io::Result<()> {
    let mut payload = Payload::new(PIECE_BYTES as usize, 100, RequestRng::new(0, u64::MAX, 0));
    let mut at = 0;
    while let Some((begin, end)) = next_hole(file, at, size_bytes)? {
        at = begin;
        while at < end {
            if stop(at) {
                return Err(io::Error::from(Errno::INTR));
            }
            let length = PIECE_BYTES.min(end - at);
            payload.stamp(RequestRng::new(0, u64::MAX, at));
            file.write_all_at(&payload.bytes()[..length as usize], at)?;
            at += length;
        }
    }
    file.sync_all()
}

/// Returns the next hole at or after `at`, or None.
fn next_hole(file: &File, at: u64, size_bytes: u64) -> io::Result<Option<(u64, u64)>> {
    if at >= size_bytes {
        return Ok(None);
    }
    let begin = seek(file, SeekFrom::Hole(at))?;
    if begin >= size_bytes {
        return Ok(None);
    }
    let end = match seek(file, SeekFrom::Data(begin)) {
        Ok(end) => end.min(size_bytes),
        Err(Errno::NXIO) => size_bytes, // no data after the hole
        Err(error) => return Err(error.into()),
    };
    Ok(Some((begin, end)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    const SIZE: u64 = 3 * PIECE_BYTES + 4_096;

    fn sparse() -> File {
        let file = tempfile::tempfile().unwrap();
        file.set_len(SIZE).unwrap();
        file
    }

    #[test]
    fn a_filled_file_has_all_its_blocks() {
        let file = sparse();
        assert_eq!(file.metadata().unwrap().blocks(), 0);
        let mut begins = Vec::new();
        fill_holes(&file, SIZE, |at| {
            begins.push(at);
            false
        })
        .unwrap();
        assert_eq!(begins, [0, 1, 2, 3].map(|piece| piece * PIECE_BYTES));
        assert!(file.metadata().unwrap().blocks() * 512 >= SIZE);
        assert_eq!(file.metadata().unwrap().len(), SIZE);
    }

    #[test]
    fn existing_data_is_not_changed() {
        let file = sparse();
        file.write_all_at(&[7; 4_096], PIECE_BYTES).unwrap();
        fill_holes(&file, SIZE, |_| false).unwrap();
        let mut content = [0; 4_096];
        file.read_exact_at(&mut content, PIECE_BYTES).unwrap();
        assert_eq!(content, [7; 4_096]);
    }

    #[test]
    fn filling_stops_on_request() {
        let file = sparse();
        let mut calls = 0;
        let stopped = fill_holes(&file, SIZE, |_| {
            calls += 1;
            calls > 1
        });
        assert_eq!(
            stopped.unwrap_err().raw_os_error(),
            Some(Errno::INTR.raw_os_error())
        );
        assert!(file.metadata().unwrap().blocks() * 512 < SIZE);
    }
}
