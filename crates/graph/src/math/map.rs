//! Runs a vector function over a slice.

use pulp::Simd;

/// Writes `f` of every element of `x` to `out`; the last, incomplete register is loaded and stored
/// in part.
///
/// Pass `f` as a closure marked `#[inline(always)]`, also where it only names a function: a plain one
/// may stay a call, compiled without the vector instructions and fifty times slower.
///
/// Panics if the lengths differ.
#[inline(always)]
pub fn map<S: Simd>(simd: S, x: &[f64], out: &mut [f64], f: impl Fn(S, S::f64s) -> S::f64s + Copy) {
    assert_eq!(x.len(), out.len(), "map: as many results as arguments");
    let (x_head, x_tail) = S::as_simd_f64s(x);
    let (out_head, out_tail) = S::as_mut_simd_f64s(out);
    // Two registers per turn share the constants that `f` loads.
    let (x_pairs, x_last) = x_head.as_chunks::<2>();
    let (out_pairs, out_last) = out_head.as_chunks_mut::<2>();
    for (out, x) in out_pairs.iter_mut().zip(x_pairs) {
        *out = [f(simd, x[0]), f(simd, x[1])];
    }
    for (out, x) in out_last.iter_mut().zip(x_last) {
        *out = f(simd, *x);
    }
    if !x_tail.is_empty() {
        let tail = f(simd, simd.partial_load_f64s(x_tail));
        simd.partial_store_f64s(out_tail, tail);
    }
}

#[cfg(test)]
mod tests {
    use super::map;
    use crate::level::SimdLevel;
    use pulp::{Simd, WithSimd};

    struct Twice<'a>(&'a [f64], &'a mut [f64]);

    impl WithSimd for Twice<'_> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            map(simd, self.0, self.1, |simd, x| simd.add_f64s(x, x));
        }
    }

    #[test]
    fn every_length_is_covered_to_its_last_element() {
        for length in 0..40_i32 {
            let x: Vec<f64> = (0..length).map(f64::from).collect();
            let expected: Vec<f64> = x.iter().map(|x| 2.0 * x).collect();
            for arch in SimdLevel::all().into_iter().filter_map(SimdLevel::arch) {
                let mut out = vec![f64::NAN; x.len()];
                arch.dispatch(Twice(&x, &mut out));
                assert_eq!(out, expected);
            }
        }
    }

    #[test]
    #[should_panic(expected = "as many results as arguments")]
    fn unequal_lengths_are_refused() {
        SimdLevel::arch_of_process().dispatch(Twice(&[1.0], &mut []));
    }
}
