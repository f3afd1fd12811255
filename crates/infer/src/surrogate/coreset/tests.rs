//! The formula written out, unbiasedness, and error messages.

use super::*;

/// A logistic problem with an intercept and correlated, uneven columns.
fn problem(rows: usize) -> (Vec<f64>, Vec<bool>) {
    let mut stream = Stream::new(8, "problem", 0);
    let mut noise = vec![0.0; rows * 3];
    stream.fill_normal(&mut noise);
    let covariates: Vec<f64> = noise
        .chunks(3)
        .flat_map(|e| [1.0, 0.3 * e[0], 0.2 * e[0] + 0.1 * e[1].powi(3)])
        .collect();
    let labels = covariates
        .chunks(3)
        .map(|x| stream.uniform() < 1.0 / (1.0 + (-1.0 - 3.0 * x[1]).exp()))
        .collect();
    (covariates, labels)
}

fn log_likelihood(covariates: &[f64], labels: &[bool], weight: [f64; 3]) -> Vec<f64> {
    let one = |(x, &label): (&[f64], &bool)| {
        let logit: f64 = x.iter().zip(weight).map(|(x, w)| x * w).sum();
        -(if label { -logit } else { logit }).exp().ln_1p()
    };
    covariates.chunks(3).zip(labels).map(one).collect()
}

#[test]
fn probabilities_are_those_of_the_formula_written_out() {
    let (covariates, labels) = problem(60);
    let settings = CoresetSettings::new(20, 3);
    let found = probabilities(&covariates, 3, &labels, settings).unwrap();
    let z: Vec<Vec<f64>> = covariates
        .chunks(3)
        .zip(&labels)
        .map(|(x, &y)| x.iter().map(|x| if y { *x } else { -x }).collect())
        .collect();
    let points = SignedPoints::new(&covariates, 3)
        .unwrap()
        .with_signs(&labels)
        .unwrap();
    let clusters = Clusters::new(points, 6, 3).unwrap();
    let importance: Vec<f64> = (0..60)
        .map(|n| {
            let crowd: f64 = (0..6)
                .map(|c| {
                    let members: Vec<&Vec<f64>> = (0..60)
                        .filter(|&m| m != n && clusters.assignment[m] == c)
                        .map(|m| &z[m])
                        .collect();
                    let size = members.len() as f64;
                    let mean = |d: usize| members.iter().map(|x| x[d]).sum::<f64>() / size;
                    let apart: f64 = (0..3).map(|d| (mean(d) - z[n][d]).powi(2)).sum();
                    if members.is_empty() {
                        0.0
                    } else {
                        size * (-6.0 * apart.sqrt()).exp()
                    }
                })
                .sum();
            1.0 / (1.0 + crowd)
        })
        .collect();
    let total: f64 = importance.iter().sum();
    for (found, expected) in found.iter().zip(&importance) {
        assert!(
            (found * total / expected - 1.0).abs() < 1e-9,
            "{found} {expected}"
        );
    }
}

#[test]
fn weights_sum_to_the_rows_and_the_log_likelihood_is_unbiased() {
    let (covariates, labels) = problem(400);
    let shared = probabilities(&covariates, 3, &labels, CoresetSettings::new(50, 1)).unwrap();
    let terms = log_likelihood(&covariates, &labels, [1.0, 2.0, -1.0]);
    let repeats = 4000;
    for (terms, whole) in [
        (vec![1.0; 400], 400.0),
        (terms.clone(), terms.iter().sum::<f64>()),
    ] {
        let estimates: Vec<f64> = (0..repeats)
            .map(|seed| {
                let coreset = Coreset::draw(&shared, CoresetSettings::new(50, seed));
                let pairs = coreset.rows.iter().zip(&coreset.weights);
                pairs
                    .map(|(&row, weight)| weight * terms[row as usize])
                    .sum()
            })
            .collect();
        let error = lehr_numeric::summary::sd(&estimates) / (repeats as f64).sqrt();
        let mean = lehr_numeric::summary::mean(&estimates);
        assert!(
            (mean - whole).abs() < 4.0 * error,
            "{mean} ± {error} for {whole}"
        );
        assert!(error < 0.02 * whole.abs());
    }
}

#[test]
fn rows_come_once_and_in_order_and_repeat_with_the_seed() {
    let (covariates, labels) = problem(300);
    let build =
        |seed| Coreset::logistic(&covariates, 3, &labels, CoresetSettings::new(128, seed)).unwrap();
    let coreset = build(5);
    assert!(coreset.rows.is_sorted_by(|a, b| a < b));
    assert!(
        (60..128).contains(&coreset.rows.len()),
        "{}",
        coreset.rows.len()
    );
    assert!(coreset.weights.iter().all(|w| *w > 0.0 && w.is_finite()));
    assert_eq!(coreset, build(5));
    assert_ne!(coreset, build(6));
}

#[test]
fn an_outlier_is_more_important_than_a_row_in_a_crowd() {
    let (mut covariates, labels) = problem(500);
    covariates[3 * 250 + 1] = 20.0;
    let found = probabilities(&covariates, 3, &labels, CoresetSettings::new(50, 1)).unwrap();
    let most = found.iter().copied().fold(0.0, f64::max);
    assert_eq!(found[250], most);
    assert!(most > 3.0 / 500.0, "{most}");
}

#[test]
fn few_different_rows_get_a_cluster_each_and_mistakes_are_refused() {
    let covariates = [1.0, 2.0, 1.0, 2.0, 1.0, 2.0];
    let labels = [true, true, true];
    let settings = CoresetSettings::new(4, 1);
    let coreset = Coreset::logistic(&covariates, 2, &labels, settings).unwrap();
    let total: f64 = coreset.weights.iter().sum();
    assert!((total - 3.0).abs() < 1e-12);
    assert!(Coreset::logistic(&covariates, 2, &labels[..2], settings).is_err());
    assert!(Coreset::logistic(&[], 2, &[], settings).is_err());
    let radius = CoresetSettings {
        radius: -1.0,
        ..settings
    };
    assert!(Coreset::logistic(&covariates, 2, &labels, radius).is_err());
    let none = CoresetSettings {
        size: 0,
        ..settings
    };
    assert!(Coreset::logistic(&covariates, 2, &labels, none).is_err());
}
