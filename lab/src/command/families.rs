//! `lehr-lab families`: how long regressions of several families take beside Poisson's.

use std::time::Instant;

use anyhow::Result;
use clap::Args;
use lehr_infer::fit::Fit;
use lehr_infer::posterior::Seconds;
use lehr_numeric::stream::Stream;
use lehr_table::Table;
use lehr_workflow::regress;

/// Times fits of simulated responses of several families, as ratios to Poisson's in the same run
#[derive(Debug, Args)]
pub(crate) struct Families {
    /// Rows of the table
    #[arg(long, default_value_t = 5000)]
    rows: usize,
    /// By which method
    #[arg(long, default_value = "full-rank")]
    method: String,
}

/// A family, and its response given the linear predictor and a normal and a uniform number.
type Response = (&'static str, fn(f64, f64, f64) -> f64);

const RESPONSES: [Response; 7] = [
    ("poisson", |at, _, u| count(at, u)),
    ("negbinomial", |at, e, u| count(at + 0.7 * e, u)),
    ("zero_inflated_poisson", |at, e, u| {
        if e < -0.5 { 0.0 } else { count(at, u) }
    }),
    ("gamma", |at, e, _| (at + 0.5 * e).exp()),
    ("beta", |at, e, _| 1.0 / (1.0 + (-0.7 * at - 0.8 * e).exp())),
    ("ordinal", |at, e, _| {
        (at + 1.7 * e).clamp(-1.9, 1.9).floor() + 2.0
    }),
    ("student", |at, e, u| at + e / (0.2 + u)),
];

/// A Poisson count by inversion.
fn count(log_rate: f64, uniform: f64) -> f64 {
    let rate = log_rate.exp();
    let (mut left, mut count, mut chance) = (uniform, 0.0, (-rate).exp());
    while left > chance && count < 1e4 {
        left -= chance;
        count += 1.0;
        chance *= rate / count;
    }
    count
}

impl Families {
    /// Prints seconds, how many times Poisson's they are, and where they went.
    pub(crate) fn run(&self) -> Result<()> {
        println!(
            "{:22} {:>8} {:>8} {:>8} {:>8} {:>8}",
            "family", "seconds", "ratio", "start", "train", "judge"
        );
        let mut usual = None;
        for response in RESPONSES {
            let (all, parts) = self.seconds(response)?;
            let ratio = all / *usual.get_or_insert(all);
            let Seconds {
                start,
                train,
                evaluate,
                ..
            } = parts;
            println!(
                "{:22} {all:8.3} {ratio:8.2} {start:8.3} {train:8.3} {evaluate:8.3}",
                response.0
            );
        }
        Ok(())
    }

    /// Seconds of a whole fit, and of its parts.
    fn seconds(&self, (family, response): Response) -> Result<(f64, Seconds)> {
        let mut stream = Stream::new(1, "families", 0);
        let mut numbers = vec![0.0; 4 * self.rows];
        stream.fill_normal(&mut numbers);
        let columns: Vec<Vec<f64>> = numbers.chunks(self.rows).map(<[f64]>::to_vec).collect();
        let y = (0..self.rows).map(|n| {
            let at = 0.8 + 0.4 * columns[0][n] - 0.3 * columns[1][n];
            response(at, columns[3][n], stream.uniform())
        });
        let table = Table::new()
            .with_number("y", y.collect())?
            .with_number("a", columns[0].clone())?
            .with_number("b", columns[1].clone())?
            .with_number("c", columns[2].clone())?;
        let clock = Instant::now();
        let fit = Fit::named(&self.method)?;
        let fitted = regress("y ~ a + b + c", &table)?
            .family(family)?
            .with(fit)
            .fit()?;
        let all = clock.elapsed().as_secs_f64();
        Ok((all, fitted.posterior.seconds))
    }
}
