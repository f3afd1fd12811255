//! `hmc`: the leapfrog, the table of acceptances, lanes, and moments.

use lehr_infer::chains::{CHAINS, Chains, Hmc, Lockstep, LogDensity, Noise, Stride};
use lehr_infer::fit::Fit;
use lehr_infer::guide::Whitening;
use lehr_infer::judge::Level;

use crate::model::{Linear, beta_binomial, gamma_poisson, normals, standard};
use crate::{assert_mean, place, unwatched};

#[test]
fn a_leapfrog_reversed_returns_to_the_start() {
    let linear = Linear::conditioned(6, 50.0);
    let log_density = LogDensity::new(place(&linear.density, &Whitening::Identity), 3);
    let (start, mut momentum) = (normals(18, 1), normals(18, 2));
    let mut lockstep = Lockstep::new(&log_density, start.clone());
    let stride = Stride {
        step_size: 0.1,
        leapfrogs: 9,
    };
    lockstep.leapfrog(&stride, &mut momentum);
    assert!(
        lockstep
            .x
            .iter()
            .zip(&start)
            .any(|(a, b)| (a - b).abs() > 0.1)
    );
    for p in &mut momentum {
        *p = -*p;
    }
    lockstep.leapfrog(&stride, &mut momentum);
    for (found, start) in lockstep.x.iter().zip(&start) {
        assert!((found - start).abs() < 1e-12, "{found} for {start}");
    }
}

#[test]
fn acceptances_on_a_standard_normal_are_those_of_the_table() {
    let stride = Stride {
        step_size: 0.5,
        leapfrogs: 3,
    };
    for (size, expected) in [(29, 0.859), (55, 0.807), (128, 0.718), (256, 0.594)] {
        let density = standard(size);
        let log_density = LogDensity::new(place(&density, &Whitening::Identity), 64);
        let mut lockstep = Lockstep::new(&log_density, normals(64 * size, 3));
        let mut acceptances = Vec::new();
        for iteration in 0..150 {
            let noise = Noise::new(4, iteration, size, 64);
            acceptances.extend(lockstep.step(&stride, &noise).acceptances);
        }
        let mean = acceptances.iter().sum::<f64>() / acceptances.len() as f64;
        assert!(
            (mean - expected).abs() < 0.01,
            "{size}: {mean} for {expected}"
        );
    }
}

#[test]
fn lanes_are_single_runs_with_the_same_noise() {
    let linear = Linear::conditioned(5, 20.0);
    let place = place(&linear.density, &Whitening::Identity);
    let stride = Stride {
        step_size: 0.12,
        leapfrogs: 8,
    };
    let start = normals(3 * 5, 5);
    let together = LogDensity::new(place, 3);
    let mut together = Lockstep::new(&together, start.clone());
    let alone = LogDensity::new(place, 1);
    let mut alone: Vec<Lockstep<'_>> = start
        .chunks_exact(5)
        .map(|x| Lockstep::new(&alone, x.to_vec()))
        .collect();
    for iteration in 0..20 {
        let noise = Noise::new(6, iteration, 5, 3);
        together.step(&stride, &noise);
        for (chain, single) in alone.iter_mut().enumerate() {
            let own = Noise {
                momentum: noise.momentum[chain * 5..(chain + 1) * 5].to_vec(),
                accept: vec![noise.accept[chain]],
                ..Noise::new(6, iteration, 5, 1)
            };
            single.step(&stride, &own);
            let apart = single.x.iter().zip(&together.x[chain * 5..]);
            let apart = apart.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(
                apart < 1e-10,
                "chain {chain}, iteration {iteration}: {apart}"
            );
        }
    }
}

#[test]
fn the_same_noise_does_not_depend_on_how_many_chains_there_are() {
    let (few, many) = (Noise::new(1, 2, 3, 2), Noise::new(1, 2, 3, 5));
    assert_eq!(few.momentum, many.momentum[..6]);
    assert_eq!(few.accept, many.accept[..2]);
}

#[test]
fn an_ill_conditioned_gaussian_has_its_moments_in_its_frame() {
    let linear = Linear::conditioned(20, 1e6);
    let (posterior, whitening) = (linear.regression.posterior(), linear.whitening());
    let log_density = LogDensity::new(place(&linear.density, &whitening), CHAINS);
    let trace = Hmc::default().run(&log_density, 7, &mut unwatched).unwrap();
    assert_eq!((trace.chains, trace.length()), (16, 250));
    for i in 0..20 {
        let mean = posterior.mean[(i, 0)];
        assert_mean(&trace, &format!("mean {i}"), mean, |z| z[i]);
        let variance = posterior.covariance[(i, i)];
        assert_mean(&trace, &format!("variance {i}"), variance, |z| {
            (z[i] - mean).powi(2)
        });
    }
    let chains = Chains::of(&trace);
    assert_eq!(chains.level(), Level::Reliable, "{:?}", chains.failures());
    // Three to five gradients per draw, and as many for the iterations of the warm-up.
    let gradients = trace.gradients as f64 / (16.0 * (150.0 + 125.0));
    assert!((2.0..6.0).contains(&gradients), "{gradients}");
}

#[test]
fn conjugate_models_have_their_moments() {
    let (beta, gamma) = (beta_binomial(), gamma_poisson());
    // Near the posteriors of logit p and ln λ.
    let whitening = |shift: f64, scale: f64| Whitening::Diagonal {
        shift: [shift].into(),
        scale: [scale].into(),
    };
    let around = whitening(0.4, 0.5);
    let log_density = LogDensity::new(place(&beta, &around), CHAINS);
    let trace = Hmc::default().run(&log_density, 8, &mut unwatched).unwrap();
    let p = |z: &[f64]| 1.0 / (1.0 + (-z[0]).exp());
    assert_mean(&trace, "p", 0.6, p);
    assert_mean(&trace, "p²", 9.0 * 10.0 / (15.0 * 16.0), |z| p(z).powi(2));
    let around = whitening(1.25, 0.27);
    let log_density = LogDensity::new(place(&gamma, &around), CHAINS);
    let trace = Hmc::default().run(&log_density, 9, &mut unwatched).unwrap();
    assert_mean(&trace, "rate", 14.0 / 4.0, |z| z[0].exp());
    assert_mean(&trace, "rate²", 14.0 * 15.0 / 16.0, |z| (2.0 * z[0]).exp());
}

#[test]
fn bits_do_not_depend_on_threads() {
    let linear = Linear::conditioned(5, 30.0);
    let on = |threads: usize| {
        let fit = Fit::named("hmc").unwrap().seed(6).draws(160);
        fit.threads(threads).run(&linear.density).unwrap().draws
    };
    let one = on(1);
    assert_eq!(one, on(2));
    assert_eq!(one, on(4));
}

#[test]
fn thinned_draws_are_distributed_as_the_posterior() {
    // The largest distance between the distribution functions of 400 nearly independent draws; it
    // exceeds 1.63/√400 in 1 % of samples.
    let density = standard(3);
    let log_density = LogDensity::new(place(&density, &Whitening::Identity), CHAINS);
    let trace = Hmc::default().run(&log_density, 9, &mut unwatched).unwrap();
    let mut first: Vec<f64> = trace.coordinate(0).into_iter().step_by(5).collect();
    first.sort_by(f64::total_cmp);
    let below = |x: f64| 0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2);
    let count = first.len() as f64;
    let gap = |(k, x): (usize, &f64)| ((k as f64 + 0.5) / count - below(*x)).abs();
    let largest = first.iter().enumerate().map(gap).fold(0.0, f64::max);
    assert!(largest < 1.63 / count.sqrt(), "{largest}");
}
