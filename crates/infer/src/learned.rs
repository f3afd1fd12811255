//! Learnt parameters in words, for the summary of a fit.

use lehr_density::SiteValue;

use crate::posterior::Posterior;

/// The most values of a parameter that are listed.
const FEW: usize = 8;

/// θ of a fit, each parameter with its values unless they are many; `None` if there are none.
pub(crate) fn learned(posterior: &Posterior) -> Option<String> {
    let sites = posterior.param_sites();
    let words: Vec<String> = sites.iter().map(site).collect();
    (!words.is_empty()).then(|| words.join("; "))
}

fn site(site: &SiteValue) -> String {
    if site.values.len() > FEW {
        return format!("{} ({} numbers)", site.name, site.values.len());
    }
    let values: Vec<String> = site.values.iter().copied().map(number).collect();
    format!("{} {}", site.name, values.join(", "))
}

fn number(value: f64) -> String {
    let is_usual = value == 0.0 || (1e-3..1e5).contains(&value.abs());
    if is_usual {
        format!("{value:.4}")
    } else {
        format!("{value:.3e}")
    }
}
