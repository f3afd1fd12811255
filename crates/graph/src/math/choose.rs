//! One of two numbers, by a mask.

use pulp::Simd;
use pulp::bytemuck::cast;

/// The first of two where the mask is set, else the second. pulp's own `select_f64s` may stay a
/// call that is compiled without vector instructions, and would then dominate a loop.
#[inline(always)]
pub(crate) fn choose_lanes<S: Simd>(simd: S, mask: S::m64s, yes: S::f64s, no: S::f64s) -> S::f64s {
    cast(simd.select_u64s(mask, cast(yes), cast(no)))
}
