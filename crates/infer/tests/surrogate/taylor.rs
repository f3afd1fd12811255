//! `taylor` is exact to second order at the mode, and matched weights make `rand` nearly so.

use lehr_density::Density;
use lehr_infer::guide::Whitening;
use lehr_infer::surrogate::{
    RowSurrogate, Setup, StartWeights, Surrogate, SurrogateKind, SurrogateSettings, Taylor,
    predicted_quality,
};
use lehr_model::Bound;
use lehr_table::Table;

use crate::{Likelihood, covariates, starts, values};

const MODE: [f64; 3] = [0.25, -0.6, 0.35];

/// (Ψ̂ − Ψ)(z* + εd) − (Ψ̂ − Ψ)(z*)
fn error(density: &dyn Density, surrogate: &dyn Surrogate, along: [f64; 3], step: f64) -> f64 {
    let all: Vec<usize> = (0..density.n_rows()).collect();
    let exact = RowSurrogate::on_rows(density, &all);
    let moved: Vec<f64> = (0..3).map(|i| MODE[i] + step * along[i]).collect();
    let points = [MODE.to_vec(), moved];
    let rise = |surrogate: &dyn Surrogate| {
        let found = values(density, surrogate, &starts(density, surrogate), &points);
        found[1] - found[0]
    };
    rise(surrogate) - rise(&exact)
}

#[test]
fn any_subset_is_exact_to_second_order_at_the_mode() {
    for likelihood in [Likelihood::Logistic, Likelihood::Poisson] {
        let density = likelihood.bind(40, 9);
        let mode = likelihood.mode(&density, &MODE);
        for rows in [&[0][..], &[3, 7, 9], &[1, 1, 2, 30, 31]] {
            let surrogate = Taylor::on_rows(&density, rows, &mode);
            for along in [[1.0, 0.5, -0.3], [-0.2, 1.0, 0.7]] {
                let errors = [0.02, 0.01].map(|step| error(&density, &surrogate, along, step));
                let order = (errors[0] / errors[1]).abs().log2();
                assert!(
                    (order - 3.0).abs() < 0.2,
                    "{likelihood:?} {rows:?}: {errors:?}"
                );
            }
        }
    }
}

#[test]
fn in_linear_regression_any_subset_is_exact_everywhere() {
    let density = Likelihood::Linear.bind(40, 9);
    let mode = Likelihood::Linear.mode(&density, &MODE);
    let surrogate = Taylor::on_rows(&density, &[3, 7, 9], &mode);
    let found = error(&density, &surrogate, [1.0, -2.0, 0.5], 3.0);
    assert!(found.abs() < 1e-10, "{found}");
}

#[test]
fn a_diagonal_residual_is_exact_in_slope_and_along_axes() {
    let density = Likelihood::Logistic.bind(40, 9);
    let mut mode = Likelihood::Logistic.mode(&density, &MODE);
    mode.hessian = mode.diagonal();
    let surrogate = Taylor::on_rows(&density, &[3, 7, 9], &mode);
    let order = |along: [f64; 3]| {
        let errors = [0.02, 0.01].map(|step| error(&density, &surrogate, along, step));
        (errors[0] / errors[1]).abs().log2()
    };
    assert!((order([0.0, 1.0, 0.0]) - 3.0).abs() < 0.2);
    assert!((order([0.0, 1.0, 1.0]) - 2.0).abs() < 0.2);
}

/// A surrogate on some of 200 rows, with or without matched weights, as a function from changes of
/// its log weights to the predicted divergence.
fn divergence(
    likelihood: Likelihood,
    (kind, rows): (SurrogateKind, usize),
    start_weights: StartWeights,
) -> impl Fn(&[f64]) -> f64 {
    let density = likelihood.bind(200, 9);
    let mode = likelihood.mode(&density, &MODE);
    let settings = SurrogateSettings {
        start_weights,
        ..SurrogateSettings::new(kind, rows)
    };
    let setup = Setup {
        seed: 2,
        mode: Some(&mode),
        whitening: &Whitening::Identity,
    };
    let surrogate = settings.build(&density, &setup).unwrap();
    move |changes| {
        let mut learned = starts(&density, &*surrogate);
        let values = learned.values.iter_mut().zip(changes);
        values.for_each(|(value, change)| *value += change);
        let quality = predicted_quality(&density, &*surrogate, &learned, &mode).unwrap();
        quality.divergence()
    }
}

#[test]
fn matched_weights_have_the_slope_and_curvature_of_all_rows() {
    for likelihood in Likelihood::ALL {
        // Nine equations in forty weights have a solution, except for the lower bound of the
        // weights.
        let random = (SurrogateKind::RANDOM, 40);
        let uniform = divergence(likelihood, random, StartWeights::Uniform)(&[]);
        let matched = divergence(likelihood, random, StartWeights::Matched)(&[]);
        assert!(
            matched < 1e-3 * uniform,
            "{likelihood:?}: {matched} of {uniform}"
        );
    }
}

#[test]
fn every_surrogate_that_learns_its_weights_can_start_from_matched_ones() {
    let kinds = SurrogateKind::all().filter(|kind| kind.has_matched_weights());
    let kinds: Vec<SurrogateKind> = kinds.collect();
    assert!(kinds.contains(&SurrogateKind::RANDOM));
    for kind in kinds {
        let found = |start| divergence(Likelihood::Logistic, (kind, 40), start)(&[]);
        let (uniform, matched) = (found(StartWeights::Uniform), found(StartWeights::Matched));
        assert!(matched < 0.05 * uniform, "{kind}: {matched} of {uniform}");
    }
}

#[test]
fn matched_weights_have_the_least_divergence_where_none_is_exact() {
    for likelihood in Likelihood::ALL {
        let divergence = divergence(
            likelihood,
            (SurrogateKind::RANDOM, 6),
            StartWeights::Matched,
        );
        let least = divergence(&[]);
        assert!(least > 1e-6, "{likelihood:?}: {least}");
        for place in 0..6 {
            // A weight at its lower bound would be smaller without it.
            for change in [0.02, -0.02] {
                let mut changes = [0.0; 6];
                changes[place] = change;
                let found = divergence(&changes);
                let slack = if change < 0.0 { 1e-4 * least } else { 0.0 };
                assert!(
                    found > least - slack,
                    "{likelihood:?} {place} {change}: {found} below {least}"
                );
            }
        }
    }
}

/// Two hundred logistic rows, four of them far out in the first covariate.
fn with_far_rows() -> (Bound, [usize; 4]) {
    let far = [3, 50, 51, 180];
    let (rows, width) = (200, 3);
    let mut x = covariates(rows, 9);
    for row in far {
        x[row * width] += 25.0;
    }
    let y = (0..rows).map(|n| f64::from(n % 2 == 0)).collect();
    let table = Table::new().with_number("y", y);
    let table = table.and_then(|table| table.with_matrix("x", rows, width, x));
    (
        Likelihood::Logistic.model().bind(&table.unwrap()).unwrap(),
        far,
    )
}

#[test]
fn taylor_has_the_rows_that_an_expansion_fits_worst() {
    let (density, far) = with_far_rows();
    let mode = Likelihood::Logistic.mode(&density, &MODE);
    let whitening = Whitening::Diagonal {
        shift: MODE.into(),
        scale: [0.1; 3].into(),
    };
    let setup = Setup {
        seed: 2,
        mode: Some(&mode),
        whitening: &whitening,
    };
    let settings = SurrogateSettings::new(SurrogateKind::TAYLOR, 12);
    let chosen = settings.build(&density, &setup).unwrap();
    // The distant rows are chosen with certainty, so each represents itself alone.
    let start = &chosen.blocks()[0].start;
    assert_eq!(
        start.iter().filter(|weight| **weight == 0.0).count(),
        far.len()
    );
    assert!(start.iter().all(|weight| *weight >= 0.0));
    // Back over the steep part of the distant rows, whose predictors are about 6 at the mode.
    let along = [-1.0, 0.5, -0.3];
    let others: Vec<usize> = (100..112).collect();
    let others = Taylor::on_rows(&density, &others, &mode);
    let [chosen, others] = [&*chosen, &others as &dyn Surrogate]
        .map(|surrogate| error(&density, surrogate, along, 0.5));
    assert!(chosen.abs() < 0.1 * others.abs(), "{chosen} {others}");
}
