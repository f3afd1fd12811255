//! Whole fits against a grid of the hyperparameters.

use lehr_density::Density;
use lehr_mixed::{Accuracy, HyperparameterMethod, MarginalDensity, WarmStart};
use lehr_model::distribution::{Distribution, Exponential, HalfCauchy, HalfNormal, Normal};
use lehr_model::{Bound, Model};
use lehr_numeric::stream::Stream;
use lehr_numeric::summary::{mean, sd};
use lehr_table::Table;

use crate::estimate::Level;
use crate::fit::Fit;
use crate::method::{Collapse, Nuts};
use crate::posterior::Posterior;

mod binary;
mod spared;

/// 12 groups of 5 rows each.
fn balanced() -> Bound {
    let mut random = Stream::new(11, "balanced", 0);
    let mut y = vec![0.0; 60];
    random.fill_normal(&mut y);
    let mut shift = vec![0.0; 12];
    random.fill_normal(&mut shift);
    for (n, y) in y.iter_mut().enumerate() {
        *y += 0.8 * shift[n % 12];
    }
    let levels = (0..12).map(|k| k.to_string()).collect();
    let table = Table::new()
        .with_number("y", y)
        .and_then(|t| t.with_category("g", (0..60).map(|n| n % 12).collect(), levels))
        .unwrap();
    let model = Model::new(|m| {
        let mean = m.sample("mean", Normal::new(0.0, 3.0));
        let spread = m.sample("spread", HalfNormal::new(1.0));
        let effect = m.sample("effect", Normal::new(0.0, spread).expand([12]));
        let noise = m.sample("noise", Exponential::new(1.0));
        m.rows(|row| row.observe("y", Normal::new(mean + effect.at(row.index("g")), noise)));
    });
    model.bind(&table).unwrap()
}

/// The evidence, and the mean and standard deviation of each hyperparameter, by a grid.
struct Truth {
    log_evidence: f64,
    moments: [(f64, f64); 2],
}

fn truth(density: &Bound) -> Truth {
    let collapsed = MarginalDensity::new(density).unwrap();
    let mut bench = collapsed.workspace();
    let (steps, width) = (80, 0.05);
    let (mut mass, mut sums) = (0.0, [[0.0; 2]; 2]);
    for cell in 0..steps * steps {
        let theta = [
            -3.0 + width * f64::from(cell / steps),
            -1.5 + width * f64::from(cell % steps),
        ];
        let value = collapsed
            .evaluate(&theta, &WarmStart::default(), Accuracy::Value, &mut bench)
            .unwrap()
            .value;
        let share = (value + 100.0).exp() * width * width;
        mass += share;
        for (sum, theta) in sums.iter_mut().zip(theta) {
            sum[0] += share * theta.exp();
            sum[1] += share * theta.exp().powi(2);
        }
    }
    let moments = sums.map(|sum| {
        let (mean, square) = (sum[0] / mass, sum[1] / mass);
        (mean, (square - mean * mean).sqrt())
    });
    Truth {
        log_evidence: mass.ln() - 100.0,
        moments,
    }
}

/// Compares a fit of [`balanced`] with the grid, with these tolerances of means and standard
/// deviations.
fn check(collapse: Collapse, close: (f64, f64)) -> Posterior {
    let density = balanced();
    let posterior = Fit::new(collapse).seed(3).run(&density).unwrap();
    let truth = truth(&density);
    let evidence = posterior.evidence.as_ref().unwrap();
    let off = evidence.estimate.mean - truth.log_evidence;
    assert!(off.abs() < 0.02, "{evidence:?} {}", truth.log_evidence);
    let summaries = posterior.corrected_summaries();
    for (name, (mean, sd)) in ["spread", "noise"].iter().zip(truth.moments) {
        let found = summaries.iter().find(|one| one.name == *name).unwrap();
        let (shift, ratio) = ((found.mean - mean) / sd, found.sd / sd);
        assert!(shift.abs() < close.0, "{name} {shift}");
        assert!((ratio - 1.0).abs() < close.1, "{name} {ratio}");
    }
    let verdict = posterior.verdict();
    assert_eq!(posterior.draws_level(), Level::Reliable, "{verdict}");
    posterior
}

#[test]
fn draws_have_the_moments_and_the_evidence_of_a_grid() {
    let posterior = check(Collapse::default(), (0.05, 0.06));
    let evidence = posterior.evidence.unwrap();
    let bound = evidence.bound.unwrap();
    assert!(bound.mean < evidence.estimate.mean + 3.0 * bound.error);
}

#[test]
fn chains_over_the_spreads_have_the_moments_and_the_evidence_of_a_grid() {
    let collapse = Collapse {
        spreads: HyperparameterMethod::Chains,
        ..Collapse::default()
    };
    // 1,000 draws with an effective sample size of at least 800.
    let posterior = check(collapse, (0.12, 0.1));
    assert!(posterior.choices.iter().any(|(what, _)| what == "chains"));
}

/// 10 groups of 12 rows. The intercept and each of seven slopes have a standard deviation; with the
/// noise there are nine hyperparameters.
fn many_spreads() -> Bound {
    const SLOPES: usize = 7;
    let (groups, rows) = (10, 120);
    let mut random = Stream::new(4, "many spreads", 0);
    let mut x = vec![0.0; rows * SLOPES];
    random.fill_normal(&mut x);
    let mut effects = vec![0.0; groups * (SLOPES + 1)];
    random.fill_normal(&mut effects);
    let predict = |n: usize| {
        let own = &effects[n % groups * (SLOPES + 1)..][..=SLOPES];
        let slopes = x[n * SLOPES..][..SLOPES].iter().zip(&own[1..]);
        own[0] + slopes.map(|(x, e)| 0.5 * x * e).sum::<f64>()
    };
    let y = (0..rows).map(|n| predict(n) + 0.7 * random.normal());
    let y: Vec<f64> = y.collect();
    let levels = (0..groups).map(|k| k.to_string()).collect();
    let codes = (0..rows).map(|n| (n % groups) as u32).collect();
    let table = Table::new().with_number("y", y);
    let mut table = table.and_then(|t| t.with_category("g", codes, levels));
    for k in 0..SLOPES {
        let own = x.iter().skip(k).step_by(SLOPES).copied().collect();
        table = table.and_then(|t| t.with_number(&format!("x{k}"), own));
    }
    let table = table.unwrap();
    let model = Model::new(move |m| {
        let mean = m.sample("mean", Normal::new(0.0, 3.0));
        let noise = m.sample("noise", Exponential::new(1.0));
        let effects: Vec<_> = (0..=SLOPES)
            .map(|k| {
                let spread = m.sample(&format!("spread{k}"), HalfNormal::new(1.0));
                m.sample(
                    &format!("effect{k}"),
                    Normal::new(0.0, spread).expand([groups]),
                )
            })
            .collect();
        m.rows(|row| {
            let g = row.index("g");
            let mut predictor = mean + effects[0].at(g);
            for (k, effect) in effects[1..].iter().enumerate() {
                predictor = predictor + row.number(&format!("x{k}")) * effect.at(g);
            }
            row.observe("y", Normal::new(predictor, noise));
        });
    });
    model.bind(&table).unwrap()
}

#[test]
fn more_spreads_than_axes_are_drawn_by_chains_and_agree_with_nuts() {
    let density = many_spreads();
    let collapse = Fit::new(Collapse::default()).seed(2);
    let posterior = collapse.run(&density).unwrap();
    assert_eq!(
        posterior.draws_level(),
        Level::Reliable,
        "{}",
        posterior.verdict()
    );
    let reference = Fit::new(Nuts::default()).seed(2).run(&density).unwrap();
    let summaries = reference.summaries();
    for own in posterior.corrected_summaries() {
        let other = summaries.iter().find(|one| one.name == own.name).unwrap();
        let (shift, ratio) = ((own.mean - other.mean) / other.sd, own.sd / other.sd);
        // 1,000 draws in one fit, at least 400 effective draws in the other, 90 numbers.
        assert!(shift.abs() < 0.25, "{} {shift}", own.name);
        assert!(ratio.ln().abs() < 0.2, "{} {ratio}", own.name);
    }
}

/// Eight means with known errors, whose standard deviation may be 0 or large.
fn schools() -> Bound {
    let y = vec![28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0];
    let error = vec![15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0];
    let levels = (0..8).map(|k| k.to_string()).collect();
    let table = Table::new()
        .with_number("y", y)
        .and_then(|t| t.with_number("error", error))
        .and_then(|t| t.with_category("g", (0..8).collect(), levels))
        .unwrap();
    let model = Model::new(|m| {
        let mean = m.sample("mean", Normal::new(0.0, 5.0));
        let spread = m.sample("spread", HalfCauchy::new(5.0));
        let effect = m.sample("effect", Normal::new(0.0, spread).expand([8]));
        m.rows(|row| {
            let centre = mean + effect.at(row.index("g"));
            row.observe("y", Normal::new(centre, row.number("error")));
        });
    });
    model.bind(&table).unwrap()
}

#[test]
fn the_long_tail_of_a_spread_takes_as_many_points_as_its_deviation_needs() {
    let density = schools();
    let collapsed = MarginalDensity::new(&density).unwrap();
    let mut bench = collapsed.workspace();
    let (mut mass, mut sums) = (0.0, [0.0; 2]);
    for cell in 0..4000 {
        let theta = -12.0 + 0.005 * f64::from(cell);
        let at = collapsed.evaluate(&[theta], &WarmStart::default(), Accuracy::Value, &mut bench);
        let share = (at.unwrap().value + 30.0).exp();
        mass += share;
        sums[0] += share * theta.exp();
        sums[1] += share * theta.exp().powi(2);
    }
    let (mean, square) = (sums[0] / mass, sums[1] / mass);
    let sd = (square - mean * mean).sqrt();
    for seed in 1..=8 {
        let fit = Fit::new(Collapse::default()).seed(seed);
        let posterior = fit.run(&density).unwrap();
        let summaries = posterior.corrected_summaries();
        let found = summaries.iter().find(|one| one.name == "spread").unwrap();
        let ratio = found.sd / sd;
        let trusted = posterior.draws_level() == Level::Reliable;
        assert!(ratio.ln().abs() < 0.08 || !trusted, "seed {seed}: {ratio}");
        assert!((found.mean - mean).abs() < 0.05 * sd, "seed {seed}");
    }
}

#[test]
fn a_fit_has_the_same_bits_on_any_number_of_threads_and_draws_again() {
    let bound = balanced();
    let fit = |threads: usize| {
        let fit = Fit::new(Collapse::default())
            .seed(5)
            .draws(128)
            .threads(threads);
        fit.run(&bound).unwrap()
    };
    let (one, three) = (fit(1), fit(3));
    assert_eq!(one.draws, three.draws);
    let more = one.draw_more(&bound, 512, 9).unwrap();
    assert_eq!(more.len(), 512 * bound.latents().size());
    let place = bound.latents().position("mean").unwrap();
    let place = bound.latents().range(place).start;
    let own = |draws: &[f64]| -> Vec<f64> {
        draws
            .iter()
            .skip(place)
            .step_by(bound.latents().size())
            .copied()
            .collect()
    };
    let (before, after) = (own(&one.draws), own(&more));
    let gap = (mean(&before) - mean(&after)) / sd(&after);
    assert!(
        gap.abs() < 4.0 * (1.0_f64 / 128.0 + 1.0 / 512.0).sqrt(),
        "{gap}"
    );
}
