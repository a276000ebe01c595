//! Aligned memory for direct I/O.

/// Direct I/O requires memory that is aligned to the device's block size; ACT's largest is 4096.
const ALIGNMENT_BYTES: usize = 4096;

/// A buffer that is aligned to 4096 bytes.
#[derive(Debug)]
pub struct Buffer {
    memory: Vec<u8>,
    offset: usize,
    size: usize,
}

impl Buffer {
    /// Creates a buffer of zeros.
    pub fn new(size: usize) -> Self {
        let memory = vec![0; size + ALIGNMENT_BYTES];
        let offset = memory.as_ptr().align_offset(ALIGNMENT_BYTES);
        Self { memory, offset, size }
    }

    /// Returns the bytes.
    pub fn bytes(&mut self) -> &mut [u8] {
        &mut self.memory[self.offset..self.offset + self.size]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_aligned_for_direct_io() {
        for size in [512, 1_536, 131_072] {
            let mut buffer = Buffer::new(size);
            assert_eq!(buffer.bytes().as_ptr() as usize % ALIGNMENT_BYTES, 0);
            assert_eq!(buffer.bytes().len(), size);
        }
    }
}
