//! Identities that hold to rounding.

use std::sync::Arc;

use lehr_density::Density;
use lehr_infer::annealed::{AnnealedGuide, Drive, Momentum};
use lehr_infer::guide::{LearnedBlocks, Whitening, all_blocks};
use lehr_infer::objective::weigh;
use lehr_infer::program::compile;
use lehr_infer::surrogate::{
    RowSurrogate, Setup, Surrogate, SurrogateKind, SurrogateSettings, Taylor,
};

use crate::fixture::{bases, chain};
use crate::{Likelihood, all_rows, build, columns, kind, rich, starts, stir, values};

fn learned(density: &dyn Density, guide: &AnnealedGuide) -> LearnedBlocks {
    LearnedBlocks::new(all_blocks(density, guide))
}

/// The log weights of four chains with the noise of one step.
fn log_weights(density: &dyn Density, guide: &AnnealedGuide, learned: &LearnedBlocks) -> Vec<f64> {
    let program = compile(density, learned, (4, 11), |context| {
        vec![weigh(context, guide, &all_rows()).log_weight]
    });
    let mut program = program.unwrap();
    program.set_learned(&learned.values);
    program.fill(density.source(), 3);
    program.run();
    program.output(0).to_vec()
}

/// For both forms of momentum and all bases: the chain on a surrogate whose learned values `set`
/// makes exact has the weights of the chain on all rows.
fn assert_is_dais(
    density: &dyn Density,
    surrogate: &Arc<dyn Surrogate>,
    set: impl Fn(&mut LearnedBlocks),
) {
    for base in bases() {
        for momentum in [Momentum::Diagonal, Momentum::Whitened] {
            let dais = chain(base.clone(), momentum, Drive::FullData);
            let mut of_dais = learned(density, &dais);
            stir(&mut of_dais);
            let sl_dais = chain(base.clone(), momentum, Drive::Surrogate(surrogate.clone()));
            let mut of_sl_dais = learned(density, &sl_dais);
            of_sl_dais.take_from(&of_dais);
            set(&mut of_sl_dais);
            let expected = log_weights(density, &dais, &of_dais);
            let found = log_weights(density, &sl_dais, &of_sl_dais);
            for (found, expected) in found.iter().zip(&expected) {
                let error = (found - expected).abs() / expected.abs();
                let name = surrogate.name();
                assert!(
                    error < 1e-12,
                    "{name} {base:?} {momentum:?}: {found} {expected}"
                );
            }
        }
    }
}

fn set(learned: &mut LearnedBlocks, name: &str, values: &[f64]) {
    let range = learned.range_of(name).unwrap();
    learned.values[range].copy_from_slice(values);
}

/// ln ω⁺ and ln ω⁻ that give each row its own label; e⁻⁸⁰⁰ is zero.
fn set_labels(learned: &mut LearnedBlocks, y: &[f64]) {
    let plus: Vec<f64> = y.iter().map(|y| (y - 1.0) * 800.0).collect();
    let minus: Vec<f64> = y.iter().map(|y| -y * 800.0).collect();
    set(learned, "surrogate_log_weight_plus", &plus);
    set(learned, "surrogate_log_weight_minus", &minus);
}

#[test]
fn all_rows_with_weight_one_are_dais() {
    for likelihood in Likelihood::ALL {
        let density = likelihood.bind(13, 1);
        let surrogate = build(&density, SurrogateKind::RANDOM, 13, None);
        assert_is_dais(&density, &surrogate, |_| ());
    }
    let density = rich(13);
    let surrogate = build(&density, SurrogateKind::RANDOM, 13, None);
    assert_is_dais(&density, &surrogate, |_| ());
}

#[test]
fn all_covariates_with_their_own_labels_are_dais() {
    let density = rich(13);
    let (y, _) = columns(&density);
    let surrogate = build(&density, kind("rand±"), 13, None);
    assert_is_dais(&density, &surrogate, |learned| set_labels(learned, &y));
}

#[test]
fn centroids_at_the_rows_with_their_own_labels_are_dais() {
    let density = Likelihood::Logistic.bind(13, 1);
    let (y, x) = columns(&density);
    let surrogate = build(&density, kind("km-init±"), 13, None);
    assert_is_dais(&density, &surrogate, |learned| {
        set_labels(learned, &y);
        set(learned, "surrogate_covariates", &x);
    });
}

#[test]
fn taylor_on_all_rows_is_dais() {
    let density = Likelihood::Poisson.bind(13, 1);
    let rows: Vec<usize> = (0..13).collect();
    let mode = Likelihood::Poisson.mode(&density, &[0.2, -0.5, 0.4]);
    let surrogate: Arc<dyn Surrogate> = Arc::new(Taylor::on_rows(&density, &rows, &mode));
    assert_is_dais(&density, &surrogate, |_| ());
}

/// Ψ̂ at two points.
fn at_points(density: &dyn Density, surrogate: &dyn Surrogate) -> Vec<f64> {
    let points = [vec![0.1, -0.4, 0.9], vec![-0.7, 0.2, 0.3]];
    values(density, surrogate, &starts(density, surrogate), &points)
}

fn assert_near(found: &[f64], expected: &[f64]) {
    for (found, expected) in found.iter().zip(expected) {
        let error = (found - expected).abs() / expected.abs();
        assert!(error < 1e-13, "{found} {expected}");
    }
}

#[test]
fn permuted_rows_are_the_same_surrogate() {
    for likelihood in Likelihood::ALL {
        let density = likelihood.bind(20, 2);
        let mode = likelihood.mode(&density, &[0.1, 0.2, 0.3]);
        let (some, permuted) = ([3, 5, 8, 13], [13, 3, 8, 5]);
        let one = RowSurrogate::on_rows(&density, &some);
        let other = RowSurrogate::on_rows(&density, &permuted);
        assert_near(&at_points(&density, &one), &at_points(&density, &other));
        let one = Taylor::on_rows(&density, &some, &mode);
        let other = Taylor::on_rows(&density, &permuted, &mode);
        assert_near(&at_points(&density, &one), &at_points(&density, &other));
    }
}

#[test]
fn a_row_twice_equals_weight_two() {
    for likelihood in Likelihood::ALL {
        let density = likelihood.bind(20, 2);
        let twice = RowSurrogate::with_weights(&density, &[3, 5, 5, 8], &[1.5; 4]);
        let double = RowSurrogate::with_weights(&density, &[3, 5, 8], &[1.5, 3.0, 1.5]);
        assert_near(&at_points(&density, &twice), &at_points(&density, &double));
    }
}

#[test]
fn a_coreset_with_its_own_weights_is_unbiased() {
    let density = Likelihood::Logistic.bind(60, 3);
    let all: Vec<usize> = (0..60).collect();
    let whole = at_points(&density, &RowSurrogate::on_rows(&density, &all));
    let repeats = 400;
    let drawn: Vec<Vec<f64>> = (0..repeats)
        .map(|seed| {
            let setup = Setup {
                seed,
                mode: None,
                whitening: &Whitening::Identity,
            };
            let settings = SurrogateSettings::new(kind("cs-fix"), 20);
            at_points(&density, &*settings.build(&density, &setup).unwrap())
        })
        .collect();
    for (place, expected) in whole.iter().enumerate() {
        let estimates: Vec<f64> = drawn.iter().map(|values| values[place]).collect();
        let mean = lehr_numeric::summary::mean(&estimates);
        let error = lehr_numeric::summary::sd(&estimates) / (repeats as f64).sqrt();
        assert!(
            (mean - expected).abs() < 4.0 * error,
            "{mean} ± {error} for {expected}"
        );
        assert!(error < 0.02 * expected.abs());
    }
}
