//! The memory of a ring, in one piece that is registered and pinned once.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// Direct I/O requires memory that is aligned to the device's block size; ACT's largest is 4096.
pub(super) const ALIGNMENT_BYTES: usize = 4_096;

/// Memory that this process and the kernel write to. No reference to it outlives a call.
#[derive(Debug)]
pub(super) struct Arena {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the arena owns its memory, wherever the arena is moved.
unsafe impl Send for Arena {}

impl Arena {
    /// Allocates zeros. `size` is more than 0 and, rounded up to 4096, at most isize::MAX.
    pub(super) fn new(size: usize) -> Option<Self> {
        let layout = Layout::from_size_align(size.max(1), ALIGNMENT_BYTES).ok()?;
        // SAFETY: the layout has at least one byte.
        let start = unsafe { alloc_zeroed(layout) };
        let Some(start) = NonNull::new(start) else {
            handle_alloc_error(layout);
        };
        Some(Self { start, layout })
    }

    pub(super) fn size(&self) -> usize {
        self.layout.size()
    }

    /// Returns an address for the kernel. The offset must be inside.
    pub(super) fn address(&self, offset: usize) -> *mut u8 {
        assert!(offset <= self.size(), "outside of the arena");
        // SAFETY: within the allocation, or just past its end, by the line above.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// Returns the bytes from `offset` on.
    ///
    /// # Safety
    /// No outstanding request may use these bytes.
    pub(super) unsafe fn bytes(&mut self, offset: usize, size: usize) -> &mut [u8] {
        assert!(offset + size <= self.size(), "outside of the arena");
        // SAFETY: inside the allocation by the line above, initialised by alloc_zeroed, borrowed from `self` alone;
        // the caller ensures that the kernel does not write to it.
        unsafe { std::slice::from_raw_parts_mut(self.address(offset), size) }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout; the worker drops no arena with outstanding requests.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_aligned_for_direct_io() {
        let mut arena = Arena::new(8_192).unwrap();
        assert_eq!(
            (arena.address(0) as usize % ALIGNMENT_BYTES, arena.size()),
            (0, 8_192)
        );
        // SAFETY: no request uses it.
        let bytes = unsafe { arena.bytes(4_096, 4_096) };
        assert!(bytes.iter().all(|byte| *byte == 0));
    }

    #[test]
    #[should_panic(expected = "outside of the arena")]
    fn an_offset_outside_the_arena_is_refused() {
        Arena::new(512).unwrap().address(513);
    }
}
