//! An allocator that counts, for tests of what should take no memory.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, which counts how often it is asked for memory.
///
/// ```
/// use pairity_testing::CountingAllocator;
///
/// #[global_allocator]
/// static MEMORY: CountingAllocator = CountingAllocator::new();
///
/// let before = MEMORY.count();
/// drop(std::hint::black_box(vec![0u8; 100]));
/// assert!(MEMORY.count() > before);
/// ```
pub struct CountingAllocator {
    asked: AtomicUsize,
}

impl CountingAllocator {
    /// Nothing counted yet.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> CountingAllocator {
        CountingAllocator { asked: AtomicUsize::new(0) }
    }

    /// How often it was asked so far, on all threads.
    pub fn count(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

// SAFETY: everything is handed on to the system's allocator as it comes.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.asked.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.asked.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        self.asked.fetch_add(1, Ordering::Relaxed);
        unsafe { System.realloc(at, layout, size) }
    }
}
