//! The witness of random probes: the accuracy of the density of hyperparameters if a determinant is
//! estimated.

use super::Reason;
use super::remedy::Remedies;
use crate::estimate::Level;
use crate::posterior::{Posterior, ProbeAccuracy};

/// The tolerated error in nats between points; it moves a mean by less than a tenth of a standard
/// deviation.
const CLOSE: f64 = 0.1;

pub(super) fn testify(posterior: &Posterior, _: &Remedies) -> Option<Reason> {
    let ProbeAccuracy { count, error } = posterior.importance()?.examination.probes?;
    let is_close = error < CLOSE;
    let known = format!("the spreads are not weighed exactly ({count} probes, ± {error:.3} nats)");
    let level = [Level::Doubtful, Level::Reliable][usize::from(is_close)];
    Some(Reason::new(level, known))
}
