//! The witness of training: whether the bound was level at the end.

use super::{Level, Reason, Standing, Witness};
use crate::posterior::Posterior;

pub(super) const WITNESS: Witness = Witness {
    name: "training",
    standing: Standing::GivesWay,
    testify,
};

fn testify(posterior: &Posterior) -> Option<Reason> {
    let training = posterior.training()?;
    (!training.converged).then(|| Reason {
        witness: WITNESS.name.into(),
        level: Level::Untrusted,
        sentence: "training had not converged".into(),
        advice: Some("train longer (iterations), or start from laplace (start)".into()),
    })
}
