//! Part of a series as columns of bytes, which compress best, because neighbouring bytes are similar.

use crate::act::blocks::histogram::Counts;

/// Intervals of all histograms since the previous chunk.
#[derive(Debug, Default)]
pub struct Chunk {
    intervals: u64,
    bytes_count: usize,
    histograms: Vec<Columns>,
}

/// One histogram.
#[derive(Debug, Default)]
struct Columns {
    /// First interval and length of each gap; gaps neither touch nor overlap.
    gaps: Vec<(u64, u64)>,
    known_count: usize,
    /// Planes by bucket; empty for unused buckets.
    buckets: Vec<Planes>,
}

/// Values of one bucket: plane p contains byte p of each value, least significant first.
type Planes = Vec<Vec<u8>>;

impl Chunk {
    /// Return the number of intervals.
    pub fn intervals(&self) -> u64 {
        self.intervals
    }

    /// Return the approximate size in bytes.
    pub fn bytes_count(&self) -> usize {
        self.bytes_count
    }

    /// Add an interval; `None` is a histogram with unknown counts.
    pub fn take(&mut self, grown: &[Option<Counts>]) {
        while self.histograms.len() < grown.len() {
            let mut columns = Columns::default();
            columns.add_gap(0, self.intervals);
            self.histograms.push(columns);
        }
        for (columns, grown) in self.histograms.iter_mut().zip(grown) {
            match grown {
                Some(counts) => self.bytes_count += columns.take(counts.trimmed()),
                None => {
                    columns.add_gap(self.intervals, 1);
                    self.bytes_count += size_of::<(u64, u64)>();
                }
            }
        }
        self.intervals += 1;
    }

    /// Add intervals without known counts.
    pub fn add_gap(&mut self, count: u64) {
        for columns in &mut self.histograms {
            columns.add_gap(self.intervals, count);
        }
        self.intervals += count;
    }

    /// Write the chunk as docs/reference/formats.md describes, "The series of a run".
    pub fn write(&self, target: &mut Vec<u8>) {
        number(target, self.intervals);
        number(target, self.histograms.len() as u64);
        for columns in &self.histograms {
            columns.write(target);
        }
    }
}

impl Columns {
    fn add_gap(&mut self, first: u64, count: u64) {
        if count == 0 {
            return;
        }
        match self.gaps.last_mut() {
            Some((begin, length)) if *begin + *length == first => *length += count,
            _ => self.gaps.push((first, count)),
        }
    }

    /// Add an interval, and return its size in bytes.
    fn take(&mut self, counts: &[u64]) -> usize {
        if self.buckets.len() < counts.len() {
            self.buckets.resize_with(counts.len(), Vec::new);
        }
        let values = counts.iter().chain(std::iter::repeat(&0));
        let values = self.buckets.iter_mut().zip(values);
        let bytes_count = values
            .map(|(planes, &value)| push(planes, value, self.known_count))
            .sum();
        self.known_count += 1;
        bytes_count
    }

    fn write(&self, target: &mut Vec<u8>) {
        number(target, self.gaps.len() as u64);
        for &(first, length) in &self.gaps {
            number(target, first);
            number(target, length);
        }
        let buckets = self.buckets.iter().enumerate();
        let used = buckets.filter(|(_, planes)| !planes.is_empty());
        number(target, used.clone().count() as u64);
        for (bucket, planes) in used {
            number(target, bucket as u64);
            number(target, planes.len() as u64);
            planes.iter().for_each(|plane| target.extend_from_slice(plane));
        }
    }
}

/// Add a value after `known_count` others, and return its size in bytes.
fn push(planes: &mut Planes, value: u64, known_count: usize) -> usize {
    let width = (u64::BITS - value.leading_zeros()).div_ceil(8) as usize;
    let had = planes.len();
    while planes.len() < width {
        planes.push(vec![0; known_count]);
    }
    for (plane, byte) in planes.iter_mut().zip(value.to_le_bytes()) {
        plane.push(byte);
    }
    planes.len() + (planes.len() - had) * known_count
}

/// Write an unsigned LEB128 number.
fn number(target: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        target.push(value as u8 | 0x80);
        value >>= 7;
    }
    target.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(pairs: &[(usize, u64)]) -> Option<Counts> {
        let mut counts = Counts::default();
        pairs
            .iter()
            .for_each(|&(bucket, count)| counts.set(bucket, count));
        Some(counts)
    }

    fn written(chunk: &Chunk) -> Vec<u8> {
        let mut bytes = Vec::new();
        chunk.write(&mut bytes);
        bytes
    }

    #[test]
    fn the_example_of_the_documentation_is_written_so() {
        let mut chunk = Chunk::default();
        chunk.take(&[counts(&[(1, 260)])]);
        chunk.add_gap(1);
        chunk.take(&[counts(&[(1, 3)])]);
        let expected = [3, 1, 1, 1, 1, 1, 1, 2, 4, 3, 1, 0];
        assert_eq!(written(&chunk), expected);
    }

    #[test]
    fn a_histogram_that_appears_late_has_a_gap_before() {
        let mut chunk = Chunk::default();
        chunk.take(&[counts(&[(0, 7)])]);
        chunk.take(&[counts(&[]), counts(&[(64, 1)])]);
        let expected = [2, 2, 0, 1, 0, 1, 7, 0, 1, 0, 1, 1, 64, 1, 1];
        assert_eq!(written(&chunk), expected);
    }

    #[test]
    fn gaps_that_touch_are_one() {
        let mut chunk = Chunk::default();
        chunk.take(&[None]);
        chunk.add_gap(300);
        chunk.take(&[None]);
        assert_eq!(written(&chunk), [0xAE, 2, 1, 1, 0, 0xAE, 2, 0]);
    }

    #[test]
    fn a_value_takes_as_many_planes_as_its_bytes() {
        for (value, width) in [(255, 1), (256, 2), (65_535, 2), (65_536, 3), (u64::MAX, 8)] {
            let mut planes = Planes::new();
            assert_eq!(push(&mut planes, value, 0), width, "{value}");
            let bytes: Vec<u8> = planes.concat();
            assert_eq!(bytes, value.to_le_bytes()[..width]);
        }
    }
}
