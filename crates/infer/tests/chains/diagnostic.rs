//! Diagnostics of chains: energies, disagreement between chains, and numbers that are not finite.

use lehr_infer::chains::{CHAINS, Chains, Hmc, LogDensity, Trace};
use lehr_infer::guide::Whitening;
use lehr_infer::judge::Level;

use crate::model::{normals, standard};
use crate::{place, unwatched};

#[test]
fn energies_of_a_gaussian_have_all_the_information() {
    let density = standard(50);
    let log_density = LogDensity::new(place(&density, &Whitening::Identity), CHAINS);
    let hmc = Hmc {
        draws: 16 * 1000,
        ..Hmc::default()
    };
    let chains = Chains::of(&hmc.run(&log_density, 1, &mut unwatched).unwrap());
    let mean = chains.energy_information.iter().sum::<f64>() / 16.0;
    assert!((mean - 1.0).abs() < 0.1, "{mean}");
}

/// Four chains of independent draws of two coordinates.
fn independent() -> Trace {
    Trace {
        chains: 4,
        draws: normals(4 * 500 * 2, 2),
        energies: normals(4 * 500, 3),
        acceptances: vec![0.8; 4],
        ..Trace::default()
    }
}

fn judged(trace: &Trace) -> (Level, String) {
    let chains = Chains::of(trace);
    let failures = chains.failures();
    let words = failures
        .iter()
        .map(|one| format!("{}: {}", one.found, one.advice));
    (chains.level(), words.collect::<Vec<String>>().join("; "))
}

#[test]
fn good_chains_are_reliable() {
    let (level, words) = judged(&independent());
    assert_eq!((level, words.as_str()), (Level::Reliable, ""));
}

#[test]
fn each_failure_is_named_with_what_to_try() {
    type Spoil = fn(&mut Trace);
    let cases: [(&str, Level, Spoil); 6] = [
        ("R̂", Level::Untrusted, |t| {
            t.draws[..1000].iter_mut().for_each(|z| *z += 1.0);
        }),
        ("effective draws", Level::Doubtful, |t| {
            t.draws.truncate(4 * 60 * 2);
            t.energies.truncate(4 * 60);
        }),
        ("divergences", Level::Doubtful, |t| t.divergences = vec![3]),
        ("walnuts", Level::Untrusted, |t| {
            t.divergences = (0..21).collect();
        }),
        ("E-BFMI", Level::Doubtful, |t| {
            t.energies.sort_by(f64::total_cmp);
        }),
        ("use nuts", Level::Doubtful, |t| t.acceptances[0] = 0.4),
    ];
    for (word, expected, spoil) in cases {
        let mut trace = independent();
        spoil(&mut trace);
        let (level, words) = judged(&trace);
        assert_eq!(level, expected, "{words}");
        assert!(words.contains(word), "{word} in {words}");
    }
}

#[test]
fn what_is_not_a_number_is_not_reliable() {
    let mut trace = independent();
    trace.draws[5] = f64::NAN;
    assert_eq!(judged(&trace).0, Level::Untrusted);
}
