//! Moves integers into and out of the exponent field of a double.
//!
//! The vector instruction sets offer shifts of 32-bit lanes only. The exponent field lies wholly in
//! the upper word, so a shift of that word by 20 is a shift of the whole number by 52. One lane of
//! the scalar set is a single word and has no upper half; there the 64-bit shift is used.

use pulp::Simd;
use pulp::bytemuck::cast;

/// Exponent bits of a double.
const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
/// Position of the exponent field inside the upper word.
const FIELD: u32 = 20;
/// 1.5·2⁵²: adding it to a number below 2⁵¹ rounds that to an integer.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
/// The bias of the exponent field.
const BIAS: f64 = 1023.0;
const TWO_20: f64 = 1_048_576.0;
const TWO_32: f64 = 4_294_967_296.0;
const TWO_84: f64 = 19_342_813_113_834_066_795_298_816.0;

/// The integer nearest to `x`·`factor`, for a product below 2⁵¹.
#[inline(always)]
pub(super) fn rounded_product<S: Simd>(simd: S, x: S::f64s, factor: f64) -> S::f64s {
    let rounder = simd.splat_f64s(ROUNDER);
    let sum = simd.mul_add_e_f64s(x, simd.splat_f64s(factor), rounder);
    simd.sub_f64s(sum, rounder)
}

/// The origin that makes [`power_of_two`] of n return 2^(n + shift).
pub(super) const fn power_origin(shift: f64) -> f64 {
    ROUNDER + (BIAS + shift) * TWO_32
}

/// 2^(n + shift) for an integer n with −1023 < n + shift < 1024; for any other `n` an unspecified
/// number.
#[inline(always)]
pub(super) fn power_of_two<S: Simd>(simd: S, n: S::f64s, origin: S::f64s) -> S::f64s {
    // The sum's last upper-word bit weighs 2³², so the field sits at the foot of the upper word.
    let sum = simd.mul_add_e_f64s(n, simd.splat_f64s(TWO_32), origin);
    if S::IS_SCALAR {
        let sum: u64 = cast(sum);
        return cast(sum << FIELD);
    }
    cast(simd.wrapping_dyn_shl_u32s(cast(sum), simd.splat_u32s(FIELD)))
}

/// The argument `origin` that makes [`read_exponent`] return the exponent plus `shift`.
pub(super) const fn exponent_origin(shift: f64) -> f64 {
    shift - BIAS - TWO_20
}

/// The exponent field of `bits` less its bias, plus a shift; the sign and the fraction are ignored.
#[inline(always)]
pub(super) fn read_exponent<S: Simd>(simd: S, bits: S::u64s, origin: S::f64s) -> S::f64s {
    let bits = simd.and_u64s(bits, simd.splat_u64s(EXPONENT));
    if S::IS_SCALAR {
        let bits: u64 = cast(bits);
        let field: S::f64s = cast((bits >> 52) as f64 + TWO_20);
        return simd.add_f64s(field, origin);
    }
    // Under the exponent of 2⁸⁴, one at the foot of the upper word weighs 2⁶⁴.
    let upper: S::u64s = cast(simd.wrapping_dyn_shr_u32s(cast(bits), simd.splat_u32s(FIELD)));
    let number = simd.or_f64s(simd.transmute_f64s_u64s(upper), simd.splat_f64s(TWO_84));
    simd.mul_add_e_f64s(number, simd.splat_f64s(TWO_20 / TWO_84), origin)
}
