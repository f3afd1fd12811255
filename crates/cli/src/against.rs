//! A comparison of a fit with Markov chains on the same rows, in words and as JSON.

use std::fmt::Write;

use lehr::infer::bidirectional::Sandwich;
use lehr::infer::judge::Level;
use lehr::regression::{ChainComparison, Difference};
use serde::Serialize;

use crate::object::EstimateObject;

/// A coefficient causes a warning if its mean differs by more standard deviations than this, or its
/// standard deviation by more than this share.
const MOST_OFF: f64 = 0.2;

/// The comparison as JSON.
#[derive(Serialize)]
pub(crate) struct AgainstObject {
    method: String,
    verdict: &'static str,
    verdict_sentence: String,
    lower: Option<EstimateObject>,
    upper: Option<EstimateObject>,
    width: Option<EstimateObject>,
    differences: Vec<Difference>,
    #[serde(skip)]
    bounds: Option<Sandwich>,
}

impl AgainstObject {
    pub(crate) fn new(against: &ChainComparison) -> AgainstObject {
        let bounds = against.bounds;
        AgainstObject {
            method: against.method.clone(),
            verdict: against.verdict.level.name(),
            verdict_sentence: against.verdict.sentence.clone(),
            lower: bounds.map(|one| EstimateObject::from_estimate(one.lower, None)),
            upper: bounds.map(|one| EstimateObject::from_estimate(one.upper, None)),
            width: bounds.map(|one| EstimateObject::from_estimate(one.width(), None)),
            differences: against.differences.clone(),
            bounds,
        }
    }

    /// Whether the reference is reliable, by itself or with its weights.
    fn is_reliable(&self) -> bool {
        [Level::Reliable, Level::Corrected]
            .map(Level::name)
            .contains(&self.verdict)
    }

    /// The warning, if the chains are reliable enough for one.
    pub(crate) fn level_warning(&self) -> Option<String> {
        let method = &self.method;
        if !self.is_reliable() {
            let words = &self.verdict_sentence;
            return Some(format!("{method} itself is not reliable: {words}"));
        }
        let is_off =
            |one: &&Difference| one.mean_off.abs() > MOST_OFF || one.sd_ratio.ln().abs() > MOST_OFF;
        let off: Vec<&str> = (self.differences.iter().filter(is_off))
            .map(|one| one.name.as_str())
            .collect();
        (!off.is_empty()).then(|| format!("{method} differs in {}", off.join(", ")))
    }

    pub(crate) fn format_text(&self) -> String {
        let mut out = format!("against {} ({})\n", self.method, self.verdict);
        if let Some(Sandwich {
            lower,
            upper,
            is_corrected,
        }) = self.bounds
        {
            let known = self.is_reliable() && !is_corrected;
            let sign = if known { "≤" } else { "≲" };
            let _ = writeln!(
                out,
                "  {:.3} ± {:.3} ≤ log evidence {sign} {:.3} ± {:.3}",
                lower.mean, lower.error, upper.mean, upper.error
            );
        } else {
            out += "  this fit has no bound that can be turned round\n";
        }
        for one in self.differences.iter().take(10) {
            let _ = writeln!(
                out,
                "  {:<24} mean off by {:+.2} sd, sd × {:.2}",
                one.name, one.mean_off, one.sd_ratio
            );
        }
        out
    }
}
