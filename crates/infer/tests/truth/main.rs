//! Properties of inference, compared with truths that are known in closed form or by symmetry.

#[path = "../exact_regression/mod.rs"]
mod exact_regression;
#[path = "../fixture/mod.rs"]
mod fixture;

mod automatic;
mod calibration;
mod condensed;
mod conjugate;
mod damage;
mod diagnostic;
mod epoch;
mod gradient;
mod hierarchy;
mod identity;
mod leave_out;
mod linear;
mod model;
mod pointwise;
mod propagation;
mod quadrature;
mod robust;
mod sampled;
mod summed;
mod vague;

use lehr_density::Density;
use lehr_infer::fit::Fit;
use lehr_infer::guide::{Guide, LearnedBlocks, RowInput, all_blocks};
use lehr_infer::method::{ChainSettings, METHODS, MethodInfo, VariationalSettings};
use lehr_infer::objective::Score;
use lehr_infer::posterior::Posterior;
use lehr_numeric::stream::Stream;
use lehr_numeric::summary::{mean, sd};

/// Standard normal numbers.
fn normals(count: usize, seed: u64) -> Vec<f64> {
    let mut numbers = vec![0.0; count];
    Stream::new(seed, "truth", 0).fill_normal(&mut numbers);
    numbers
}

/// A mean and its standard error.
fn estimate(values: &[f64]) -> (f64, f64) {
    (mean(values), sd(values) / (values.len() as f64).sqrt())
}

fn all_rows() -> Score {
    Score {
        rows: RowInput::All,
        control: None,
    }
}

fn batch(size: usize, purpose: &str) -> Score {
    Score {
        rows: RowInput::Batch {
            size,
            purpose: purpose.into(),
        },
        control: None,
    }
}

/// The learned quantities of a guide at the start.
fn starts(density: &dyn Density, guide: &dyn Guide) -> LearnedBlocks {
    LearnedBlocks::new(all_blocks(density, guide))
}

/// Moves every learned value a little, by a wave that depends on its block and place.
fn stir(learned: &mut LearnedBlocks) {
    for place in 0..learned.blocks().len() {
        let letters = learned.blocks()[place].name.bytes().map(f64::from);
        let phase: f64 = letters.sum();
        for (i, at) in learned.range(place).enumerate() {
            learned.values[at] += 0.1 * (phase + 2.3 * i as f64).sin();
        }
    }
}

fn set(learned: &mut LearnedBlocks, name: &str, values: &[f64]) {
    let range = learned.range_of(name).unwrap();
    learned.values[range].copy_from_slice(values);
}

/// A fit by the method of this name.
fn named(method: &str) -> Fit<'static> {
    Fit::named(method).unwrap()
}

/// A fit with a fixed number of steps.
fn fixed(method: &str, steps: u64) -> Fit<'static> {
    named(method).set("iterations", &steps.to_string()).unwrap()
}

/// The settings that all variational methods have.
fn common<'f>(fit: &'f mut Fit<'_>) -> &'f mut VariationalSettings {
    fit.method.variational_mut().unwrap().common_mut()
}

/// The settings of a chain.
fn chain<'f>(fit: &'f mut Fit<'_>) -> &'f mut ChainSettings {
    fit.method.variational_mut().unwrap().chain_mut().unwrap()
}

fn has(method: &MethodInfo, setting: &str) -> bool {
    method.settings().iter().any(|one| one.name == setting)
}

/// The fit with this value of a setting, if its method has the setting.
fn with(fit: Fit<'static>, setting: &str, value: usize) -> Fit<'static> {
    if has(fit.method.info(), setting) {
        fit.set(setting, &value.to_string()).unwrap()
    } else {
        fit
    }
}

fn run(fit: Fit<'_>, density: &dyn Density) -> Posterior {
    fit.run(density).unwrap()
}

/// The learned quantities of a fit.
fn learned(posterior: &Posterior) -> LearnedBlocks {
    let sampler = posterior.sampler().unwrap();
    sampler.learned().unwrap().1.clone()
}
