//! Every family recovers the slope that its data were generated with.

use std::fmt::Write;

use crate::fixture::{Noise, Scratch};

/// The slope of every generated table.
const SLOPE: f64 = 0.8;

impl Noise {
    /// Gamma variates of scale 1 for shapes of at least 1 (Marsaglia and Tsang).
    fn gamma(&mut self, shape: f64) -> f64 {
        let d = shape - 1.0 / 3.0;
        loop {
            let x = self.normal();
            let v = (1.0 + x / (9.0 * d).sqrt()).powi(3);
            let bound = 0.5 * x * x + d - d * v + d * v.max(1e-300).ln();
            if v > 0.0 && self.uniform().ln() < bound {
                return d * v;
            }
        }
    }

    fn poisson(&mut self, mean: f64) -> f64 {
        let (mut count, mut product) = (0.0, self.uniform());
        while product > (-mean).exp() {
            product *= self.uniform();
            count += 1.0;
        }
        count
    }

    fn hit(&mut self, logit: f64) -> bool {
        self.uniform() < 1.0 / (1.0 + (-logit).exp())
    }
}

/// Recovers the slope of a family from 500 rows of (y, x).
fn recovers(family: &str, response: &str, mut y: impl FnMut(f64, &mut Noise) -> String) {
    let mut noise = Noise(41);
    let mut text = String::from("y,x\n");
    for _ in 0..500 {
        let x = noise.normal();
        let y = y(SLOPE * x, &mut noise);
        let _ = writeln!(text, "{y},{x}");
    }
    let scratch = Scratch::new();
    scratch.write("data.csv", &text);
    let formula = format!("{response} ~ x");
    let arguments = [
        "fit",
        &formula,
        "data.csv",
        "--family",
        family,
        "--method",
        "full-rank",
        "--draws",
        "400",
    ];
    let json = scratch.judged(&arguments);
    assert_eq!(json["family"], family);
    let all = json["coefficients"].as_array().unwrap();
    let slopes: Vec<_> = (all.iter())
        .filter(|one| one["name"].as_str().unwrap().starts_with('x'))
        .collect();
    assert_eq!(slopes.len(), 1, "{json}");
    let (mean, sd) = (
        slopes[0]["mean"].as_f64().unwrap(),
        slopes[0]["sd"].as_f64().unwrap(),
    );
    assert!(sd < 0.2 && (mean - SLOPE).abs() < 4.0 * sd, "{mean} ± {sd}");
}

#[test]
fn gaussian() {
    recovers("gaussian", "y", |at, noise| {
        (at + noise.normal()).to_string()
    });
}

#[test]
fn student() {
    recovers("student", "y", |at, noise| {
        let scale = (2.0 / noise.gamma(2.0)).sqrt();
        (at + noise.normal() * scale).to_string()
    });
}

#[test]
fn bernoulli() {
    recovers("bernoulli", "y", |at, noise| {
        u8::from(noise.hit(at)).to_string()
    });
}

#[test]
fn binomial() {
    recovers("binomial", "y | trials(6)", |at, noise| {
        let hits = (0..6).filter(|_| noise.hit(at)).count();
        hits.to_string()
    });
}

#[test]
fn poisson() {
    recovers("poisson", "y", |at, noise| {
        noise.poisson(at.exp()).to_string()
    });
}

#[test]
fn negative_binomial() {
    recovers("negbinomial", "y", |at, noise| {
        let mean = at.exp() * noise.gamma(2.0) / 2.0;
        noise.poisson(mean).to_string()
    });
}

#[test]
fn gamma() {
    recovers("gamma", "y", |at, noise| {
        (at.exp() * noise.gamma(3.0) / 3.0).to_string()
    });
}

#[test]
fn beta() {
    recovers("beta", "y", |at, noise| {
        let mean = 1.0 / (1.0 + (-at).exp());
        let (a, b) = (
            noise.gamma(12.0 * mean + 1e-3),
            noise.gamma(12.0 * (1.0 - mean)),
        );
        (a / (a + b)).clamp(1e-6, 1.0 - 1e-6).to_string()
    });
}

#[test]
fn categorical() {
    recovers("categorical", "y", |at, noise| {
        String::from(if noise.hit(at) { "yes" } else { "no" })
    });
}

#[test]
fn ordinal() {
    recovers("ordinal", "y", |at, noise| {
        let u = noise.uniform();
        let latent = at + (u / (1.0 - u)).ln();
        (u8::from(latent > -1.0) + u8::from(latent > 1.0)).to_string()
    });
}

#[test]
fn ordinal_probit() {
    recovers("ordinal_probit", "y", |at, noise| {
        let latent = at + noise.normal();
        (u8::from(latent > -1.0) + u8::from(latent > 1.0)).to_string()
    });
}

#[test]
fn generalized_poisson() {
    recovers("generalized_poisson", "y", |at, noise| {
        let mut generation = noise.poisson(1.5 * at.exp() * 0.6);
        let mut all = 0.0;
        while generation > 0.0 {
            all += generation;
            generation = noise.poisson(0.4 * generation);
        }
        all.to_string()
    });
}

#[test]
fn zero_inflated_binomial() {
    recovers("zero_inflated_binomial", "y | trials(9)", |at, noise| {
        let empty = noise.uniform() < 0.3;
        let hits = (0..9).filter(|_| noise.hit(at)).count();
        if empty { 0 } else { hits }.to_string()
    });
}

#[test]
fn zero_inflated_poisson() {
    recovers("zero_inflated_poisson", "y", |at, noise| {
        let empty = noise.uniform() < 0.3;
        let count = noise.poisson(at.exp() * 2.0);
        if empty { 0.0 } else { count }.to_string()
    });
}

#[test]
fn zero_inflated_negative_binomial() {
    recovers("zero_inflated_negbinomial", "y", |at, noise| {
        let empty = noise.uniform() < 0.3;
        let mean = 3.0 * at.exp() * noise.gamma(3.0) / 3.0;
        let count = noise.poisson(mean);
        if empty { 0.0 } else { count }.to_string()
    });
}

#[test]
fn beta_binomial() {
    recovers("beta_binomial", "y | trials(9)", |at, noise| {
        let mean = 1.0 / (1.0 + (-at).exp());
        let (a, b) = (noise.gamma(20.0 * mean), noise.gamma(20.0 * (1.0 - mean)));
        let hits = (0..9).filter(|_| noise.uniform() < a / (a + b)).count();
        hits.to_string()
    });
}

#[test]
fn von_mises() {
    recovers("von_mises", "y", |at, noise| {
        // Rejection sampling from uniform angles.
        let apart = loop {
            let angle = std::f64::consts::PI * (2.0 * noise.uniform() - 1.0);
            if noise.uniform() < (4.0 * (angle.cos() - 1.0)).exp() {
                break angle;
            }
        };
        let angle = 2.0 * at.atan() + apart;
        (angle - std::f64::consts::TAU * (angle / std::f64::consts::TAU).round()).to_string()
    });
}

#[test]
fn lognormal() {
    recovers("lognormal", "y", |at, noise| {
        (at + 0.7 * noise.normal()).exp().to_string()
    });
}

#[test]
fn exponential() {
    recovers("exponential", "y", |at, noise| {
        (-at.exp() * (1.0 - noise.uniform()).ln() + 1e-12).to_string()
    });
}

#[test]
fn weibull() {
    recovers("weibull", "y", |at, noise| {
        let waited = -(1.0 - noise.uniform()).ln() + 1e-12;
        (at.exp() * waited.powf(1.0 / 1.6)).to_string()
    });
}

#[test]
fn inverse_gaussian() {
    recovers("inverse_gaussian", "y", |at, noise| {
        let (mean, shape) = (at.exp(), 3.0);
        let square = noise.normal().powi(2);
        let ratio = shape / mean;
        let larger = 1.0 + (square + (square * (square + 4.0 * ratio)).sqrt()) / (2.0 * ratio);
        let small = noise.uniform() * (1.0 + 1.0 / larger) <= 1.0;
        if small { mean / larger } else { mean * larger }.to_string()
    });
}

/// A positive count, or 0.
fn hurdle(noise: &mut Noise, mut count: impl FnMut(&mut Noise) -> f64) -> String {
    if noise.uniform() < 0.3 {
        return "0".into();
    }
    loop {
        let drawn = count(noise);
        if drawn > 0.0 {
            return drawn.to_string();
        }
    }
}

#[test]
fn hurdle_poisson() {
    recovers("hurdle_poisson", "y", |at, noise| {
        hurdle(noise, |noise| noise.poisson(2.0 * at.exp()))
    });
}

#[test]
fn hurdle_negative_binomial() {
    recovers("hurdle_negbinomial", "y", |at, noise| {
        hurdle(noise, |noise| {
            let mean = 3.0 * at.exp() * noise.gamma(3.0) / 3.0;
            noise.poisson(mean)
        })
    });
}

#[test]
fn poisson_lognormal() {
    recovers("poisson_lognormal", "y", |at, noise| {
        let rate = (1.0 + at + 0.8 * noise.normal()).exp();
        noise.poisson(rate).to_string()
    });
}

#[test]
fn binomial_logitnormal() {
    recovers("binomial_logitnormal", "y | trials(9)", |at, noise| {
        let own = at + 0.9 * noise.normal();
        let hits = (0..9).filter(|_| noise.hit(own)).count();
        hits.to_string()
    });
}

/// The mean of a column of CSV text.
fn column_mean(table: &str, name: &str) -> f64 {
    let mut lines = table.lines();
    let mut names = lines.next().unwrap().split(',');
    let place = names.position(|one| one.trim_matches('"') == name).unwrap();
    let values = lines.map(|line| line.split(',').nth(place).unwrap().parse::<f64>().unwrap());
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn the_effects_of_chosen_rows_are_drawn_and_rows_are_predicted_and_left_out() {
    let mut noise = Noise(43);
    let mut text = String::from("y,x\n90,0\n0,0\n");
    for _ in 0..150 {
        let x = noise.normal();
        let rate = (1.0 + SLOPE * x + 0.8 * noise.normal()).exp();
        let _ = writeln!(text, "{},{x}", noise.poisson(rate));
    }
    let scratch = Scratch::new();
    scratch.write("data.csv", &text);
    let fit = [
        "fit",
        "y ~ x",
        "data.csv",
        "--family",
        "poisson_lognormal",
        "--method",
        "full-rank",
        "--draws",
        "400",
        "-o",
        "fit.lehr",
    ];
    let json = scratch.judged(&fit);
    let words = json["choices"]["local latents"].as_str().unwrap();
    assert!(
        words.starts_with("row_effect integrated out by 16 nodes"),
        "{words}"
    );
    let draws = [
        "draws",
        "fit.lehr",
        "data.csv",
        "-o",
        "draws.csv",
        "--locals",
        "1,2",
    ];
    scratch.judged(&draws);
    let table = std::fs::read_to_string(scratch.path("draws.csv")).unwrap();
    let mean = |name: &str| column_mean(&table, name);
    assert!(mean("row_effect[1]") > 2.0 && mean("row_effect[2]") < -0.2);
    let left_out = scratch.run(&["loo", "fit.lehr", "data.csv"]);
    assert_ne!(left_out.code, Some(2), "{}", left_out.stderr);
    let predict = ["predict", "fit.lehr", "data.csv", "-o", "predicted.csv"];
    assert_ne!(scratch.run(&predict).code, Some(2));
    let wrong = [
        "draws", "fit.lehr", "data.csv", "-o", "more.csv", "--locals", "999",
    ];
    let ended = scratch.expect(2, &wrong);
    assert!(
        ended
            .stderr
            .contains("expected rows from 1 to 152, found 999"),
        "{}",
        ended.stderr
    );
}
