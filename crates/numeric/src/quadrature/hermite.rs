//! Gauss–Hermite quadrature by Newton's method.

/// The most Newton steps for a root.
const MOST_STEPS: usize = 2000;

/// Nodes and weights with E f(t) ≈ Σ wᵢ f(tᵢ) for t ~ N(0, 1), the nodes in increasing order: exact
/// for polynomials of degree up to 2 `count` − 1.  The nodes are the roots of the Hermite
/// polynomial, found from the outermost inwards by Newton's method on the polynomial deflated by
/// the known roots.
///
/// # Panics If `count` is zero.
pub fn gauss_hermite(count: usize) -> (Vec<f64>, Vec<f64>) {
    assert!(count > 0, "a rule has a node");
    let mut nodes: Vec<f64> = Vec::with_capacity(count);
    for place in 0..count.div_ceil(2) {
        let middle = count % 2 == 1 && place == count / 2;
        nodes.push(if middle {
            0.0
        } else {
            find_root(count, &nodes)
        });
    }
    let mirrored: Vec<f64> = nodes.iter().take(count / 2).map(|node| -node).collect();
    nodes.reverse();
    let nodes: Vec<f64> = mirrored.into_iter().chain(nodes).collect();
    let weights = nodes.iter().map(|node| node_weight(count, *node)).collect();
    (nodes, weights)
}

/// The largest root below the known ones, which are deflated together with their mirror images.
/// From above all roots, Newton's method descends to it monotonically.
fn find_root(count: usize, known: &[f64]) -> f64 {
    let mut t = 2.0 * (count as f64).sqrt() + 1.0;
    for _ in 0..MOST_STEPS {
        let (last, before) = hermite_polynomials(count, t);
        let slope = (count as f64).sqrt() * before;
        let poles: f64 = known.iter().map(|r| 2.0 * t / (t * t - r * r)).sum();
        let step = last / (slope - last * poles);
        t -= step;
        if step.abs() <= 1e-15 * t.abs().max(1.0) {
            break;
        }
    }
    t
}

/// 1 / Σₖ hₖ(t)² over the normalised polynomials below `count` (Christoffel numbers).
fn node_weight(count: usize, t: f64) -> f64 {
    let (mut before, mut last, mut sum) = (0.0, 1.0, 1.0);
    for k in 1..count {
        let next = next_polynomial(k, t, last, before);
        (before, last) = (last, next);
        sum += next * next;
    }
    1.0 / sum
}

/// hₙ(t) and hₙ₋₁(t), normalised so that E hₖ² = 1.
fn hermite_polynomials(count: usize, t: f64) -> (f64, f64) {
    let (mut before, mut last) = (0.0, 1.0);
    for k in 1..=count {
        let next = next_polynomial(k, t, last, before);
        (before, last) = (last, next);
    }
    (last, before)
}

fn next_polynomial(k: usize, t: f64, last: f64, before: f64) -> f64 {
    (t * last - ((k - 1) as f64).sqrt() * before) / (k as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_the_normal_are_exact() {
        for count in [1, 2, 5, 9, 16, 17, 32, 64, 128] {
            let (nodes, weights) = gauss_hermite(count);
            assert!(nodes.windows(2).all(|pair| pair[0] < pair[1]), "{nodes:?}");
            let mut moment = 1.0;
            for power in 0..count.min(12) as i32 {
                let values = nodes.iter().zip(&weights);
                let found: f64 = values.map(|(t, w)| w * t.powi(2 * power)).sum();
                assert!(
                    (found / moment - 1.0).abs() < 1e-11,
                    "{count} {power} {found}"
                );
                moment *= f64::from(2 * power + 1);
            }
        }
    }

    #[test]
    fn three_nodes_are_those_of_the_books() {
        let (nodes, weights) = gauss_hermite(3);
        let expected = [-(3_f64.sqrt()), 0.0, 3_f64.sqrt()];
        assert!(
            nodes
                .iter()
                .zip(expected)
                .all(|(a, b)| (a - b).abs() < 1e-14)
        );
        assert!((weights[0] - 1.0 / 6.0).abs() < 1e-14 && (weights[1] - 2.0 / 3.0).abs() < 1e-14);
    }
}
