//! The verdict on posteriors whose truth is known: what is wrong is not trusted, what is right is.

use lehr_infer::judge::Level;
use lehr_lab::verdict::{Fitted, Problem, Settings, facts, fit, problems};

fn problem(name: &str) -> Problem {
    let mut all = problems();
    let place = all.iter().position(|one| one.name == name);
    all.swap_remove(place.unwrap_or_else(|| panic!("no posterior {name:?}")))
}

fn fitted(name: &str, method: &str) -> Fitted {
    let problem = problem(name);
    let settings = Settings {
        method: method.into(),
        seeds: 1,
    };
    fit(&problem, &facts(&problem).unwrap(), &settings, 7)
}

#[test]
fn a_mode_that_the_draws_miss_is_found() {
    for name in [
        "two clusters, Cauchy",
        "unequal clusters, Cauchy",
        "a square",
        "a product",
    ] {
        let found = fitted(name, "full-rank");
        assert!(found.is_wrong(), "{name}: {found:?}");
        assert_eq!(found.level, Some(Level::Untrusted), "{name}: {found:?}");
        assert!(found.verdict.contains("more than one mode"), "{found:?}");
    }
}

#[test]
fn chains_that_start_from_the_draws_tell_of_what_those_never_visit() {
    for (name, method) in [
        ("a mild funnel", "full-rank"),
        ("Neal's funnel", "full-rank"),
        ("a banana", "full-rank"),
        ("a ridge", "mean-field"),
    ] {
        let found = fitted(name, method);
        assert!(found.is_wrong(), "{name}: {found:?}");
        assert!(!found.is_trusted(), "{name}: {found:?}");
    }
}

#[test]
fn right_numbers_are_trusted() {
    for name in [
        "a rate of zeros",
        "a level at its limit",
        "a spread of three",
        "a ridge",
    ] {
        let found = fitted(name, "sl-dais");
        assert!(!found.is_wrong(), "{name}: {found:?}");
        assert!(found.is_trusted(), "{name}: {found:?}");
    }
}
