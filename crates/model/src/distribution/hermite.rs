//! Nodes and weights for expectations under a standard normal.

/// E f(x) ≈ Σ wᵢ f(xᵢ) for x ~ N(0, 1), exact for polynomials of degree below `2 * count`
/// (Gauss and Hermite).
///
/// The nodes are the zeros of Hₙ, which are simple and symmetric, and whose distances are above
/// π/√(4n + 2): a walk in smaller steps sees each change of sign.
pub(super) fn gauss_hermite(count: usize) -> (Vec<f64>, Vec<f64>) {
    let order = count as f64;
    let (step, end) = (1.0 / order.sqrt(), 2.0 * order.sqrt() + 1.0);
    let value = |x: f64| polynomials(count, x)[count];
    let mut nodes = Vec::with_capacity(count);
    if count % 2 == 1 {
        nodes.push(0.0);
    }
    let mut low = 1e-9;
    while low < end {
        let high = low + step;
        if value(low) * value(high) < 0.0 {
            let zero = bisect(low, high, value);
            nodes.extend([zero, -zero]);
        }
        low = high;
    }
    nodes.sort_by(f64::total_cmp);
    let weight = |x: &f64| {
        let all = polynomials(count, *x);
        let squares: f64 = all[..count].iter().map(|h| h * h).sum();
        squares.recip()
    };
    let weights = nodes.iter().map(weight).collect();
    (nodes, weights)
}

/// H₀(x) to Hₙ(x), orthonormal under the standard normal: √(k+1) H_{k+1} = x H_k − √k H_{k−1}.
fn polynomials(count: usize, x: f64) -> Vec<f64> {
    let mut found = vec![1.0, x];
    for k in 1..count {
        let degree = k as f64;
        let next = (x * found[k] - degree.sqrt() * found[k - 1]) / (degree + 1.0).sqrt();
        found.push(next);
    }
    found
}

/// Where a continuous function changes its sign, to the last bit.
fn bisect(mut low: f64, mut high: f64, value: impl Fn(f64) -> f64) -> f64 {
    let rises = value(low) < 0.0;
    for _ in 0..60 {
        let middle = low.midpoint(high);
        if (value(middle) < 0.0) == rises {
            low = middle;
        } else {
            high = middle;
        }
    }
    low.midpoint(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_the_normal_are_exact_up_to_the_promised_degree() {
        for count in [1, 2, 7, 16, 32, 64] {
            let (nodes, weights) = gauss_hermite(count);
            assert_eq!(nodes.len(), count);
            let mut known = 1.0;
            for half in 0..count.min(12) {
                let power = 2 * half;
                let sum: f64 = nodes
                    .iter()
                    .zip(&weights)
                    .map(|(x, w)| w * x.powi(power as i32))
                    .sum();
                assert!((sum / known - 1.0).abs() < 1e-11, "{count} {power}: {sum}");
                known *= (power + 1) as f64;
            }
        }
    }
}
