//! Matrices that are known by their products with vectors, several of which are computed side by
//! side.

use std::convert::Infallible;

/// The unit vectors from `first` on, one per lane; zeros in lanes beyond the last.
pub fn unit_vectors(size: usize, first: usize, lanes: usize) -> Vec<f64> {
    let mut vectors = vec![0.0; lanes * size];
    for lane in 0..lanes.min(size - first) {
        vectors[lane * size + first + lane] = 1.0;
    }
    vectors
}

/// A column-major matrix from its products with unit vectors, `lanes` at a time.
///
/// # Errors
/// The error of the first product that has one.
pub fn hessian_columns<E>(
    size: usize,
    lanes: usize,
    product: impl FnMut(&[f64]) -> Result<Vec<f64>, E>,
) -> Result<Vec<f64>, E> {
    let mut matrix = Vec::with_capacity(size * size);
    each_column(size, lanes, product, |_, column| matrix.extend(column))?;
    Ok(matrix)
}

/// The diagonal of such a matrix, which may be too large to store.
pub fn hessian_diagonal(
    size: usize,
    lanes: usize,
    mut product: impl FnMut(&[f64]) -> Vec<f64>,
) -> Vec<f64> {
    let mut diagonal = Vec::with_capacity(size);
    let product = |vectors: &[f64]| Ok::<_, Infallible>(product(vectors));
    let Ok(()) = each_column(size, lanes, product, |place, column| {
        diagonal.push(column[place]);
    });
    diagonal
}

fn each_column<E>(
    size: usize,
    lanes: usize,
    mut product: impl FnMut(&[f64]) -> Result<Vec<f64>, E>,
    mut take: impl FnMut(usize, &[f64]),
) -> Result<(), E> {
    for first in (0..size).step_by(lanes) {
        let found = product(&unit_vectors(size, first, lanes))?;
        // A product that does not depend on the direction has no lanes.
        let products = found.chunks_exact(size).cycle();
        let places = first..size.min(first + lanes);
        places
            .zip(products)
            .for_each(|(place, column)| take(place, column));
    }
    Ok(())
}

/// The symmetric part; rounding leaves the two triangles slightly different.
pub fn symmetrise_matrix(mut matrix: Vec<f64>, size: usize) -> Vec<f64> {
    for i in 0..size {
        for j in 0..i {
            let mean = 0.5 * (matrix[i * size + j] + matrix[j * size + i]);
            matrix[i * size + j] = mean;
            matrix[j * size + i] = mean;
        }
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: usize = 5;

    fn entry(i: usize, j: usize) -> f64 {
        (3 * i + j) as f64
    }

    /// The products with several vectors, one after another.
    fn product(vectors: &[f64]) -> Vec<f64> {
        let one = |vector: &[f64]| -> Vec<f64> {
            let row = |i| {
                vector
                    .iter()
                    .enumerate()
                    .map(|(j, x)| entry(i, j) * x)
                    .sum()
            };
            (0..SIZE).map(row).collect()
        };
        vectors.chunks(SIZE).flat_map(one).collect()
    }

    #[test]
    fn columns_and_diagonal_are_the_same_for_any_number_of_lanes() {
        let expected: Vec<f64> = (0..SIZE * SIZE)
            .map(|k| entry(k % SIZE, k / SIZE))
            .collect();
        for lanes in [1, 2, 5, 7] {
            let found = hessian_columns(SIZE, lanes, |vectors| Ok::<_, ()>(product(vectors)));
            assert_eq!(found, Ok(expected.clone()));
            let diagonal = hessian_diagonal(SIZE, lanes, product);
            assert!((0..SIZE).all(|i| diagonal[i] == entry(i, i)));
        }
        let symmetric = symmetrise_matrix(expected, SIZE);
        assert!((0..SIZE * SIZE).all(|k| symmetric[k] == symmetric[k % SIZE * SIZE + k / SIZE]));
    }

    #[test]
    fn a_product_without_lanes_is_that_of_every_direction() {
        let flat = hessian_columns(2, 2, |_| Ok::<_, ()>(vec![0.0, 0.0]));
        assert_eq!(flat, Ok(vec![0.0; 4]));
        assert_eq!(hessian_diagonal(2, 2, |_| vec![0.0, 0.0]), [0.0; 2]);
    }
}
