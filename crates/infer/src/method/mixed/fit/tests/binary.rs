//! A binary response against brute force over the two hyperparameters.

use std::f64::consts::{PI, TAU};

use lehr_model::distribution::{Bernoulli, Distribution, HalfNormal, Normal};
use lehr_model::{Bound, Model};
use lehr_numeric::stream::Stream;
use lehr_table::Table;

use crate::estimate::Level;
use crate::fit::Fit;
use crate::method::Collapse;

const GROUPS: usize = 30;
const ROWS: usize = 180;

/// Rows of 30 groups with an offset.
struct Data {
    group: Vec<u32>,
    x: Vec<f64>,
    binary: Vec<f64>,
}

impl Data {
    fn new() -> Data {
        let mut random = Stream::new(23, "binary responses", 0);
        let mut effects = vec![0.0; GROUPS];
        random.fill_normal(&mut effects);
        let mut x = vec![0.0; ROWS];
        random.fill_normal(&mut x);
        let group: Vec<u32> = (0..ROWS).map(|n| (n * 7 % GROUPS) as u32).collect();
        let mut answer = |n: usize| {
            let logit = 0.3 + 1.2 * effects[group[n] as usize] + x[n];
            f64::from(u8::from(random.uniform() < 1.0 / (1.0 + (-logit).exp())))
        };
        let binary = (0..ROWS).map(&mut answer).collect();
        Data { group, x, binary }
    }

    /// binary ~ 1 + offset(x) + (1 | group).
    fn bind(&self) -> Bound {
        let levels = (0..GROUPS).map(|k| k.to_string()).collect();
        let table = Table::new()
            .with_number("x", self.x.clone())
            .and_then(|t| t.with_number("binary", self.binary.clone()))
            .and_then(|t| t.with_category("group", self.group.clone(), levels))
            .unwrap();
        let model = Model::new(|m| {
            let mean = m.sample("mean", Normal::new(0.0, 1.5));
            let spread = m.sample("spread", HalfNormal::new(1.0));
            let effect = m.sample("effect", Normal::new(0.0, spread).expand([GROUPS]));
            m.rows(|row| {
                let logit = mean + effect.at(row.index("group")) + row.offset("x");
                row.observe("binary", Bernoulli::with_logit(logit));
            });
        });
        model.bind(&table).unwrap()
    }

    /// ln of the integral of one group's rows and effect, by 401 equal steps.
    fn log_integral(&self, group: usize, mean: f64, spread: f64) -> f64 {
        let rows: Vec<usize> = (0..ROWS)
            .filter(|n| self.group[*n] as usize == group)
            .collect();
        let step = 20.0 * spread / 400.0;
        let height = |k: i32| {
            let v = f64::from(k - 200) * step;
            let row = |n: &usize| {
                let eta = mean + v + self.x[*n];
                let top = eta.max(0.0);
                self.binary[*n] * eta - top - ((eta - top).exp() + (-top).exp()).ln()
            };
            let square = (v / spread).powi(2) + (TAU * spread * spread).ln();
            rows.iter().map(row).sum::<f64>() - 0.5 * square
        };
        let heights: Vec<f64> = (0..=400).map(height).collect();
        let top = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        top + (heights.iter().map(|h| (h - top).exp()).sum::<f64>() * step).ln()
    }
}

#[test]
fn a_fit_has_the_moments_and_the_evidence_of_brute_force() {
    let data = Data::new();
    let bound = data.bind();
    let posterior = Fit::new(Collapse::default()).seed(4).run(&bound).unwrap();
    let (mut mass, mut sums) = (0.0, [[0.0; 2]; 2]);
    let (wide, fine) = (0.12, 0.1);
    for cell in 0..24 * 30 {
        let mean = -1.4 + wide * f64::from(cell / 30);
        let log_spread = -2.2 + fine * f64::from(cell % 30);
        let spread = log_spread.exp();
        let groups = (0..GROUPS).map(|g| data.log_integral(g, mean, spread));
        let prior = -0.5 * ((mean / 1.5).powi(2) + (TAU * 2.25).ln());
        let value = groups.sum::<f64>() + prior + log_spread - 0.5 * spread * spread
            + (2.0 / PI).sqrt().ln();
        let share = (value + 110.0).exp() * wide * fine;
        mass += share;
        for (sum, value) in sums.iter_mut().zip([mean, spread]) {
            sum[0] += share * value;
            sum[1] += share * value * value;
        }
    }
    let exact = mass.ln() - 110.0;
    let evidence = posterior.evidence.as_ref().unwrap();
    let (found, error) = (evidence.estimate.mean, evidence.estimate.error);
    assert!(
        (found - exact).abs() < 4.0 * error + 0.01,
        "{found} {exact} {error}"
    );
    let below = evidence.bound.unwrap();
    assert!(below.mean < exact + 3.0 * below.error);
    let summaries = posterior.corrected_summaries();
    for (name, sum) in ["mean", "spread"].iter().zip(sums) {
        let (mean, square) = (sum[0] / mass, sum[1] / mass);
        let sd = (square - mean * mean).sqrt();
        let found = summaries.iter().find(|one| one.name == *name).unwrap();
        assert!(
            (found.mean - mean).abs() < 0.12 * sd,
            "{name} {} {mean} {sd}",
            found.mean
        );
        assert!(
            (found.sd / sd - 1.0).abs() < 0.1,
            "{name} {} {sd}",
            found.sd
        );
    }
    let verdict = posterior.verdict();
    assert_eq!(posterior.draws_level(), Level::Reliable, "{verdict}");
}
