//! Formulas of several responses.

use lehr_formula::{Formulas, ResidualCorrelation};

const COLUMNS: [&str; 5] = ["y", "z", "n", "x", "g"];

/// Each response spelt out.
fn spelt(source: &str) -> Vec<String> {
    let all = Formulas::parse(source).unwrap();
    let terms = all.responses().iter();
    terms
        .map(|one| one.expand(&COLUMNS).unwrap().to_string())
        .collect()
}

#[test]
fn mvbind_gives_every_response_the_same_terms() {
    let expected = ["y ~ 1 + x + (1 |p| g)", "log(z) ~ 1 + x + (1 |p| g)"];
    assert_eq!(spelt("mvbind(y, log(z)) ~ x + (1 |p| g)"), expected);
    let counts = [
        "y | trials(n) ~ 1 + x + (1 + x |2| g)",
        "z | trials(n) ~ 1 + x + (1 + x |2| g)",
    ];
    assert_eq!(spelt("mvbind(y, z) | trials(n) ~ x + (x |2| g)"), counts);
}

#[test]
fn formulas_of_brms_are_read_as_they_stand() {
    let expected = ["y ~ 1 + x", "z ~ 1 + n + (1 |p| g)"];
    let text = "bf(y ~ x) + brmsformula(z ~ n + (1 | p | g)) + set_rescor(FALSE)";
    assert_eq!(spelt(text), expected);
    assert_eq!(spelt("bf(mvbind(y, z) ~ x)"), ["y ~ 1 + x", "z ~ 1 + x"]);
    assert_eq!(spelt("bf(y ~ x)"), ["y ~ 1 + x"]);
}

#[test]
fn residuals_are_correlated_where_that_is_written() {
    for (text, residuals) in [
        ("mvbind(y, z) ~ x", ResidualCorrelation::Independent),
        (
            "mvbind(y, z) ~ x + set_rescor(FALSE)",
            ResidualCorrelation::Independent,
        ),
        (
            "mvbind(y, z) ~ x + set_rescor(TRUE)",
            ResidualCorrelation::Correlated,
        ),
        (
            "bf(y ~ x) + bf(z ~ x) + set_rescor(TRUE)",
            ResidualCorrelation::Correlated,
        ),
    ] {
        assert_eq!(
            Formulas::parse(text).unwrap().residuals(),
            residuals,
            "{text}"
        );
    }
}

#[test]
fn what_is_printed_of_a_tie_is_read_again() {
    for text in ["y ~ 1 + (1 |p| g)", "y ~ 1 + (1 + x |3| g)"] {
        assert_eq!(spelt(text), [text]);
    }
}
