//! Loads and stores of whole and partial registers.

use pulp::{MemMask, Simd};

/// Numbers per register.
#[inline(always)]
pub(super) fn width<S: Simd>() -> usize {
    S::F64_LANES
}

/// # Safety
/// `from` must be readable for a whole register.
#[inline(always)]
pub(super) unsafe fn load<S: Simd>(from: *const f64) -> S::f64s {
    // SAFETY: by the caller; registers of numbers have no invalid bit patterns.
    unsafe { from.cast::<S::f64s>().read_unaligned() }
}

/// # Safety
/// `to` must be writable for a whole register.
#[inline(always)]
pub(super) unsafe fn store<S: Simd>(to: *mut f64, value: S::f64s) {
    // SAFETY: by the caller.
    unsafe { to.cast::<S::f64s>().write_unaligned(value) }
}

/// Stores the first number of a register.
///
/// # Safety
/// `to` must be writable for one number.
#[inline(always)]
pub(super) unsafe fn store_first<S: Simd>(to: *mut f64, value: S::f64s) {
    // SAFETY: by the caller; a register holds at least one number.
    unsafe { *to = (&raw const value).cast::<f64>().read() };
}

/// The first numbers of a register.
pub(super) type Part<S> = MemMask<<S as Simd>::m64s>;

/// The first `count` numbers of a register, to load again and again.
///
/// A bare mask is one instruction to load by; the one that pulp makes for loads and stores alike
/// calls a function each time.
#[inline(always)]
pub(super) fn part<S: Simd>(simd: S, count: usize) -> Part<S> {
    MemMask::new(simd.mask_between_m64s(0, count as u64).mask())
}

/// The numbers of a part, zeros elsewhere.
///
/// # Safety
/// `from` must be readable for the numbers of the part.
#[inline(always)]
pub(super) unsafe fn load_in<S: Simd>(simd: S, part: Part<S>, from: *const f64) -> S::f64s {
    // SAFETY: by the caller.
    unsafe { simd.mask_load_ptr_f64s(part, from) }
}

/// The first `count` numbers, zeros after them.
///
/// # Safety
/// `from` must be readable for `count` numbers.
#[inline(always)]
pub(super) unsafe fn load_part<S: Simd>(simd: S, from: *const f64, count: usize) -> S::f64s {
    // SAFETY: by the caller.
    unsafe { load_in(simd, part(simd, count), from) }
}

/// # Safety
/// `to` must be writable for `count` numbers.
#[inline(always)]
pub(super) unsafe fn store_part<S: Simd>(simd: S, to: *mut f64, count: usize, value: S::f64s) {
    // SAFETY: by the caller.
    simd.partial_store_f64s(unsafe { std::slice::from_raw_parts_mut(to, count) }, value);
}
