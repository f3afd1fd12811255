//! A choice between two vectors, entry by entry.

use pulp::Simd;

/// `yes` where the mask is set, `no` elsewhere. `Simd::select_f64s` is the same, but is compiled as a
/// function of its own without vector instructions, which a profile shows as `_mm256_blendv_pd`.
#[inline(always)]
pub fn select<S: Simd>(simd: S, mask: S::m64s, yes: S::f64s, no: S::f64s) -> S::f64s {
    let bits = |values| simd.transmute_u64s_f64s(values);
    simd.transmute_f64s_u64s(simd.select_u64s(mask, bits(yes), bits(no)))
}
