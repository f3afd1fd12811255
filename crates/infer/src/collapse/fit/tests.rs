//! Whole fits against a grid of the hyperparameters.

use lehr_density::Density;
use lehr_model::distribution::{Distribution, Exponential, HalfNormal, Normal};
use lehr_model::{Bound, Model};
use lehr_numeric::stream::Stream;
use lehr_numeric::summary::{mean, sd};
use lehr_table::Table;

use crate::collapse::collapsed::{Collapsed, Near};
use crate::collapse::gap::Care;
use crate::fit::Fit;
use crate::judge::Level;
use crate::method::Collapse;

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

#[test]
fn draws_have_the_moments_and_the_evidence_of_a_grid() {
    let density = balanced();
    let fit = Fit::new(Collapse::default()).seed(3);
    let posterior = fit.run(&density).unwrap();
    let collapsed = Collapsed::new(&density).unwrap();
    let mut bench = collapsed.bench();
    let (steps, width) = (80, 0.05);
    let (mut mass, mut sums) = (0.0, [[0.0; 2]; 2]);
    for cell in 0..steps * steps {
        let theta = [
            -3.0 + width * f64::from(cell / steps),
            -1.5 + width * f64::from(cell % steps),
        ];
        let value = collapsed
            .at(&theta, &Near::default(), Care::Value, &mut bench)
            .unwrap()
            .value;
        let share = (value + 100.0).exp() * width * width;
        mass += share;
        for (sum, theta) in sums.iter_mut().zip(theta) {
            sum[0] += share * theta.exp();
            sum[1] += share * theta.exp().powi(2);
        }
    }
    let evidence = posterior.evidence.as_ref().unwrap();
    let exact = mass.ln() - 100.0;
    assert!(
        (evidence.estimate.mean - exact).abs() < 0.02,
        "{evidence:?} {exact}"
    );
    let bound = evidence.bound.unwrap();
    assert!(bound.mean < exact + 3.0 * bound.error);
    for (name, sum) in ["spread", "noise"].iter().zip(sums) {
        let (mean, square) = (sum[0] / mass, sum[1] / mass);
        let sd = (square - mean * mean).sqrt();
        let summaries = posterior.corrected_summaries();
        let found = summaries.iter().find(|one| one.name == *name).unwrap();
        assert!(
            (found.mean - mean).abs() < 0.05 * sd,
            "{name} {} {mean}",
            found.mean
        );
        assert!(
            (found.sd / sd - 1.0).abs() < 0.06,
            "{name} {} {sd}",
            found.sd
        );
    }
    assert_eq!(
        posterior.draws_level(),
        Level::Reliable,
        "{}",
        posterior.verdict()
    );
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
