//! The witness of importance weights: whether draws reach all of the posterior.

use super::{Level, Reason, Witness};
use crate::method;
use crate::posterior::Posterior;
use lehr_numeric::pareto::{Pareto, threshold};

pub(super) const WITNESS: Witness = Witness {
    name: "weights",
    testify,
};

/// Below this k̂ the weights have a variance.
const GOOD: f64 = 0.5;
/// The effective share of draws above which weighting changes nothing that could be seen.
const ALIKE: f64 = 0.99;

/// The largest k̂ at which so many draws can be corrected, with its two digits. Everything that
/// names a limit of k̂ reads it here.
pub fn usable_shape(draws: usize) -> f64 {
    threshold(draws)
}

/// What weights allow.
///
/// k̂ below 0.5: the weights have a variance, and the approximation is good as it is; also where
/// the weights are all but equal, whatever the shape of the little by which they differ. k̂ below
/// [`usable_shape`]: smoothed weights correct the approximation. Above it a few draws rule the
/// weights, and neither is to be trusted.
pub fn draws_level(pareto: &Pareto) -> Level {
    let draws = pareto.log_weights.len();
    let usable = usable_shape(draws);
    if pareto.effective_size > ALIKE * draws as f64 || pareto.shape < usable.min(GOOD) {
        Level::Reliable
    } else if pareto.shape < usable {
        Level::Corrected
    } else {
        Level::Untrusted
    }
}

fn testify(posterior: &Posterior) -> Option<Reason> {
    let pareto = &posterior.importance()?.pareto;
    let (level, k) = (draws_level(pareto), pareto.shape);
    let limit = usable_shape(posterior.n_draws());
    let sentence = match level {
        Level::Reliable => format!("the draws are close to the posterior (k = {k:.2})"),
        Level::Corrected => format!(
            "the fit is off, importance weights repair it (k = {k:.2}); the corrected numbers are \
             the ones to use"
        ),
        Level::Doubtful | Level::Untrusted => format!(
            "the fit is too far from the posterior to be repaired (k = {k:.2}, at most {limit:.2} \
             is repaired)"
        ),
    };
    let advice = (level == Level::Untrusted).then(|| {
        let row = method::find(&posterior.origin.method.name).ok();
        row.map_or("try another method", |row| row.remedy)
            .to_owned()
    });
    Some(Reason {
        level,
        sentence,
        advice,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lehr_numeric::stream::Stream;

    fn level(shape: f64, draws: usize) -> Level {
        draws_level(&Pareto {
            log_weights: vec![0.0; draws],
            shape,
            effective_size: 0.8 * draws as f64,
            log_evidence: 0.0,
            log_evidence_error: 0.0,
        })
    }

    #[test]
    fn the_level_follows_the_shape_and_the_number_of_draws() {
        for (shape, draws, expected) in [
            (0.2, 1000, Level::Reliable),
            (0.55, 1000, Level::Corrected),
            (0.68, 1000, Level::Untrusted),
            (0.68, 4000, Level::Corrected),
            (0.72, 1_000_000, Level::Untrusted),
            (0.45, 50, Level::Untrusted),
            (f64::INFINITY, 1000, Level::Untrusted),
        ] {
            assert_eq!(level(shape, draws), expected, "{shape} {draws}");
        }
    }

    #[test]
    fn weights_that_are_all_but_equal_are_trusted_whatever_their_tail() {
        // 1 + c x with x of a Pareto distribution of shape 1.2.
        let weight = |scale: f64| {
            let mut stream = Stream::new(3, "alike", 0);
            let tail = |u: f64| (1.0 - u).powf(-1.2);
            let log_weights: Vec<f64> = (0..1000)
                .map(|_| (scale * tail(stream.uniform())).ln_1p())
                .collect();
            Pareto::new(&log_weights).unwrap()
        };
        let (alike, unlike) = (weight(0.0003), weight(0.3));
        assert!(alike.shape > 0.7, "{}", alike.shape);
        assert!(alike.effective_size > 990.0, "{}", alike.effective_size);
        assert_eq!(draws_level(&alike), Level::Reliable);
        assert_eq!(draws_level(&unlike), Level::Untrusted);
    }
}
