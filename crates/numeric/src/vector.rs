//! Products of short vectors, summed from the first entry to the last.

/// a · b
#[inline]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// xᵀA x, A row-major.
#[inline]
pub fn quadratic_form(a: &[f64], x: &[f64]) -> f64 {
    let rows = a.chunks_exact(x.len().max(1)).zip(x);
    rows.map(|(row, xi)| xi * dot(row, x)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_the_entries() {
        assert_eq!(dot(&[1.0, 2.0, 3.0], &[4.0, -5.0, 6.0]), 12.0);
        assert_eq!(
            quadratic_form(&[2.0, 1.0, 0.5, 3.0], &[1.0, -2.0]),
            2.0 - 3.0 + 12.0
        );
        assert_eq!(quadratic_form(&[], &[]), 0.0);
    }
}
