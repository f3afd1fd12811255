//! Statistics of long columns, several numbers at a time: sums, ranges, counts and exceptions.
//!
//! There are eight lanes on every processor, so that sums have the same bits on every machine.
#![expect(
    clippy::inline_always,
    reason = "what is not inlined into the dispatched function is compiled without its instructions"
)]

use std::marker::PhantomData;

use pulp::{Arch, Simd, WithSimd};
use serde::{Deserialize, Serialize};

/// Numbers processed side by side.
pub const LANES: usize = 8;
/// Numbers searched together before the search checks for a hit.
const SPAN: usize = 256;

/// The mean of every lane, and the sum of squared deviations from it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct LaneMoments {
    /// The means.
    pub means: [f64; LANES],
    /// The sums of squares.
    pub squares: [f64; LANES],
}

/// Values that are searched for together.
pub const MARKS: usize = 9;

/// Numbers that fit the processor's first-level cache, for several passes over them.
pub const CHUNK: usize = 1024;

/// A function whose body is compiled once for every instruction set; the best available one is
/// chosen at run time.
macro_rules! dispatched {
    ($(#[$about:meta])* $see:vis fn $name:ident($($own:ident: $kind:ty),*) -> $result:ty $body:block) => {
        $(#[$about])*
        $see fn $name<'a>($($own: $kind),*) -> $result {
            struct ColumnKernel<'a>($($kind,)* PhantomData<&'a ()>);
            impl<'a> WithSimd for ColumnKernel<'a> {
                type Output = $result;

                #[inline(always)]
                fn with_simd<S: Simd>(self, _: S) -> $result {
                    let ColumnKernel($($own,)* _) = self;
                    $body
                }
            }
            Arch::new().dispatch(ColumnKernel($($own,)* PhantomData))
        }
    };
}

dispatched! {
    /// Lanes of means and sums of squared deviations, each over `seen` numbers, updated with more
    /// numbers (Welford 1962).
    pub fn taken_in(lanes: LaneMoments, seen: u64, blocks: &'a [[f64; LANES]]) -> LaneMoments {
        let LaneMoments { mut means, mut squares } = lanes;
        for (number, block) in (seen + 1..).zip(blocks) {
            // The division serves all lanes and depends on none of them.
            let share = 1.0 / number as f64;
            for k in 0..LANES {
                let before = block[k] - means[k];
                means[k] += before * share;
                squares[k] += before * (block[k] - means[k]);
            }
        }
        LaneMoments { means, squares }
    }
}

dispatched! {
    /// The smallest and the largest number, none of which is NaN; ∞ and −∞ without numbers.
    pub fn range(values: &'a [f64]) -> [f64; 2] {
        range_where(values, values, |_| true)
    }
}

dispatched! {
    /// The ranges of the values with a mark of 0, and with another mark.
    pub fn ranges_by(values: &'a [f64], marks: &'a [f64]) -> [[f64; 2]; 2] {
        let none = range_where(values, marks, |mark| mark == 0.0);
        [none, range_where(values, marks, |mark| mark != 0.0)]
    }
}

dispatched! {
    /// Whether all are finite.
    pub fn is_finite(values: &'a [f64]) -> bool {
        // x · 0 is NaN for an infinity or NaN.
        sum_of(values, |value| value * 0.0) == 0.0
    }
}

dispatched! {
    /// How many are equal to this one.
    pub fn count(values: &'a [f64], one: f64) -> u64 {
        count_of(values, |value| value == one)
    }
}

dispatched! {
    /// How many are NaN.
    pub fn count_missing(values: &'a [f64]) -> u64 {
        count_of(values, f64::is_nan)
    }
}

dispatched! {
    fn count_others(values: &'a [f64], known: [f64; 2]) -> u64 {
        count_of(values, |value| value != known[0] && value != known[1])
    }
}

dispatched! {
    fn count_any(values: &'a [f64], wanted: &'a [f64; MARKS]) -> u64 {
        // All are compared, because an early exit would be a branch.
        let hits = |value: f64| wanted.iter().map(|one| u8::from(*one == value)).sum::<u8>();
        count_of(values, |value| hits(value) > 0)
    }
}

/// Whether any value is among the others.
pub fn holds_any(values: &[f64], others: &[f64; MARKS]) -> bool {
    let mut spans = values.chunks(SPAN);
    spans.any(|span| count_any(span, others) > 0)
}

/// The place of the first value that is neither of the two.
pub fn first_other(values: &[f64], known: [f64; 2]) -> Option<usize> {
    let mut spans = values.chunks(SPAN);
    let span = spans.position(|span| count_others(span, known) > 0)? * SPAN;
    let mut rest = values[span..].iter();
    let place = rest.position(|value| *value != known[0] && *value != known[1]);
    place.map(|place| span + place)
}

#[inline(always)]
fn sum_of(values: &[f64], of: impl Fn(f64) -> f64) -> f64 {
    let mut lanes = [0.0; LANES];
    let (blocks, rest) = values.as_chunks::<LANES>();
    for block in blocks {
        for (lane, value) in lanes.iter_mut().zip(block) {
            *lane += of(*value);
        }
    }
    for (lane, value) in lanes.iter_mut().zip(rest) {
        *lane += of(*value);
    }
    lanes.iter().sum()
}

/// The range of the values whose mark satisfies the condition.
#[inline(always)]
fn range_where(values: &[f64], marks: &[f64], is_such: impl Fn(f64) -> bool) -> [f64; 2] {
    let (mut low, mut high) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
    let (blocks, rest) = values.as_chunks::<LANES>();
    let (marked, marked_rest) = marks.as_chunks::<LANES>();
    for (block, marks) in blocks.iter().zip(marked) {
        for k in 0..LANES {
            let such = is_such(marks[k]);
            let least = if such { block[k] } else { f64::INFINITY };
            let most = if such { block[k] } else { f64::NEG_INFINITY };
            low[k] = if least < low[k] { least } else { low[k] };
            high[k] = if most > high[k] { most } else { high[k] };
        }
    }
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for (value, _) in (rest.iter().zip(marked_rest)).filter(|(_, mark)| is_such(**mark)) {
        (least, most) = (least.min(*value), most.max(*value));
    }
    let least = low.into_iter().fold(least, f64::min);
    [least, high.into_iter().fold(most, f64::max)]
}

/// How many values satisfy the condition.
#[inline(always)]
fn count_of(span: &[f64], is_such: impl Fn(f64) -> bool) -> u64 {
    let mut lanes = [0; LANES];
    let (blocks, rest) = span.as_chunks::<LANES>();
    for block in blocks {
        for (lane, value) in lanes.iter_mut().zip(block) {
            *lane += u64::from(is_such(*value));
        }
    }
    let rest = rest.iter().filter(|value| is_such(**value)).count();
    lanes.iter().sum::<u64>() + rest as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers without a pattern.
    fn wave(count: u32, centre: f64) -> Vec<f64> {
        let one = |k: u32| centre + (f64::from(k) * 0.7).sin() + 0.1 * f64::from(k % 13);
        (0..count).map(one).collect()
    }

    #[test]
    fn ranges_are_those_of_a_loop_with_and_without_marks() {
        let mut values = wave(1003, -2.0);
        // The last numbers, which do not fill a block, count, too.
        (values[1001], values[1002]) = (50.0, -50.0);
        let marks: Vec<f64> = (0..1003).map(|k| f64::from(k % 3)).collect();
        let loops = |wanted: &dyn Fn(f64) -> bool| {
            let mut range = [f64::INFINITY, f64::NEG_INFINITY];
            for (value, _) in values.iter().zip(&marks).filter(|(_, mark)| wanted(**mark)) {
                range = [range[0].min(*value), range[1].max(*value)];
            }
            range
        };
        assert_eq!(range(&values), loops(&|_| true));
        let expected = [loops(&|mark| mark == 0.0), loops(&|mark| mark != 0.0)];
        assert_eq!(ranges_by(&values, &marks), expected);
        assert_eq!(range(&[]), [f64::INFINITY, f64::NEG_INFINITY]);
    }

    #[test]
    fn odd_ones_are_found_wherever_they_are() {
        for place in [0, 7, 255, 256, 700, 999] {
            let mut values: Vec<f64> = (0..1000).map(|k| f64::from(k % 2)).collect();
            assert_eq!(first_other(&values, [0.0, 1.0]), None);
            let mut wanted = [f64::NAN; MARKS];
            (wanted[0], wanted[5]) = (-99.0, 999.0);
            assert!(is_finite(&values) && !holds_any(&values, &wanted));
            values[place] = 999.0;
            assert_eq!(first_other(&values, [1.0, 0.0]), Some(place));
            assert!(holds_any(&values, &wanted));
            assert_eq!(count(&values, 999.0), 1);
            for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                values[place] = odd;
                assert!(!is_finite(&values));
                assert_eq!(count_missing(&values), u64::from(odd.is_nan()));
            }
        }
    }
}
