//! A prefetch hint: memory that will be read soon.

/// Bytes of a cache line.
const LINE: usize = 64;

/// Prefetches the memory of `values`. It is a hint and changes no result.
#[inline]
pub fn prefetch_values<T>(values: &[T]) {
    let start = values.as_ptr().cast::<i8>();
    let bytes = size_of_val(values);
    prefetch_lines(start, bytes);
    // The slice need not start with a cache line, so its end may lie in one more.
    prefetch_line(start.wrapping_add(bytes.saturating_sub(1)));
}

/// Prefetches `count` numbers, which need not exist.
#[inline(always)]
pub(super) fn ask_for(from: *const f64, count: usize) {
    prefetch_lines(from.cast(), 8 * count);
}

#[inline(always)]
fn prefetch_lines(start: *const i8, bytes: usize) {
    for offset in (0..bytes).step_by(LINE) {
        prefetch_line(start.wrapping_add(offset));
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn prefetch_line(at: *const i8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch never faults, whatever the address, and returns no value.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at) };
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn prefetch_line(_: *const i8) {}
