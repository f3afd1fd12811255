//! Scrambled Sobol points, which fill the unit cube more evenly than independent ones.
//!
//! Directions after Joe & Kuo (2008); nested scrambling by hashing after Laine & Karras (2011), so
//! that every single point is uniform and the points of one seed keep their balance.

use crate::stream::Stream;

/// The most dimensions.
pub const MOST_DIMENSIONS: usize = 16;

const BITS: u32 = 32;

/// Degree, inner coefficients and first directions of the primitive polynomial of each dimension
/// after the first.
const POLYNOMIALS: [(u32, u32, &[u32]); MOST_DIMENSIONS - 1] = [
    (1, 0, &[1]),
    (2, 1, &[1, 3]),
    (3, 1, &[1, 3, 1]),
    (3, 2, &[1, 1, 1]),
    (4, 1, &[1, 1, 3, 3]),
    (4, 4, &[1, 3, 5, 13]),
    (5, 2, &[1, 1, 5, 5, 17]),
    (5, 4, &[1, 1, 5, 5, 5]),
    (5, 7, &[1, 1, 7, 11, 19]),
    (5, 11, &[1, 1, 5, 1, 1]),
    (5, 13, &[1, 1, 1, 3, 11]),
    (5, 14, &[1, 3, 5, 5, 31]),
    (6, 1, &[1, 3, 3, 9, 7, 49]),
    (6, 13, &[1, 1, 1, 15, 21, 21]),
    (6, 16, &[1, 3, 1, 13, 27, 49]),
];

/// `count` points of the open unit cube, point after point. Powers of two are balanced best.
///
/// # Panics
/// In more than [`MOST_DIMENSIONS`] dimensions.
pub fn sobol_points(count: usize, dimensions: usize, seed: u64) -> Vec<f64> {
    assert!(
        dimensions <= MOST_DIMENSIONS,
        "points in {dimensions} dimensions"
    );
    let mut random = Stream::new(seed, "sobol", 0);
    let directions: Vec<[u32; BITS as usize]> = (0..dimensions).map(direction_numbers).collect();
    let mut seeds = vec![0; dimensions];
    random.fill_bits(&mut seeds);
    let mut points = Vec::with_capacity(count * dimensions);
    for index in 0..count as u32 {
        for (own, seed) in directions.iter().zip(&seeds) {
            let bits = (0..BITS).filter(|bit| index >> bit & 1 == 1);
            let plain = bits.fold(0, |sum, bit| sum ^ own[bit as usize]);
            let scrambled = scramble_value(plain, *seed as u32);
            points.push((f64::from(scrambled) + 0.5) / 2.0_f64.powi(BITS as i32));
        }
    }
    points
}

/// The contribution of each binary digit of the index to the coordinate of one dimension.
fn direction_numbers(dimension: usize) -> [u32; BITS as usize] {
    let mut found = [0; BITS as usize];
    let Some((degree, inner, first)) = dimension.checked_sub(1).map(|d| POLYNOMIALS[d]) else {
        for (bit, direction) in found.iter_mut().enumerate() {
            *direction = 1 << (BITS as usize - 1 - bit);
        }
        return found;
    };
    let degree = degree as usize;
    for bit in 0..BITS as usize {
        found[bit] = if bit < degree {
            first[bit] << (BITS as usize - 1 - bit)
        } else {
            let before = found[bit - degree];
            let terms = (1..degree).filter(|k| inner >> (degree - 1 - k) & 1 == 1);
            terms.fold(before ^ before >> degree, |sum, k| sum ^ found[bit - k])
        };
    }
    found
}

/// Flips every digit at random, depending on all digits before it.
fn scramble_value(value: u32, seed: u32) -> u32 {
    let mut x = value.reverse_bits();
    x = x.wrapping_add(seed);
    x ^= x.wrapping_mul(0x6c50_b47c);
    x ^= x.wrapping_mul(0xb82f_1e52);
    x ^= x.wrapping_mul(0xc7af_e638);
    x ^= x.wrapping_mul(0x8d22_f6e6);
    x.reverse_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_coordinate_has_one_point_in_every_interval() {
        let (count, dimensions) = (64, MOST_DIMENSIONS);
        let points = sobol_points(count, dimensions, 3);
        for dimension in 0..dimensions {
            let own = points.iter().skip(dimension).step_by(dimensions);
            let mut places: Vec<usize> = own.map(|x| (x * count as f64) as usize).collect();
            places.sort_unstable();
            assert!(places.into_iter().eq(0..count), "{dimension}");
        }
    }

    #[test]
    fn every_pair_of_the_first_coordinates_fills_the_square() {
        let points = sobol_points(256, 8, 5);
        for (a, b) in [(0, 1), (1, 2), (0, 4), (2, 5), (3, 7), (6, 7)] {
            let mut cells = [0; 16];
            for point in points.chunks_exact(8) {
                let cell = |x: f64| (4.0 * x) as usize;
                cells[4 * cell(point[a]) + cell(point[b])] += 1;
            }
            assert!(
                cells.iter().all(|cell| (12..=20).contains(cell)),
                "{a} {b} {cells:?}"
            );
        }
    }

    #[test]
    fn means_of_smooth_functions_are_better_than_by_chance() {
        let error = |seed: u64| {
            let points = sobol_points(128, 5, seed);
            let value = |x: &[f64]| x.iter().map(|x| 1.0 + (x - 0.5)).product::<f64>();
            points.chunks_exact(5).map(value).sum::<f64>() / 128.0 - 1.0
        };
        // The error of independent points is √((13/12)⁵ − 1)/√128 = 0.06.
        let worst = (0..20).map(|seed| error(seed).abs()).fold(0.0, f64::max);
        assert!(worst < 0.02, "{worst}");
    }
}
