//! The memory of one ring: one piece, so that the kernel is told of it once and pins it once.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// Direct I/O wants memory on the device's block boundary; ACT's largest is 4096.
pub(super) const ALIGNMENT_BYTES: usize = 4_096;

/// Memory that both this process and the kernel write to: no reference to it outlives a call.
#[derive(Debug)]
pub(super) struct Arena {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the memory belongs to the arena alone, wherever that is moved to.
unsafe impl Send for Arena {}

impl Arena {
    /// Zeros; `size` is more than 0 and, rounded up to 4096, at most isize::MAX.
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

    /// For the kernel; must lie inside.
    pub(super) fn address(&self, offset: usize) -> *mut u8 {
        assert!(offset <= self.size(), "outside of the arena");
        // SAFETY: within the allocation, or just past its end, by the line above.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// The bytes from `offset` on.
    ///
    /// # Safety
    /// No request that the kernel still works on may use these bytes.
    pub(super) unsafe fn bytes(&mut self, offset: usize, size: usize) -> &mut [u8] {
        assert!(offset + size <= self.size(), "outside of the arena");
        // SAFETY: inside the allocation by the line above, initialised by alloc_zeroed, borrowed from `self` alone;
        // that the kernel does not write to it is the caller's word.
        unsafe { std::slice::from_raw_parts_mut(self.address(offset), size) }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout; the worker drops no arena while requests are out.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_begins_where_direct_io_wants_it() {
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
    fn nothing_outside_is_given_away() {
        Arena::new(512).unwrap().address(513);
    }
}
