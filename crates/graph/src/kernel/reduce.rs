//! Sums, maxima, inner products and running sums.

use pulp::Simd;

#[cfg(target_arch = "x86_64")]
use super::vector::as_v3;
use super::vector::{load, load_part, store, store_part, width};
use crate::plan::instruction::Write;
use crate::primitive::{Direction, Reduction};

/// Σ xᵢ yᵢ, with four partial sums so that additions overlap.
///
/// # Safety
/// Both must be readable for `n` numbers.
#[inline(always)]
pub(super) unsafe fn dot<S: Simd>(simd: S, x: *const f64, y: *const f64, n: usize) -> f64 {
    let w = width::<S>();
    let mut sums = [simd.splat_f64s(0.0); 4];
    let mut i = 0;
    // SAFETY: every load stays below `n`.
    unsafe {
        while i + 4 * w <= n {
            for (k, sum) in sums.iter_mut().enumerate() {
                let at = i + k * w;
                *sum = simd.mul_add_f64s(load::<S>(x.add(at)), load::<S>(y.add(at)), *sum);
            }
            i += 4 * w;
        }
        while i + w <= n {
            sums[0] = simd.mul_add_f64s(load::<S>(x.add(i)), load::<S>(y.add(i)), sums[0]);
            i += w;
        }
        if i < n {
            let (a, b) = (
                load_part(simd, x.add(i), n - i),
                load_part(simd, y.add(i), n - i),
            );
            sums[1] = simd.mul_add_f64s(a, b, sums[1]);
        }
    }
    total(simd, sums)
}

#[inline(always)]
fn total<S: Simd>(simd: S, sums: [S::f64s; 4]) -> f64 {
    let (a, b) = (
        simd.add_f64s(sums[0], sums[1]),
        simd.add_f64s(sums[2], sums[3]),
    );
    simd.reduce_sum_f64s(simd.add_f64s(a, b))
}

/// The sum of each of four registers.
#[inline(always)]
pub(super) fn totals<S: Simd>(simd: S, sums: [S::f64s; 4]) -> [f64; 4] {
    #[cfg(target_arch = "x86_64")]
    if let Some(totals) = totals_by_pairs(simd, &sums) {
        return totals;
    }
    sums.map(|sum| simd.reduce_sum_f64s(sum))
}

/// Four sums in seven instructions where registers hold four numbers: one by one they would cost
/// as much as the products before them.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn totals_by_pairs<S: Simd>(simd: S, sums: &[S::f64s; 4]) -> Option<[f64; 4]> {
    let (v3, [a, b, c, d]) = as_v3(simd, sums)?;
    // The halves of each are added, then neighbours: the order in which one sum is taken, too.
    let halves = |a, b| {
        let low = v3.avx._mm256_permute2f128_pd::<0x20>(a, b);
        let high = v3.avx._mm256_permute2f128_pd::<0x31>(a, b);
        v3.avx._mm256_add_pd(low, high)
    };
    let all = v3.avx._mm256_hadd_pd(halves(a, c), halves(b, d));
    // SAFETY: four numbers either way.
    Some(unsafe { std::mem::transmute::<std::arch::x86_64::__m256d, [f64; 4]>(all) })
}

/// Σ xᵢ
///
/// # Safety
/// `x` must be readable for `n` numbers.
#[inline(always)]
pub(super) unsafe fn sum<S: Simd>(simd: S, x: *const f64, n: usize) -> f64 {
    let w = width::<S>();
    let mut sums = [simd.splat_f64s(0.0); 4];
    let mut i = 0;
    // SAFETY: every load stays below `n`.
    unsafe {
        while i + 4 * w <= n {
            for (k, sum) in sums.iter_mut().enumerate() {
                *sum = simd.add_f64s(load::<S>(x.add(i + k * w)), *sum);
            }
            i += 4 * w;
        }
        while i + w <= n {
            sums[0] = simd.add_f64s(load::<S>(x.add(i)), sums[0]);
            i += w;
        }
        if i < n {
            sums[1] = simd.add_f64s(load_part(simd, x.add(i), n - i), sums[1]);
        }
    }
    total(simd, sums)
}

/// `y += x`
///
/// # Safety
/// Both must be valid for `n` numbers.
#[inline(always)]
pub(super) unsafe fn add_to<S: Simd>(simd: S, y: *mut f64, x: *const f64, n: usize) {
    let w = width::<S>();
    let mut i = 0;
    // SAFETY: every access stays below `n`.
    unsafe {
        while i + w <= n {
            store::<S>(
                y.add(i),
                simd.add_f64s(load::<S>(y.add(i)), load::<S>(x.add(i))),
            );
            i += w;
        }
        if i < n {
            let (a, b) = (
                load_part(simd, y.add(i), n - i),
                load_part(simd, x.add(i), n - i),
            );
            store_part(simd, y.add(i), n - i, simd.add_f64s(a, b));
        }
    }
}

/// The larger, NaN if either is.
fn larger(a: f64, b: f64) -> f64 {
    if a > b || a.is_nan() { a } else { b }
}

/// How a block is reduced.
#[derive(Clone, Copy)]
pub(super) struct Block {
    pub(super) by: Reduction,
    pub(super) outer: usize,
    pub(super) length: usize,
    pub(super) inner: usize,
    pub(super) write: Write,
}

/// `[outer][length][inner] → [outer][inner]`
///
/// # Safety
/// `x` must be readable and `out` writable for the block.
#[inline(always)]
pub(super) unsafe fn reduce<S: Simd>(simd: S, out: *mut f64, x: *const f64, block: Block) {
    let Block {
        by,
        outer,
        length,
        inner,
        write,
    } = block;
    for o in 0..outer {
        // SAFETY: within the block.
        let (to, from) = unsafe { (out.add(o * inner), x.add(o * length * inner)) };
        // SAFETY: within the block.
        unsafe {
            if write == Write::Replace {
                std::slice::from_raw_parts_mut(to, inner).fill(by.start());
            }
            match (by, inner) {
                (Reduction::Sum, 1) => *to += sum(simd, from, length),
                (Reduction::Sum, _) => {
                    for j in 0..length {
                        add_to(simd, to, from.add(j * inner), inner);
                    }
                }
                (Reduction::Max, _) => {
                    for j in 0..length * inner {
                        let best = to.add(j % inner);
                        *best = larger(*from.add(j), *best);
                    }
                }
            }
        }
    }
}

/// `out = Σ` of `count` parts that lie `step` apart.
///
/// # Safety
/// All parts must be readable for `size` numbers and `out` writable.
#[inline(always)]
pub(super) unsafe fn sum_parts<S: Simd>(
    simd: S,
    [out, part]: [*mut f64; 2],
    size: usize,
    (count, step): (usize, usize),
) {
    let w = width::<S>();
    let mut i = 0;
    // SAFETY: every access stays below `size` of its part.
    unsafe {
        while i + w <= size {
            let mut sum = load::<S>(part.add(i));
            for k in 1..count {
                sum = simd.add_f64s(sum, load::<S>(part.add(k * step + i)));
            }
            store::<S>(out.add(i), sum);
            i += w;
        }
        for i in i..size {
            let mut sum = *part.add(i);
            for k in 1..count {
                sum += *part.add(k * step + i);
            }
            *out.add(i) = sum;
        }
    }
}

/// Joins the totals of two strips.
///
/// # Safety
/// Both must be valid for `n` numbers.
#[inline(always)]
pub(super) unsafe fn join<S: Simd>(
    simd: S,
    by: Reduction,
    to: *mut f64,
    from: *const f64,
    n: usize,
) {
    // SAFETY: forwarded.
    unsafe {
        match by {
            Reduction::Sum => add_to(simd, to, from, n),
            Reduction::Max => {
                for i in 0..n {
                    *to.add(i) = larger(*from.add(i), *to.add(i));
                }
            }
        }
    }
}

/// Running sums of `count` stretches of `length` numbers.
///
/// # Safety
/// Both must be valid for `count · length` numbers.
pub(super) unsafe fn cumulative(
    direction: Direction,
    out: *mut f64,
    x: *const f64,
    (count, length): (usize, usize),
) {
    for stretch in 0..count {
        let mut sum = 0.0;
        for j in 0..length {
            let j = match direction {
                Direction::Forward => j,
                Direction::Backward => length - 1 - j,
            };
            let at = stretch * length + j;
            // SAFETY: within the block.
            unsafe {
                sum += *x.add(at);
                *out.add(at) = sum;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pulp::{Arch, WithSimd};

    struct Both;

    impl WithSimd for Both {
        type Output = ([f64; 4], [f64; 4]);

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
            let start: Vec<f64> = (0..4 * width::<S>())
                .map(|k| 1.0 / (k + 1) as f64)
                .collect();
            // SAFETY: there are four registers of numbers.
            let sums =
                std::array::from_fn(|r| unsafe { load::<S>(start.as_ptr().add(r * width::<S>())) });
            (
                totals(simd, sums),
                sums.map(|sum| simd.reduce_sum_f64s(sum)),
            )
        }
    }

    #[test]
    fn four_sums_at_a_time_are_each_the_sum_of_its_register() {
        let (together, apart) = Arch::new().dispatch(Both);
        assert_eq!(together, apart);
    }
}
