//! Error messages for mistakes in formulas and priors.

use lehr_formula::{Formula, PriorSpec};

/// Blocks of a source line `> y ~ hieght` (with \\n and \\t for blanks) and its error message.
const MISTAKES: &str = include_str!("mistakes.txt");
const PRIOR_MISTAKES: &str = include_str!("prior_mistakes.txt");

const COLUMNS: [&str; 6] = ["y", "x", "height", "g", "color", "my col"];

/// The error message of a formula on a table in which `color` holds text.
fn told(source: &str) -> String {
    let formula = Formula::parse(source).and_then(|formula| formula.expand(&COLUMNS));
    let checked = formula.and_then(|terms| {
        terms.check_columns(&COLUMNS)?;
        terms.resolve_text(&|name| name == "color")
    });
    match checked {
        Ok(terms) => format!("accepted as {terms}"),
        Err(error) => error.render(source),
    }
}

/// The sources of a record and the error message expected for each.
fn blocks(record: &str) -> impl Iterator<Item = (String, &str)> {
    record.split("\n\n").map(|block| {
        let (source, expected) = block.split_once('\n').unwrap();
        let source = source.strip_prefix("> ").unwrap();
        let source = source.replace("\\n", "\n").replace("\\t", "\t");
        (source, expected.trim_end_matches('\n'))
    })
}

#[test]
fn every_mistake_is_told_as_recorded() {
    assert!(blocks(MISTAKES).count() > 100);
    for (source, expected) in blocks(MISTAKES) {
        assert_eq!(told(&source), expected, "{source:?}");
    }
}

#[test]
fn every_mistaken_prior_is_told_as_recorded() {
    assert!(blocks(PRIOR_MISTAKES).count() > 20);
    for (source, expected) in blocks(PRIOR_MISTAKES) {
        let error = PriorSpec::parse(&source).unwrap_err();
        assert_eq!(error.render(&source), expected, "{source:?}");
    }
}

#[test]
fn every_mistake_comes_with_a_hint() {
    for (source, expected) in blocks(MISTAKES).chain(blocks(PRIOR_MISTAKES)) {
        let caret = expected.lines().last().unwrap().trim_start();
        let hint = caret.trim_start_matches('^');
        assert!(
            caret.starts_with('^') && hint.starts_with("  "),
            "{source:?}"
        );
    }
}

#[test]
fn an_empty_formula_is_told_so() {
    let hint = "write response ~ terms, as in y ~ x1 + x2";
    assert_eq!(
        told(""),
        format!("formula:1:1: the formula is empty\n  \n  ^  {hint}")
    );
    assert_eq!(
        told("  "),
        format!("formula:1:1: the formula is empty\n  \n  ^^  {hint}")
    );
    let error = PriorSpec::parse("").unwrap_err();
    assert!(
        error
            .render("")
            .starts_with("prior:1:1: the prior is empty\n")
    );
}
