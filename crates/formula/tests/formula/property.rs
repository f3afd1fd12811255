//! No text makes the parsers panic, and printed formulas are parsed to the same formulas.

use lehr_formula::{Formula, PriorSpec};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;

use crate::expansion::EXPANSIONS;

const WORDS: &[&str] = &[
    "y", "x", "a", "b", "g", "`my col`", "größe", ".", "~", "+", "-", "*", "/", "^", "**", ":",
    "|", "||", "(", ")", ",", "0", "1", "2", "3.5", "1e9", "%in%", "C(", "I(", "poly(", "log(",
    "scale(", "offset(", "weights(", "trials(", "cbind(", "sd(", "cor(", "gp(", "s(", "bs(", "df",
    "=", "k", "by", ".scale", "[", "]", "<", "==", ">=", "\"", "'", "ref", "sum", " ", "\n", "`",
    "\\", "身",
];

/// Must not panic. An accepted text must print to a text that prints to itself.
fn survives(text: &str) {
    let columns = ["y", "x", "my col", "", "a", "g"];
    match Formula::parse(text).and_then(|formula| formula.expand(&columns)) {
        Err(error) => assert!(error.render(text).contains('^')),
        Ok(terms) => {
            let printed = terms.to_string();
            let again = Formula::parse(&printed).and_then(|formula| formula.expand(&columns));
            match again {
                Ok(again) => {
                    assert_eq!(again.to_string(), printed, "from {text:?}");
                    assert_eq!(again.fixed, terms.fixed);
                    assert_eq!(again.groups, terms.groups);
                    assert_eq!(again.smooths, terms.smooths);
                }
                Err(error) => panic!("{text:?} printed as\n{}", error.render(&printed)),
            }
            if let Err(error) = terms.check_columns(&columns) {
                assert!(error.render(text).starts_with("formula:"));
            }
        }
    }
    match PriorSpec::parse(text) {
        Err(error) => assert!(error.render(text).starts_with("prior:")),
        Ok(prior) => {
            let printed = prior.to_string();
            let again = PriorSpec::parse(&printed).map(|again| again.to_string());
            assert_eq!(again.as_ref(), Ok(&printed), "from {text:?}");
        }
    }
}

/// A valid formula with pieces cut out, doubled or replaced.
fn mutated() -> impl Strategy<Value = String> {
    let edit = (any::<prop::sample::Index>(), 0_usize..4, select(WORDS));
    (select(EXPANSIONS), prop::collection::vec(edit, 1..6)).prop_map(|((source, _), edits)| {
        let mut letters: Vec<char> = source.chars().collect();
        for (place, cut, word) in edits {
            let at = place.index(letters.len() + 1);
            let end = (at + cut).min(letters.len());
            letters.splice(at..end, word.chars());
        }
        letters.into_iter().collect()
    })
}

/// Arithmetic with signs, parentheses and functions in every position.
fn arithmetic() -> impl Strategy<Value = String> {
    let leaf =
        select(&["x", "a", "`my col`", "2", "0.5", "1e-9", "3e20"][..]).prop_map(String::from);
    leaf.prop_recursive(6, 40, 2, |inner| {
        let operator = select(
            &[
                " + ", " > ", "==", "-", "*", " / ", "^", "**", " - -", "*-", "^-",
            ][..],
        );
        let wrapper = select(&["(", "-(", "log(", "I(", "sqrt("][..]);
        prop_oneof![
            (inner.clone(), operator, inner.clone()).prop_map(|(a, o, b)| format!("{a}{o}{b}")),
            (wrapper, inner).prop_map(|(open, a)| format!("{open}{a})")),
        ]
    })
}

/// A sum of terms, most of them valid.
fn summands() -> impl Strategy<Value = String> {
    let names = [
        "a",
        "b",
        "c",
        "x",
        ".",
        "C(g)",
        "log(x)",
        "poly(x, 2)",
        "1",
        "0",
        "(1 | g)",
        "gp(x, k = 9)",
        "s(x, k = 9)",
        "mo(x)",
        "ns(x, df = 3)",
    ];
    let leaf = select(names.to_vec()).prop_map(String::from);
    leaf.prop_recursive(4, 16, 2, |inner| {
        let operator = select(&[" + ", " - ", "*", ":", "/"][..]);
        let wrapper = select(&[("(", ")"), ("(", ")^2"), ("(", " | g)"), ("(", " || h/i)")][..]);
        prop_oneof![
            3 => (inner.clone(), operator, inner.clone()).prop_map(|(a, o, b)| format!("{a}{o}{b}")),
            1 => (wrapper, inner).prop_map(|((open, close), a)| format!("{open}{a}{close}")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8_000,
        rng_seed: RngSeed::Fixed(20_251),
        failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_never_panics(text in any::<String>()) {
        survives(&text);
    }

    #[test]
    fn arbitrary_words_never_panic(words in prop::collection::vec(select(WORDS), 0..24)) {
        survives(&words.concat());
        survives(&format!("y ~ {}", words.join(" ")));
        survives(&format!("y ~ x + I({})", words.join(" ")));
    }

    #[test]
    fn mutations_of_good_formulas_never_panic(text in mutated()) {
        survives(&text);
    }

    #[test]
    fn arithmetic_prints_to_itself(text in arithmetic()) {
        survives(&format!("y ~ I(x + {text})"));
        survives(&format!("I(y - {text}) ~ 1"));
    }

    #[test]
    fn sums_of_terms_print_to_themselves(text in summands()) {
        survives(&format!("y ~ {text}"));
    }

    #[test]
    fn any_backticked_name_survives(name in any::<String>()) {
        let quoted = lehr_formula::quote_name(&name);
        let terms = Formula::parse(&format!("y ~ {quoted}"));
        prop_assume!(name != "y");
        let terms = terms.unwrap().expand::<&str>(&[]).unwrap();
        prop_assert_eq!(terms.column_names(), ["y", name.as_str()]);
    }
}

#[test]
fn hostile_depth_and_width_are_refused_and_not_crashed_on() {
    for opener in [
        "(", "log(", "-(", "2^", "x^-", "((1|", "I(", "a*(b+", "`", "- ",
    ] {
        survives(&format!("y ~ {}", opener.repeat(20_000)));
        survives(&format!("y ~ I({}", opener.repeat(20_000)));
    }
    for link in ["*x", ":x", "/x", "^2", "+x", "-x", "|x", "%in%x"] {
        survives(&format!("y ~ x{}", link.repeat(20_000)));
        survives(&format!("y ~ I(x{})", link.repeat(20_000)));
    }
    for count in (1..130).step_by(3) {
        for link in ["^-x", "*-x", "+x", "-x", "/(-x)", "^2"] {
            survives(&format!("y ~ I(x{})", link.repeat(count)));
            survives(&format!("y ~ I((x{0}){0})", link.repeat(count)));
        }
        for opener in ["(", "log(", "-(", "x-(", "x^(", "-x^-("] {
            let closers = ")".repeat(count);
            survives(&format!("y ~ I({}x{closers})", opener.repeat(count)));
        }
    }
    let many: Vec<String> = (0..400).map(|at| format!("x{at}")).collect();
    survives(&format!("y ~ ({})^4", many.join("+")));
    survives(&format!("y ~ {}", many[..40].join("*")));
}
