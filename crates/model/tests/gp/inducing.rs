//! Gaussian processes by inducing points against dense Gaussian processes.

use lehr_density::Density;
use lehr_graph::Graph;
use lehr_graph::reference::{InputValues, evaluate};
use lehr_model::Program;
use lehr_model::gp::{Kernel, Projection, Rbf};

use crate::dense::Dense;
use crate::exact::{Data, Joint};

const KERNELS: [Kernel; 3] = [Kernel::Rbf, Kernel::Matern32, Kernel::Matern52];
const NOISE: f64 = 0.4;

fn distance([a, b]: [f64; 2], [c, d]: [f64; 2]) -> f64 {
    (a - c).hypot(b - d)
}

/// s² = 1 and ℓ = 1, as the model starts.
fn covariance(kernel: Kernel, x: &[[f64; 2]], ridge: f64) -> Dense {
    let own = |a: usize, b: usize| if a == b { ridge } else { 0.0 };
    Dense::new(x.len(), |a, b| {
        kernel.correlation(distance(x[a], x[b])) + own(a, b)
    })
}

/// AAᵀ + diag(r + σ²), by simple loops.
fn fitc(kernel: Kernel, x: &[[f64; 2]], z: &[[f64; 2]]) -> Dense {
    let lower = covariance(kernel, z, 1e-6).factor();
    let solved = x.iter().map(|x| {
        let across: Vec<f64> = z
            .iter()
            .map(|z| kernel.correlation(distance(*x, *z)))
            .collect();
        lower.solve(&across)
    });
    let a: Vec<Vec<f64>> = solved.collect();
    let dot = |i: usize, j: usize| a[i].iter().zip(&a[j]).map(|(p, q)| p * q).sum::<f64>();
    Dense::new(x.len(), |i, j| {
        if i == j {
            (1.0 - dot(i, i)).max(1e-12) + dot(i, i) + NOISE * NOISE
        } else {
            dot(i, j)
        }
    })
}

#[test]
fn with_a_point_in_every_row_the_evidence_is_that_of_the_dense_process() {
    let data = Data::new(60);
    for kernel in KERNELS {
        let bound = data.normal(kernel, &data.x);
        let found = Joint::new(&bound).solve(bound.params().start()).evidence;
        let dense = covariance(kernel, &data.x, NOISE * NOISE).log_normal_density(&data.y);
        let gap = found - dense;
        assert!(gap.abs() < 2e-5, "{kernel:?}: {gap}");
    }
}

#[test]
fn with_any_points_the_evidence_is_that_of_the_low_rank_covariance() {
    let data = Data::new(60);
    for kernel in KERNELS {
        let points = &data.x[..12];
        let bound = data.normal(kernel, points);
        let found = Joint::new(&bound).solve(bound.params().start()).evidence;
        let known = fitc(kernel, &data.x, points).log_normal_density(&data.y);
        let gap = found - known;
        // A Matérn correlation is taken 10⁻⁶ lengthscales away.
        let close = if kernel == Kernel::Rbf { 1e-8 } else { 1e-6 };
        assert!(gap.abs() < close, "{kernel:?}: {gap}");
    }
}

/// With an inducing point in every row f = L e, and no variance remains to integrate over.
#[test]
fn with_a_point_in_every_row_a_logit_is_the_function_there() {
    let mut data = Data::new(12);
    for y in &mut data.y {
        *y = f64::from(*y > 0.3);
    }
    let bound = data.bind(Kernel::Rbf, &data.x, |row, f, _| {
        row.observe("y", f.bernoulli());
    });
    let e: Vec<f64> = (0..12).map(|k| (1.7 * f64::from(k)).sin()).collect();
    let lower = covariance(Kernel::Rbf, &data.x, 1e-6).factor();
    let value = |n: usize| (0..=n).map(|k| lower.at(n, k) * e[k]).sum::<f64>();
    let logits = data.y.iter().enumerate().map(|(n, y)| {
        let logit = (2.0 * y - 1.0) * value(n);
        -(-logit).exp().ln_1p()
    });
    let prior = -0.5
        * e.iter()
            .map(|e| e * e + std::f64::consts::TAU.ln())
            .sum::<f64>();
    let known = logits.sum::<f64>() + prior;
    let found = Joint::new(&bound).ask(&e, bound.params().start(), |_, joint| vec![joint])[0][0];
    assert!((found - known).abs() < 1e-4, "{found} {known}");
}

#[test]
fn slopes_in_all_that_is_learned_are_those_of_the_evidence() {
    let data = Data::new(30);
    for kernel in KERNELS {
        let bound = data.normal(kernel, &data.x[..5]);
        let joint = Joint::new(&bound);
        let theta = bound.params().start().to_vec();
        assert_eq!(theta.len(), 1 + 2 + 10 + 1);
        let slope = joint.slope(&theta);
        for (place, slope) in slope.iter().enumerate() {
            let at = |step: f64| {
                let mut moved = theta.clone();
                moved[place] += step;
                joint.solve(&moved).evidence
            };
            let known = (at(1e-4) - at(-1e-4)) / 2e-4;
            let close = 1e-5 * (1.0 + known.abs());
            assert!(
                (slope - known).abs() < close,
                "{kernel:?} {place}: {slope} {known}"
            );
        }
    }
}

#[test]
fn the_order_of_points_changes_nothing_and_a_duplicate_next_to_nothing() {
    let data = Data::new(40);
    let evidence = |points: &[[f64; 2]]| {
        let bound = data.normal(Kernel::Rbf, points);
        Joint::new(&bound).solve(bound.params().start()).evidence
    };
    let mut points = data.x[..10].to_vec();
    let known = evidence(&points);
    points.reverse();
    let reversed = evidence(&points) - known;
    assert!(reversed.abs() < 1e-8, "{reversed}");
    points.push(points[3]);
    let twice = evidence(&points) - known;
    assert!(twice.abs() < 1e-4, "{twice}");
}

/// METHODS2 §3.8, 1: r ≥ 0, also where all points nearly coincide and their covariance is singular
/// except for the jitter.
#[test]
fn points_leave_next_to_nothing_over_at_themselves_and_everything_far_away() {
    const SCALE: f64 = 1.3;
    let mut places: Vec<f64> = Data::new(60).x.iter().flatten().copied().collect();
    for lengthscale in [0.5, 1e4] {
        let graph = Graph::new();
        let points = graph.constant([60, 2], &places[..120]);
        let projection = Projection::new(&graph, Rbf::new(SCALE, lengthscale).into(), points);
        places.resize(122, 1e7);
        let [_, left] = projection.project_point(graph.constant([61, 2], &places));
        let left = &evaluate(&[left], &InputValues::new(), 1)[0];
        for (row, left) in left[..60].iter().enumerate() {
            let share = left / (SCALE * SCALE);
            assert!(share > 0.0 && share < 1.1e-6, "row {row}: {share}");
        }
        assert!((left[60] - SCALE * SCALE).abs() < 1e-12, "{}", left[60]);
    }
}

#[test]
fn a_function_by_points_is_recorded_and_read_back() {
    let data = Data::new(9);
    let bound = data.bind(Kernel::Matern52, &data.x[..4], |row, f, noise| {
        row.observe("y", f.plus(row.filled_rows(0.5)).student_t(4.0, noise));
    });
    let again = Program::from_bytes(&bound.program().to_bytes()).unwrap();
    assert_eq!(&again, bound.program());
    assert!(bound.linear().is_some(), "one predictor per row");
    let words = bound.program().to_string();
    assert!(words.contains("NoisyStudentT"), "{words}");
}

#[test]
fn points_that_are_no_matrix_are_named() {
    let model = lehr_model::Model::new(|m| {
        let points = m.graph().constant([3], &[0.0, 1.0, 2.0]);
        let gp = lehr_model::gp::InducedGp::new(m, "f", lehr_model::gp::Rbf::new(1.0, 1.0), points);
        m.rows(|row| row.observe("y", gp.marginal_at(row.matrix("x")).bernoulli()));
    });
    let table = lehr_table::Table::new()
        .with_number("y", vec![0.0, 1.0])
        .and_then(|table| table.with_number("x", vec![0.1, 0.2]));
    let error = model.bind(&table.unwrap()).unwrap_err().to_string();
    assert!(
        error.contains("the inducing points of \"f\": expected a matrix"),
        "{error}"
    );
}
