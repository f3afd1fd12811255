//! The log likelihood of single rows.

use lehr_density::Density;
use lehr_infer::pointwise::pointwise;

use crate::linear::Linear;

#[test]
fn single_rows_add_up_to_the_likelihood_of_all() {
    let linear = Linear::new(2500, 3, 4);
    let density = linear.bind();
    let draws = [0.3, -0.2, 0.5, 1.0, 0.1, -0.4];
    let size = density.latents().size();
    assert_eq!(draws.len() % size, 0);
    let count = draws.len() / size;
    let (mut sums, mut seen) = (vec![0.0; count], 0);
    pointwise(&density, &draws, &[], |rows, values| {
        assert_eq!(rows.start, seen);
        assert_eq!(values.len(), rows.len() * count);
        for (sum, draw) in sums.iter_mut().zip(values.chunks(rows.len())) {
            *sum += draw.iter().sum::<f64>();
        }
        seen = rows.end;
    });
    assert_eq!(seen, 2500);
    for (draw, sum) in draws.chunks(size).zip(sums) {
        let exact = linear.log_likelihood(draw);
        assert!((sum - exact).abs() < 1e-9 * exact.abs(), "{sum} {exact}");
    }
}
