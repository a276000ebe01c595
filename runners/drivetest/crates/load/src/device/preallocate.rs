//! Fills the holes of a plain file, so that its reads reach the disk below.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

use crate::engine::buffer::Payload;
use crate::schedule::rng::RequestRng;

/// Written at once.
const PIECE_BYTES: u64 = 1024 * 1024;

/// Writes random data into every part of the first `size_bytes` that holds none yet; `stop` is asked between pieces.
pub(super) fn fill(file: &File, size_bytes: u64, mut stop: impl FnMut() -> bool) -> io::Result<()> {
    let mut payload = Payload::new(PIECE_BYTES as usize, 100, RequestRng::new(0, u64::MAX, 0));
    let mut at = 0;
    while let Some((begin, end)) = next_hole(file, at, size_bytes)? {
        at = begin;
        while at < end {
            if stop() {
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

/// The next part without data at or after `at`; None when there is none.
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
        fill(&file, SIZE, || false).unwrap();
        assert!(file.metadata().unwrap().blocks() * 512 >= SIZE);
        assert_eq!(file.metadata().unwrap().len(), SIZE);
    }

    #[test]
    fn data_that_is_there_stays() {
        let file = sparse();
        file.write_all_at(&[7; 4_096], PIECE_BYTES).unwrap();
        fill(&file, SIZE, || false).unwrap();
        let mut kept = [0; 4_096];
        file.read_exact_at(&mut kept, PIECE_BYTES).unwrap();
        assert_eq!(kept, [7; 4_096]);
    }

    #[test]
    fn filling_stops_when_asked() {
        let file = sparse();
        let mut asked = 0;
        let stopped = fill(&file, SIZE, || {
            asked += 1;
            asked > 1
        });
        assert_eq!(
            stopped.unwrap_err().raw_os_error(),
            Some(Errno::INTR.raw_os_error())
        );
        assert!(file.metadata().unwrap().blocks() * 512 < SIZE);
    }
}
