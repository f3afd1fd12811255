//! Loads and stores of whole and partial registers.

use pulp::{MemMask, Simd};

/// Numbers per register.
#[inline(always)]
pub(super) fn lane_width<S: Simd>() -> usize {
    S::F64_LANES
}

/// Where number `j` of line `i` stands if lines start `step` numbers apart. Innermost loops count
/// places this way: the planner has counted every array (`MAX_SIZE`), so nothing overflows, and a
/// check for each number would cost as much as the arithmetic.
#[inline(always)]
pub(super) fn line_place(i: usize, step: usize, j: usize) -> usize {
    i.wrapping_mul(step).wrapping_add(j)
}

/// # Safety
/// `from` must be readable for a whole register.
#[inline(always)]
pub(super) unsafe fn load_lanes<S: Simd>(from: *const f64) -> S::f64s {
    // SAFETY: by the caller; registers of numbers have no invalid bit patterns.
    unsafe { from.cast::<S::f64s>().read_unaligned() }
}

/// # Safety
/// `to` must be writable for a whole register.
#[inline(always)]
pub(super) unsafe fn store_lanes<S: Simd>(to: *mut f64, value: S::f64s) {
    // SAFETY: by the caller.
    unsafe { to.cast::<S::f64s>().write_unaligned(value) }
}

/// The transpose of four registers of four numbers.
///
/// # Panics
/// Where registers hold other than four.
#[inline(always)]
pub(super) fn transpose_square<S: Simd>(simd: S, rows: [S::f64s; 4]) -> [S::f64s; 4] {
    assert_eq!(lane_width::<S>(), 4, "a square of registers");
    #[cfg(target_arch = "x86_64")]
    if let Some((v3, [a, b, c, d])) = as_v3(simd, &rows) {
        let (even, odd) = (
            |x, y| v3.avx._mm256_unpacklo_pd(x, y),
            |x, y| v3.avx._mm256_unpackhi_pd(x, y),
        );
        let (ab, cd) = ([even(a, b), odd(a, b)], [even(c, d), odd(c, d)]);
        let columns = [
            v3.avx._mm256_permute2f128_pd::<0x20>(ab[0], cd[0]),
            v3.avx._mm256_permute2f128_pd::<0x20>(ab[1], cd[1]),
            v3.avx._mm256_permute2f128_pd::<0x31>(ab[0], cd[0]),
            v3.avx._mm256_permute2f128_pd::<0x31>(ab[1], cd[1]),
        ];
        // SAFETY: the types are the same.
        return unsafe { std::mem::transmute_copy(&columns) };
    }
    let number = |i: usize, j: usize| {
        // SAFETY: four registers of four numbers.
        unsafe { *(&raw const rows).cast::<f64>().add(4 * i + j) }
    };
    let columns: [[f64; 4]; 4] = std::array::from_fn(|j| std::array::from_fn(|i| number(i, j)));
    // SAFETY: sixteen numbers either way.
    unsafe { std::mem::transmute_copy(&columns) }
}

/// Four registers as those of AVX2, if they are such: pulp has no name for instructions that move
/// numbers between them.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn as_v3<S: Simd>(
    simd: S,
    registers: &[S::f64s; 4],
) -> Option<(pulp::x86::V3, [std::arch::x86_64::__m256d; 4])> {
    if !is_same::<S, pulp::x86::V3>() {
        return None;
    }
    // SAFETY: the types are the same.
    unsafe {
        Some((
            std::mem::transmute_copy(&simd),
            std::mem::transmute_copy(registers),
        ))
    }
}

/// Four registers as those of AVX-512, if they are such.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn as_v4<S: Simd>(
    simd: S,
    registers: &[S::f64s; 4],
) -> Option<(pulp::x86::V4, [std::arch::x86_64::__m512d; 4])> {
    if !is_same::<S, pulp::x86::V4>() {
        return None;
    }
    // SAFETY: the types are the same.
    unsafe {
        Some((
            std::mem::transmute_copy(&simd),
            std::mem::transmute_copy(registers),
        ))
    }
}

/// The instruction set with registers of four numbers, if the present ones hold eight: for arrays
/// too short for eight.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn halved<S: Simd>(simd: S) -> Option<pulp::x86::V3> {
    if !is_same::<S, pulp::x86::V4>() {
        return None;
    }
    // SAFETY: the types are the same.
    let v4: pulp::x86::V4 = unsafe { std::mem::transmute_copy(&simd) };
    Some(*v4)
}

/// No other machine has registers of both widths.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(super) fn halved<S: Simd>(_: S) -> Option<pulp::Scalar> {
    None
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn is_same<A: 'static, B: 'static>() -> bool {
    std::any::TypeId::of::<A>() == std::any::TypeId::of::<B>()
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

/// The first `count` numbers of a register, for repeated loads.
///
/// A load by a bare mask is one instruction. The mask that pulp makes for both loads and stores
/// calls a function each time.
#[inline(always)]
pub(super) fn partial_lanes<S: Simd>(simd: S, count: usize) -> Part<S> {
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
    unsafe { load_in(simd, partial_lanes(simd, count), from) }
}

/// # Safety
/// `to` must be writable for `count` numbers.
#[inline(always)]
pub(super) unsafe fn store_part<S: Simd>(simd: S, to: *mut f64, count: usize, value: S::f64s) {
    // SAFETY: by the caller.
    unsafe {
        // A store by a bare mask is one instruction of AVX-512, but slow on AVX2.
        if lane_width::<S>() == 8 {
            simd.mask_store_ptr_f64s(partial_lanes(simd, count), to, value);
        } else {
            simd.partial_store_f64s(std::slice::from_raw_parts_mut(to, count), value);
        }
    }
}
