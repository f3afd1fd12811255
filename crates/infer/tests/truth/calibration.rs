//! Posteriors against many simulated truths, and bounds at the sizes of published problems.

use lehr_infer::fit::Fit;
use lehr_infer::posterior::Posterior;
use lehr_infer::train::Schedule;
use lehr_model::distribution::{Bernoulli, Distribution, HalfNormal, Normal, Poisson};
use lehr_model::{Bound, Model};
use lehr_numeric::stream::Stream;
use lehr_table::Table;

use crate::{common, fixed, has, run, with};

fn logistic(x: Vec<f64>, weight: &[f64], stream: &mut Stream) -> Bound {
    let width = weight.len();
    let rows = x.len() / width;
    let label = |row: &[f64]| {
        let logit: f64 = row.iter().zip(weight).map(|(x, w)| x * w).sum();
        f64::from(stream.uniform() < 1.0 / (1.0 + (-logit).exp()))
    };
    let y: Vec<f64> = x.chunks_exact(width).map(label).collect();
    let model = Model::new(move |m| {
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([width]));
        m.rows(|row| row.observe("y", Bernoulli::with_logit(row.matrix("x").dot(weight))));
    });
    let table = Table::new()
        .with_number("y", y)
        .and_then(|t| t.with_matrix("x", rows, width, x))
        .unwrap();
    model.bind(&table).unwrap()
}

/// The number of draws, thinned to a few, below each true weight.
fn ranks(posterior: &Posterior, truth: &[f64], kept: usize) -> Vec<usize> {
    let width = truth.len();
    let draws = posterior.draws.chunks_exact(width).take(kept);
    let below = |i: usize| draws.clone().filter(|z| z[i] < truth[i]).count();
    (0..width).map(below).collect()
}

#[test]
#[ignore = "two hundred fits take a minute"]
fn ranks_of_simulated_truths_are_uniform() {
    const FITS: u64 = 200;
    const WIDTH: usize = 3;
    const KEPT: usize = 39;
    const BINS: usize = 10;
    let mut counts = [[0_u32; BINS]; WIDTH];
    for seed in 0..FITS {
        let mut stream = Stream::new(seed, "simulated", 0);
        let truth: Vec<f64> = (0..WIDTH).map(|_| stream.normal()).collect();
        let mut x = vec![0.0; 40 * WIDTH];
        stream.fill_normal(&mut x);
        let density = logistic(x, &truth, &mut stream);
        let fit = with(fixed("sl-dais", 1500), "surrogate-rows", 20);
        let posterior = run(with(fit, "lanes", 4).seed(seed).draws(64), &density);
        for (i, rank) in ranks(&posterior, &truth, KEPT).into_iter().enumerate() {
            counts[i][rank * BINS / (KEPT + 1)] += 1;
        }
    }
    let expected = FITS as f64 / BINS as f64;
    for (i, bins) in counts.iter().enumerate() {
        let terms = bins
            .iter()
            .map(|&n| (f64::from(n) - expected).powi(2) / expected);
        let chi_square: f64 = terms.sum();
        println!(
            "weight {i}: χ² = {chi_square:.1} on {} degrees, {bins:?}",
            BINS - 1
        );
        // The 99.9 % quantile of χ² on nine degrees of freedom.
        assert!(chi_square < 27.9, "weight {i}: {bins:?}");
    }
}

/// A response of a table that is drawn from the prior.
#[derive(Clone, Copy)]
enum Response {
    Binary,
    Count,
}

/// Simulated rows in groups, and the prior draws that they were simulated from: an intercept, a
/// slope, the logarithm of the standard deviation and an effect of each group.
fn grouped(response: Response, (groups, each): (usize, usize), seed: u64) -> (Bound, Vec<f64>) {
    let mut stream = Stream::new(seed, "grouped", 0);
    let (level, slope) = (0.7 * stream.normal(), 0.7 * stream.normal());
    let spread = stream.normal().abs();
    let effects: Vec<f64> = (0..groups).map(|_| spread * stream.normal()).collect();
    let codes: Vec<u32> = (0..groups * each).map(|row| (row / each) as u32).collect();
    let mut x = vec![0.0; codes.len()];
    stream.fill_normal(&mut x);
    let drawn = |(x, code): (&f64, &u32)| {
        let predictor = level + slope * x + effects[*code as usize];
        match response {
            Response::Binary => f64::from(stream.uniform() < 1.0 / (1.0 + (-predictor).exp())),
            Response::Count => poisson(predictor.exp(), &mut stream),
        }
    };
    let y: Vec<f64> = x.iter().zip(&codes).map(drawn).collect();
    let model = Model::new(move |m| {
        let level = m.sample("level", Normal::new(0.0, 0.7));
        let slope = m.sample("slope", Normal::new(0.0, 0.7));
        let spread = m.sample("spread", HalfNormal::new(1.0));
        let effect = m.sample("effect", Normal::new(0.0, spread).expand([groups]));
        m.rows(|row| {
            let predictor = level + slope * row.number("x") + effect.at(row.index("g"));
            match response {
                Response::Binary => row.observe("y", Bernoulli::with_logit(predictor)),
                Response::Count => row.observe("y", Poisson::with_log_rate(predictor)),
            }
        });
    });
    let levels = (0..groups).map(|g| format!("g{g}")).collect();
    let table = Table::new().with_number("y", y);
    let table = table.and_then(|table| table.with_number("x", x));
    let table = table.and_then(|table| table.with_category("g", codes, levels));
    let mut truth = vec![level, slope, spread.ln()];
    truth.extend(effects);
    (model.bind(&table.unwrap()).unwrap(), truth)
}

/// A Poisson count, by the waiting times of its events.
fn poisson(rate: f64, stream: &mut Stream) -> f64 {
    let (mut time, mut count) = (-stream.uniform().ln(), 0.0);
    while time < rate {
        time -= stream.uniform().ln();
        count += 1.0;
    }
    count
}

/// The ranks of the intercept, the slope, the standard deviation and two effects by `collapse` over
/// tables drawn from the prior.
fn assert_collapse_is_calibrated(response: Response, shape: (usize, usize)) {
    const FITS: u64 = 200;
    const KEPT: usize = 5;
    const BINS: usize = 10;
    let mut counts = [[0_u32; BINS]; KEPT];
    for seed in 0..FITS {
        let (density, truth) = grouped(response, shape, seed);
        let fit = Fit::named("collapse").unwrap().seed(seed).draws(512);
        let posterior = run(fit, &density);
        let (weights, size) = (posterior.weights(), truth.len());
        for (k, bins) in counts.iter_mut().enumerate() {
            let draws = posterior.draws.chunks_exact(size).zip(&weights);
            let below: f64 = draws.filter(|(z, _)| z[k] < truth[k]).map(|(_, w)| w).sum();
            bins[((below * BINS as f64) as usize).min(BINS - 1)] += 1;
        }
    }
    let expected = FITS as f64 / BINS as f64;
    for (k, bins) in counts.iter().enumerate() {
        let terms = bins
            .iter()
            .map(|&n| (f64::from(n) - expected).powi(2) / expected);
        let chi_square: f64 = terms.sum();
        println!("{k}: χ² = {chi_square:.1}, {bins:?}");
        // The 99.9 % quantile of χ² on nine degrees of freedom.
        assert!(chi_square < 27.9, "{k}: {bins:?}");
    }
}

#[test]
#[ignore = "two hundred fits take a minute"]
fn collapse_is_calibrated_over_groups_of_binary_rows() {
    assert_collapse_is_calibrated(Response::Binary, (8, 10));
}

#[test]
#[ignore = "two hundred fits take a minute"]
fn collapse_is_calibrated_over_small_groups_of_counts() {
    assert_collapse_is_calibrated(Response::Count, (40, 3));
}

/// 208 rows of 61 correlated columns with a constant, standardised.
fn sonar_like() -> Bound {
    const ROWS: usize = 208;
    const WIDTH: usize = 61;
    let mut stream = Stream::new(7, "sonar", 0);
    let mut x = vec![0.0; ROWS * WIDTH];
    for row in x.chunks_exact_mut(WIDTH) {
        row[0] = 1.0;
        let mut last = stream.normal();
        for entry in &mut row[1..] {
            last = 0.85 * last + (1.0 - 0.85_f64.powi(2)).sqrt() * stream.normal();
            *entry = last;
        }
    }
    let weight: Vec<f64> = (0..WIDTH).map(|_| 0.7 * stream.normal()).collect();
    logistic(x, &weight, &mut stream)
}

fn long(method: &str, base: &str) -> Fit<'static> {
    let mut fit = with(fixed(method, 12_000).seed(2).draws(20_000), "lanes", 4);
    common(&mut fit).train.schedule = Schedule::Staircase { start: 2e-3 };
    let fit = with(fit, "chain-steps", 8);
    if has(fit.method.info(), "base") {
        fit.set("base", base).unwrap()
    } else {
        fit
    }
}

#[test]
#[ignore = "five long fits take minutes"]
fn chains_come_close_to_the_evidence_at_the_size_of_sonar() {
    let density = sonar_like();
    let gaussian = run(long("full-rank", ""), &density);
    let dais = run(long("dais", "full-rank"), &density);
    let surrogate = run(long("sl-dais", "full-rank"), &density);
    // The best proposal's importance weights, whose k̂ is judged first.
    let evidence = dais.evidence.as_ref().unwrap().estimate;
    println!(
        "log evidence {:.3} ± {:.3}, k̂ {:.2}",
        evidence.mean,
        evidence.error,
        dais.importance().unwrap().pareto.shape
    );
    for (name, posterior) in [
        ("full rank", &gaussian),
        ("dais", &dais),
        ("sl-dais", &surrogate),
    ] {
        let bound = posterior.bound().unwrap();
        let gap = evidence.mean - bound.mean;
        let seconds = posterior.seconds.train;
        println!(
            "{name}: bound {:.3} ± {:.3}, gap {gap:.3}, {seconds:.1} s",
            bound.mean, bound.error
        );
        assert!(gap > -4.0 * evidence.error.hypot(bound.error));
    }
    assert!(
        dais.importance().unwrap().pareto.shape < 0.7,
        "{}",
        dais.importance().unwrap().pareto.shape
    );
    assert!(evidence.mean - dais.bound().unwrap().mean < 0.35);
    assert!(evidence.mean - surrogate.bound().unwrap().mean < 0.35);
}

#[test]
#[ignore = "three long fits take minutes"]
fn chains_on_independent_bases_improve_clearly_at_the_size_of_sonar() {
    let density = sonar_like();
    let base = run(long("mean-field", ""), &density).bound().unwrap();
    for method in ["dais", "sl-dais"] {
        let posterior = run(long(method, "mean-field"), &density);
        let gain = posterior.bound().unwrap().mean - base.mean;
        println!(
            "{method}: {gain:.3} nats above mean field at {:.3}",
            base.mean
        );
        assert!(gain > 3.0, "{method}: {gain}");
    }
}
