//! The verdict on posteriors with a known truth: wrong fits are not trusted, right ones are.

use lehr_infer::judge::Level;
use lehr_lab::verdict::{Fitted, Problem, facts, fit, generated, large_problems, mark, problems};

fn problem(name: &str) -> Problem {
    let mut all = problems();
    let place = all.iter().position(|one| one.name == name);
    all.swap_remove(place.unwrap_or_else(|| panic!("no posterior {name:?}")))
}

fn fitted(name: &str, method: &str) -> Fitted {
    examined(&problem(name), method)
}

fn examined(problem: &Problem, method: &str) -> Fitted {
    fit(problem, &facts(problem).unwrap(), method, 7)
}

#[test]
fn a_mode_that_the_draws_miss_is_found() {
    let found = fitted("a product of three", "full-rank");
    assert!(found.is_wrong(), "{found:?}");
    assert_eq!(found.level, Some(Level::Untrusted), "{found:?}");
    assert!(found.verdict.contains("more than one mode"), "{found:?}");
}

#[test]
fn a_grid_stands_in_where_a_fit_of_one_or_two_latents_is_off() {
    for (name, method) in [
        ("two clusters, Cauchy", "full-rank"),
        ("unequal clusters, Cauchy", "full-rank"),
        ("a square", "full-rank"),
        ("a heavy tail", "full-rank"),
    ] {
        let found = fitted(name, method);
        assert!(!found.is_wrong(), "{name}: {found:?}");
        assert!(found.is_trusted(), "{name}: {found:?}");
        assert!(found.verdict.contains("those of a grid"), "{found:?}");
    }
}

#[test]
fn chains_stand_in_where_a_fit_is_too_narrow() {
    let found = fitted("a ridge", "mean-field");
    assert!(!found.is_wrong() && found.is_trusted(), "{found:?}");
    assert!(found.verdict.contains("sd × 0.05"), "{found:?}");
}

#[test]
fn chains_that_start_from_the_draws_tell_of_what_those_never_visit() {
    for name in ["a mild funnel", "Neal's funnel"] {
        let found = fitted(name, "full-rank");
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

/// A posterior whose table is too long for chains.
fn large(name: &str) -> Fitted {
    const ROWS: usize = 40_000;
    let mut all = large_problems(ROWS);
    let place = all.iter().position(|one| one.name == name);
    let problem = all.swap_remove(place.unwrap_or_else(|| panic!("no posterior {name:?}")));
    examined(&problem, "full-rank")
}

#[test]
fn failures_on_long_tables_are_not_called_reliable() {
    for name in [
        "large, a rare level always 1",
        "large, separated",
        "large, rare events",
    ] {
        let found = large(name);
        assert!(found.is_wrong() || found.is_trusted(), "{name}: {found:?}");
        assert!(
            !(found.is_wrong() && found.is_trusted()),
            "{name}: {found:?}"
        );
    }
}

#[test]
fn a_mode_that_the_draws_miss_is_found_by_some_of_the_rows_of_a_long_table() {
    let found = large("large, a square");
    assert_eq!(found.level, Some(Level::Untrusted), "{found:?}");
    assert!(found.verdict.contains("more than one mode"), "{found:?}");
}

#[test]
fn an_ordinary_long_table_is_trusted() {
    let found = large("large, ordinary");
    assert!(found.is_right() && found.is_trusted(), "{found:?}");
}

#[test]
fn generated_posteriors_are_those_of_their_seed() {
    let marks = |seed, count| -> Vec<f64> { generated(seed, count).iter().map(mark).collect() };
    let (five, ten) = (marks(4, 5), marks(4, 10));
    assert_eq!(five, ten[..5]);
    assert!(five.iter().zip(&marks(5, 5)).all(|(a, b)| a != b));
    assert!(ten.iter().all(|mark| mark.is_finite()), "{ten:?}");
}
