//! Every method of the table of methods, and every setting that has a list of values.

use std::collections::HashSet;

use lehr::infer::method::MethodInfo;
use lehr::infer::surrogate::SURROGATES;

use super::{Case, fitted};

/// A regression that most methods take.
const LOGISTIC: &str = "'hit ~ x1 + x2 + color' plain.csv --family bernoulli --seed 3";

/// A regression with local latents.
const OVERDISPERSED: &str = "'count ~ x1 + (1 | row())' plain.csv --family poisson --seed 3";

/// A regression with random effects.
const GROUPED: &str = "'y ~ x1 + (1 + x1 | site)' plain.csv --family gaussian --seed 3";

/// A fit by each method, and by each value of each setting that has a list of them.
pub(super) fn cases() -> Vec<Case> {
    let methods = lehr::METHODS.iter();
    let plain = methods.map(|method| {
        let name = format!("method/{}", method.name);
        Case::lines(name, fitted(&line(method, "--draws 400")))
    });
    plain.chain(settings()).collect()
}

/// The line of a short fit by a method.
fn line(method: &MethodInfo, more: &str) -> String {
    let model = match method.name {
        "semi-dais" => OVERDISPERSED,
        "collapse" => GROUPED,
        _ => LOGISTIC,
    };
    let settings = shortened(method).into_iter();
    let settings: String = settings
        .flat_map(|(name, value)| [" --", name, " ", value])
        .collect();
    format!("{model} --method {}{settings} {more}", method.name)
}

/// The settings that make a method's fit short and independent of the clock.
pub(super) fn shortened(method: &MethodInfo) -> Vec<(&'static str, &'static str)> {
    let known = method.settings();
    let settings = [
        ("iterations", "60"),
        ("chains", "4"),
        ("warm-up", "150"),
        ("budget", "100000000"),
    ];
    let is_known = |(name, _): &(&str, &str)| known.iter().any(|one| one.name == *name);
    settings.into_iter().filter(is_known).collect()
}

/// One case for each setting with a list of values: a fit for each value, by the first method that
/// has the setting. sl-dais comes before all others.
fn settings() -> Vec<Case> {
    let (first, others): (Vec<_>, Vec<_>) = (lehr::METHODS.iter())
        .copied()
        .partition(|method| method.name == "sl-dais");
    let (mut seen, mut cases) = (HashSet::new(), Vec::new());
    for method in first.into_iter().chain(others) {
        for setting in method.settings() {
            let values: Vec<&str> = match setting.name {
                "surrogate" => SURROGATES.iter().map(|one| one.name).collect(),
                _ => setting.choices.iter().map(|(value, _)| *value).collect(),
            };
            if seen.insert(setting.name) {
                cases.extend(varied(method, setting.name, &values));
            }
        }
    }
    cases
}

/// A fit for each value of a setting, if there are any.
fn varied(method: &MethodInfo, setting: &str, values: &[&str]) -> Option<Case> {
    let fit = |value: &&str| {
        let more = format!("--draws 100 --{setting} {value} --force");
        fitted(&line(method, &more))
    };
    let lines: Vec<String> = values.iter().flat_map(fit).collect();
    let name = format!("setting/{setting}");
    (!lines.is_empty()).then(|| Case::lines(name, lines))
}
