//! A response for each kind of family.

use super::covariates::Covariates;
use super::noise::{Noise, logistic};
use super::{Cells, names, numbers};

/// The columns of all responses, and the bounds of those that are censored or truncated.
pub(super) fn cells(of: &Covariates, noise: &mut Noise) -> Cells {
    let mut cells = real_responses(of, noise);
    cells.extend(counted_responses(of, noise));
    cells.extend(classes(of, noise));
    cells.extend(limits(&cells, noise));
    cells
}

/// a η + b ε for each row, η its predictor and ε standard normal.
fn moved(of: &Covariates, noise: &mut Noise, scales: [f64; 2]) -> Vec<f64> {
    let pairs = of.predictor.iter().zip(noise.normal());
    let value = |(predictor, noise)| scales[0] * predictor + scales[1] * noise;
    pairs.map(value).collect()
}

fn real_responses(of: &Covariates, noise: &mut Noise) -> Cells {
    let mut response = |scales, map: fn(f64) -> f64| -> Vec<f64> {
        let values = moved(of, noise, scales);
        values.into_iter().map(map).collect()
    };
    let y = response([1.0, 0.7], |value| value);
    let y2 = response([0.5, 0.8], |value| value);
    let positive = response([0.3, 0.5], f64::exp);
    let share = response([0.8, 0.6], logistic);
    let angle = response([0.25, 0.2], |value| 2.0 * value.atan());
    let around = response([0.0, 0.3], |value| value);
    let curve = around.iter().zip(&of.day);
    let curve: Vec<f64> = curve
        .map(|(noise, day)| (1.3 * day).sin() + noise)
        .collect();
    vec![
        ("y", numbers(&y)),
        ("y2", numbers(&y2)),
        ("curve", numbers(&curve)),
        ("positive", numbers(&positive)),
        ("share", numbers(&share)),
        ("angle", numbers(&angle)),
    ]
}

fn counted_responses(of: &Covariates, noise: &mut Noise) -> Cells {
    let means = moved(of, noise, [0.4, 0.3]);
    let means: Vec<f64> = means.into_iter().map(|mean| (0.6 + mean).exp()).collect();
    let counts = noise.poisson(&means);
    let gates = noise.events(&vec![1.0; noise.rows]);
    let zeros = counts.iter().zip(gates).map(|(count, gate)| count * gate);
    let zeros: Vec<f64> = zeros.collect();
    let trials = noise.below(8);
    let trials: Vec<f64> = trials.iter().map(|more| 3.0 + *more as f64).collect();
    let hits = hits(&moved(of, noise, [0.5, 0.4]), &trials, noise);
    vec![
        ("hit", numbers(&noise.events(&of.predictor))),
        ("count", numbers(&counts)),
        ("zeros", numbers(&zeros)),
        ("trials", numbers(&trials)),
        ("hits", numbers(&hits)),
    ]
}

/// Events of these log odds among so many trials.
fn hits(logits: &[f64], trials: &[f64], noise: &mut Noise) -> Vec<f64> {
    const MOST: u32 = 10;
    let mut hits = vec![0.0; trials.len()];
    for trial in 0..MOST {
        let events = noise.events(logits);
        for (row, hit) in hits.iter_mut().enumerate() {
            *hit += if f64::from(trial) < trials[row] {
                events[row]
            } else {
                0.0
            };
        }
    }
    hits
}

fn classes(of: &Covariates, noise: &mut Noise) -> Cells {
    let grade = moved(of, noise, [1.0, 1.2]);
    let grade = grade.into_iter();
    let grade: Vec<usize> = grade
        .map(|value| usize::from(value > -0.5) + usize::from(value > 1.0))
        .collect();
    let pairs = of.predictor.iter().zip(noise.normal());
    let class: Vec<usize> = pairs
        .map(|(predictor, other)| usize::from(other > 0.8 * predictor) + usize::from(other > 0.9))
        .collect();
    vec![
        ("grade", names(&grade, &["poor", "fair", "good"])),
        ("class", names(&class, &["ash", "elm", "oak"])),
    ]
}

/// The bounds of the censored and truncated rows of `positive`.
fn limits(cells: &Cells, noise: &mut Noise) -> Cells {
    let positive = cells.iter().find(|(name, _)| *name == "positive");
    let (_, positive) = positive.expect("a column of that name");
    let positive = positive.iter().map(|cell| cell.parse().expect("a number"));
    let positive: Vec<f64> = positive.collect();
    let status = noise
        .below(8)
        .into_iter()
        .map(|kind| kind.saturating_sub(4));
    let status: Vec<usize> = status.collect();
    let mapped = |map: fn(&f64) -> f64| numbers(&positive.iter().map(map).collect::<Vec<_>>());
    vec![
        (
            "status",
            names(&status, &["none", "right", "left", "interval"]),
        ),
        ("upper", mapped(|value| 1.5 * value)),
        ("lower", mapped(|value| (0.6 * value).min(0.4))),
    ]
}
