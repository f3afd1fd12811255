//! `nuts`: moments, the funnel, and the same bits on any number of threads.

use lehr_density::Density;
use lehr_infer::chains::{
    ChainError, ChainProgress, Chains, LogDensity, Metric, NutsSampler, Trace,
};
use lehr_infer::guide::Whitening;
use lehr_infer::judge::Level;
use lehr_infer::observer::Wish;

use crate::model::{Linear, beta_binomial, funnel, gamma_poisson, standard};
use crate::{assert_mean, place, unwatched};

fn run(density: &dyn Density, whitening: &Whitening, nuts: &NutsSampler, seed: u64) -> Trace {
    let log_density = LogDensity::new(place(density, whitening), 1);
    nuts.run(&log_density, seed, &mut unwatched).unwrap()
}

#[test]
fn an_ill_conditioned_gaussian_has_its_moments_with_and_without_a_frame() {
    let linear = Linear::conditioned(20, 1e6);
    let posterior = linear.regression.posterior();
    for whitening in [linear.whitening(), Whitening::Identity] {
        let nuts = NutsSampler::within(&whitening, 20);
        let trace = run(&linear.density, &whitening, &nuts, 1);
        for i in 0..20 {
            let mean = posterior.mean[(i, 0)];
            assert_mean(&trace, &format!("mean {i}"), mean, |z| z[i]);
            let variance = posterior.covariance[(i, i)];
            let square = |z: &[f64]| (z[i] - mean).powi(2);
            assert_mean(&trace, &format!("variance {i}"), variance, square);
        }
        let chains = Chains::of(&trace);
        assert_eq!(chains.level(), Level::Reliable, "{:?}", chains.failures());
    }
}

#[test]
fn conjugate_models_have_their_moments() {
    // p ~ Beta(9, 6) through the logit, λ ~ Gamma(14, 4) through the logarithm.
    let whitening = Whitening::Identity;
    let (beta, gamma) = (beta_binomial(), gamma_poisson());
    // Enough draws for the squares to distinguish posteriors from their square roots.
    let nuts = NutsSampler {
        draws: 40_000,
        ..NutsSampler::within(&whitening, 1)
    };
    let trace = run(&beta, &whitening, &nuts, 2);
    let p = |z: &[f64]| 1.0 / (1.0 + (-z[0]).exp());
    assert_mean(&trace, "p", 0.6, p);
    assert_mean(&trace, "p²", 9.0 * 10.0 / (15.0 * 16.0), |z| p(z).powi(2));
    let trace = run(&gamma, &whitening, &nuts, 3);
    assert_mean(&trace, "rate", 14.0 / 4.0, |z| z[0].exp());
    assert_mean(&trace, "rate²", 14.0 * 15.0 / 16.0, |z| (2.0 * z[0]).exp());
}

#[test]
fn thinned_draws_are_distributed_as_the_posterior() {
    // The largest distance between the distribution functions of 400 nearly independent draws; it
    // exceeds 1.63/√400 in 1 % of samples.
    let trace = run(
        &standard(3),
        &Whitening::Identity,
        &NutsSampler::within(&Whitening::Identity, 3),
        4,
    );
    let mut first: Vec<f64> = trace
        .draws
        .chunks_exact(3)
        .map(|z| z[0])
        .step_by(10)
        .collect();
    first.sort_by(f64::total_cmp);
    let below = |x: f64| 0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2);
    let count = first.len() as f64;
    let gaps = first
        .iter()
        .enumerate()
        .map(|(k, x)| ((k as f64 + 0.5) / count - below(*x)).abs());
    let largest = gaps.fold(0.0, f64::max);
    assert!(largest < 1.63 / count.sqrt(), "{largest}");
}

#[test]
fn the_funnel_is_warned_of_and_walnuts_reaches_into_it() {
    // P(v < −3) = Φ(−1)
    let density = funnel(9);
    let plain = NutsSampler {
        metric: Metric::Diagonal,
        ..NutsSampler::within(&Whitening::Identity, 10)
    };
    // Not every run reaches the neck of the funnel, and no run may be called reliable.
    let mut divergences = 0;
    for seed in 5..9 {
        let chains = Chains::of(&run(&density, &Whitening::Identity, &plain, seed));
        divergences += chains.divergences.len();
        assert_ne!(chains.level(), Level::Reliable, "{seed}");
    }
    assert!(divergences > 0);
    let split = NutsSampler {
        walnuts: true,
        draws: 10_000,
        warm_up: 1000,
        ..plain
    };
    // The share of a single chain has a standard deviation of 0.03, that of 32 chains 0.006.
    let share = |seed: u64| {
        let trace = run(&density, &Whitening::Identity, &split, seed);
        let below = trace.draws.chunks_exact(10).filter(|z| z[0] < -3.0).count();
        below as f64 / trace.len() as f64
    };
    let share = (5..13).map(share).sum::<f64>() / 8.0;
    assert!((share - 0.159).abs() < 0.02, "{share}");
}

#[test]
fn bits_do_not_depend_on_threads() {
    let linear = Linear::conditioned(5, 30.0);
    let nuts = NutsSampler {
        draws: 40,
        warm_up: 60,
        ..NutsSampler::within(&Whitening::Identity, 5)
    };
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().unwrap();
        pool.install(|| run(&linear.density, &Whitening::Identity, &nuts, 6))
    };
    let one = on(1);
    assert_eq!((one.chains, one.length()), (4, 40));
    assert_eq!(one, on(2));
    assert_eq!(one, on(4));
    assert_ne!(one.draws[..5], one.draws[40 * 5..41 * 5], "chains differ");
}

#[test]
fn a_stop_keeps_what_has_been_drawn() {
    let density = standard(2);
    let log_density = LogDensity::new(place(&density, &Whitening::Identity), 1);
    let nuts = NutsSampler {
        draws: 1000,
        warm_up: 50,
        ..NutsSampler::within(&Whitening::Identity, 2)
    };
    let stop_at = |limit: u64| {
        nuts.run(&log_density, 7, &mut |progress: &ChainProgress| {
            if progress.done >= limit {
                Wish::Stop
            } else {
                Wish::Continue
            }
        })
    };
    let trace = stop_at(500).unwrap();
    assert!(trace.chains >= 1 && (1..1000).contains(&trace.length()));
    assert_eq!(trace.draws.len(), trace.len() * 2);
    // Such a long warm-up that it cannot end between two reports.
    let long = NutsSampler {
        warm_up: 1_000_000,
        ..nuts
    };
    let stopped = long.run(&log_density, 7, &mut |_: &ChainProgress| Wish::Stop);
    assert!(matches!(stopped, Err(ChainError::Stopped { .. })));
}
