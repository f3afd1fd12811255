//! The witness of training: whether the bound was level at the end.

use super::{Reason, Remedies};
use crate::estimate::Level;
use crate::posterior::Posterior;

pub(super) fn testify(posterior: &Posterior, remedies: &Remedies) -> Option<Reason> {
    let training = posterior.training()?;
    (!training.converged).then(|| Reason {
        advice: advice(remedies),
        ..Reason::new(Level::Untrusted, "training had not converged")
    })
}

/// The method's settings for better training; `None` if it has none and the verdict's general
/// remedy applies.
fn advice(remedies: &Remedies) -> Option<String> {
    let ways = [
        ("iterations", "train longer (iterations)"),
        ("start", "start from laplace (start)"),
    ];
    let ways = ways.into_iter().filter(|(name, _)| remedies.has(name));
    let words: Vec<&str> = ways.map(|(_, words)| words).collect();
    (!words.is_empty()).then(|| words.join(", or "))
}
