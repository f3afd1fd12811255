//! Sums, maxima, inner products and running sums.

use pulp::Simd;

#[cfg(target_arch = "x86_64")]
use super::vector::{as_v3, as_v4};
use super::vector::{lane_width, line_place, load_lanes, load_part, store_lanes, store_part};
use crate::instruction::Write;
use crate::math::choose_lanes;
use crate::primitive::{Direction, Reduction};

/// Σ xᵢ yᵢ, with four partial sums so that additions overlap.
///
/// # Safety
/// Both must be readable for `n` numbers.
#[inline(always)]
pub(super) unsafe fn dot_product<S: Simd>(simd: S, x: *const f64, y: *const f64, n: usize) -> f64 {
    let w = lane_width::<S>();
    let mut sums = [simd.splat_f64s(0.0); 4];
    let mut i = 0;
    // SAFETY: every load stays below `n`.
    unsafe {
        while i + 4 * w <= n {
            for (k, sum) in sums.iter_mut().enumerate() {
                let at = i + k * w;
                *sum =
                    simd.mul_add_f64s(load_lanes::<S>(x.add(at)), load_lanes::<S>(y.add(at)), *sum);
            }
            i += 4 * w;
        }
        while i + w <= n {
            sums[0] = simd.mul_add_f64s(
                load_lanes::<S>(x.add(i)),
                load_lanes::<S>(y.add(i)),
                sums[0],
            );
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
    sum_lanes(simd, sums)
}

#[inline(always)]
fn sum_lanes<S: Simd>(simd: S, sums: [S::f64s; 4]) -> f64 {
    let (a, b) = (
        simd.add_f64s(sums[0], sums[1]),
        simd.add_f64s(sums[2], sums[3]),
    );
    simd.reduce_sum_f64s(simd.add_f64s(a, b))
}

/// The sum of each of four registers.
#[inline(always)]
pub(super) fn sum_four_lanes<S: Simd>(simd: S, sums: [S::f64s; 4]) -> [f64; 4] {
    #[cfg(target_arch = "x86_64")]
    if let Some(totals) = totals_by_pairs(simd, &sums) {
        return totals;
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(totals) = totals_by_quarters(simd, &sums) {
        return totals;
    }
    sums.map(|sum| simd.reduce_sum_f64s(sum))
}

/// Four sums in seven instructions, if registers hold four numbers. One by one they would cost as
/// much as the products before them.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn totals_by_pairs<S: Simd>(simd: S, sums: &[S::f64s; 4]) -> Option<[f64; 4]> {
    let (v3, [a, b, c, d]) = as_v3(simd, sums)?;
    // The halves of each are added, then neighbours: the same order as in a single sum.
    let halves = |a, b| {
        let low = v3.avx._mm256_permute2f128_pd::<0x20>(a, b);
        let high = v3.avx._mm256_permute2f128_pd::<0x31>(a, b);
        v3.avx._mm256_add_pd(low, high)
    };
    let all = v3.avx._mm256_hadd_pd(halves(a, c), halves(b, d));
    // SAFETY: four numbers either way.
    Some(unsafe { std::mem::transmute::<std::arch::x86_64::__m256d, [f64; 4]>(all) })
}

/// As [`totals_by_pairs`] for registers of eight numbers, in the same order as in a single sum
/// there.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn totals_by_quarters<S: Simd>(simd: S, sums: &[S::f64s; 4]) -> Option<[f64; 4]> {
    let (v4, [a, b, c, d]) = as_v4(simd, sums)?;
    let set = v4.avx512f;
    // Written out, because a closure stayed a call and a product with one column took four times as
    // long.
    let ac = set._mm512_add_pd(
        set._mm512_shuffle_f64x2::<0x44>(a, c),
        set._mm512_shuffle_f64x2::<0xee>(a, c),
    );
    let bd = set._mm512_add_pd(
        set._mm512_shuffle_f64x2::<0x44>(b, d),
        set._mm512_shuffle_f64x2::<0xee>(b, d),
    );
    let low = set._mm512_shuffle_f64x2::<0x88>(ac, bd);
    let high = set._mm512_shuffle_f64x2::<0xdd>(ac, bd);
    let quarters = set._mm512_add_pd(low, high);
    let all = v4.avx._mm256_hadd_pd(
        set._mm512_castpd512_pd256(quarters),
        set._mm512_extractf64x4_pd::<1>(quarters),
    );
    // SAFETY: four numbers either way.
    Some(unsafe { std::mem::transmute::<std::arch::x86_64::__m256d, [f64; 4]>(all) })
}

/// Σ xᵢ
///
/// # Safety
/// `x` must be readable for `n` numbers.
#[inline(always)]
pub(super) unsafe fn sum_values<S: Simd>(simd: S, x: *const f64, n: usize) -> f64 {
    let w = lane_width::<S>();
    let mut sums = [simd.splat_f64s(0.0); 4];
    let mut i = 0;
    // SAFETY: every load stays below `n`.
    unsafe {
        while i + 4 * w <= n {
            for (k, sum) in sums.iter_mut().enumerate() {
                *sum = simd.add_f64s(load_lanes::<S>(x.add(i + k * w)), *sum);
            }
            i += 4 * w;
        }
        while i + w <= n {
            sums[0] = simd.add_f64s(load_lanes::<S>(x.add(i)), sums[0]);
            i += w;
        }
        if i < n {
            sums[1] = simd.add_f64s(load_part(simd, x.add(i), n - i), sums[1]);
        }
    }
    sum_lanes(simd, sums)
}

/// `y += x`
///
/// # Safety
/// Both must be valid for `n` numbers.
#[inline(always)]
pub(super) unsafe fn add_to<S: Simd>(simd: S, y: *mut f64, x: *const f64, n: usize) {
    let w = lane_width::<S>();
    let mut i = 0;
    // SAFETY: every access stays below `n`.
    unsafe {
        while i + w <= n {
            store_lanes::<S>(
                y.add(i),
                simd.add_f64s(load_lanes::<S>(y.add(i)), load_lanes::<S>(x.add(i))),
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

/// As [`larger`], number by number.
#[inline(always)]
fn larger_of<S: Simd>(simd: S, a: S::f64s, b: S::f64s) -> S::f64s {
    let known = choose_lanes(simd, simd.equal_f64s(b, b), a, b);
    choose_lanes(simd, simd.less_than_or_equal_f64s(a, b), b, known)
}

/// The largest of some numbers and of `start`.
///
/// # Safety
/// `x` must be readable for `n` numbers.
#[inline(always)]
unsafe fn largest_value<S: Simd>(simd: S, x: *const f64, n: usize, start: f64) -> f64 {
    /// Numbers of the widest register.
    const WIDEST: usize = 8;
    let w = lane_width::<S>();
    let (mut best, mut i) = (start, 0);
    // SAFETY: every load stays below `n`; a register fits into the array.
    unsafe {
        if 2 * w <= n {
            let mut most = [load_lanes::<S>(x), load_lanes::<S>(x.add(w))];
            i = 2 * w;
            while i + 2 * w <= n {
                for (k, most) in most.iter_mut().enumerate() {
                    *most = larger_of(simd, load_lanes::<S>(x.add(i + k * w)), *most);
                }
                i += 2 * w;
            }
            let mut each = [f64::NEG_INFINITY; WIDEST];
            store_lanes::<S>(each.as_mut_ptr(), larger_of(simd, most[0], most[1]));
            best = each[..w]
                .iter()
                .copied()
                .fold(best, |best, x| larger(x, best));
        }
        for i in i..n {
            best = larger(*x.add(i), best);
        }
    }
    best
}

/// `y = max(x, y)`
///
/// # Safety
/// Both must be valid for `n` numbers.
#[inline(always)]
unsafe fn raise_to<S: Simd>(simd: S, y: *mut f64, x: *const f64, n: usize) {
    let w = lane_width::<S>();
    let mut i = 0;
    // SAFETY: every access stays below `n`.
    unsafe {
        while i + w <= n {
            let higher = larger_of(simd, load_lanes::<S>(x.add(i)), load_lanes::<S>(y.add(i)));
            store_lanes::<S>(y.add(i), higher);
            i += w;
        }
        for i in i..n {
            *y.add(i) = larger(*x.add(i), *y.add(i));
        }
    }
}

/// How a block is reduced.
#[derive(Clone, Copy)]
pub(super) struct BlockReduction {
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
pub(super) unsafe fn reduce_block<S: Simd>(
    simd: S,
    out: *mut f64,
    x: *const f64,
    block: BlockReduction,
) {
    let BlockReduction {
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
                std::slice::from_raw_parts_mut(to, inner).fill(by.start_value());
            }
            match (by, inner) {
                (Reduction::Sum, 1) => *to += sum_values(simd, from, length),
                (Reduction::Sum, _) => {
                    for j in 0..length {
                        add_to(simd, to, from.add(j * inner), inner);
                    }
                }
                (Reduction::Max, 1) => *to = largest_value(simd, from, length, *to),
                (Reduction::Max, _) => {
                    for j in 0..length {
                        raise_to(simd, to, from.add(j * inner), inner);
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
    let w = lane_width::<S>();
    let mut i = 0;
    // SAFETY: every access stays below `size` of its part.
    unsafe {
        while i + w <= size {
            let mut sum = load_lanes::<S>(part.add(i));
            for k in 1..count {
                sum = simd.add_f64s(sum, load_lanes::<S>(part.add(line_place(k, step, i))));
            }
            store_lanes::<S>(out.add(i), sum);
            i += w;
        }
        for i in i..size {
            let mut sum = *part.add(i);
            for k in 1..count {
                sum += *part.add(line_place(k, step, i));
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
            Reduction::Max => raise_to(simd, to, from, n),
        }
    }
}

/// Running sums of `count` stretches of `length` numbers.
///
/// # Safety
/// Both must be valid for `count · length` numbers.
pub(super) unsafe fn accumulate_block(
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
    use crate::level::SimdLevel;
    use pulp::WithSimd;

    struct Both;

    impl WithSimd for Both {
        type Output = ([f64; 4], [f64; 4]);

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
            let start: Vec<f64> = (0..4 * lane_width::<S>())
                .map(|k| 1.0 / (k + 1) as f64)
                .collect();
            // SAFETY: there are four registers of numbers.
            let sums = std::array::from_fn(|r| unsafe {
                load_lanes::<S>(start.as_ptr().add(r * lane_width::<S>()))
            });
            (
                sum_four_lanes(simd, sums),
                sums.map(|sum| simd.reduce_sum_f64s(sum)),
            )
        }
    }

    struct Largest<'a>(&'a [f64], usize);

    impl WithSimd for Largest<'_> {
        type Output = Vec<f64>;

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
            let mut found = vec![0.0; self.1];
            let block = BlockReduction {
                by: Reduction::Max,
                outer: 1,
                length: self.0.len() / self.1,
                inner: self.1,
                write: Write::Replace,
            };
            // SAFETY: a block of as many numbers.
            unsafe { reduce_block(simd, found.as_mut_ptr(), self.0.as_ptr(), block) };
            found
        }
    }

    #[test]
    fn maxima_of_any_length_are_those_of_single_numbers_and_keep_nan() {
        for inner in [1, 3, 9] {
            for length in 1..40 {
                let mut x: Vec<f64> = (0..inner * length)
                    .map(|k| (k as f64 * 1.7).sin() - 2.0)
                    .collect();
                for bad in [None, Some(0), Some(inner * length / 2)] {
                    if let Some(place) = bad {
                        x[place] = f64::NAN;
                    }
                    let known = |k: usize| {
                        let own = x.iter().skip(k).step_by(inner);
                        own.fold(f64::NEG_INFINITY, |best, x| larger(*x, best))
                    };
                    let known: Vec<f64> = (0..inner).map(known).collect();
                    let same = |(a, b): (&f64, &f64)| a == b || (a.is_nan() && b.is_nan());
                    for arch in SimdLevel::all().into_iter().filter_map(SimdLevel::arch) {
                        let found = arch.dispatch(Largest(&x, inner));
                        let label = format!("{arch:?} {inner} {length}");
                        assert!(found.iter().zip(&known).all(same), "{label}");
                    }
                }
            }
        }
    }

    #[test]
    fn four_sums_at_a_time_are_each_the_sum_of_its_register() {
        for arch in SimdLevel::all().into_iter().filter_map(SimdLevel::arch) {
            let (together, apart) = arch.dispatch(Both);
            assert_eq!(together, apart, "{arch:?}");
        }
    }
}
