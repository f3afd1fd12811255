//! Text as a formula.

use lehr::formula::{Formula, PriorSpec};

/// Reads a text as a formula and as a prior. What is accepted must print to a text that prints to itself.
///
/// # Panics
/// If that fails.
pub fn check_formula(text: &str) {
    let columns = ["y", "x", "my col", "", "a", "g"];
    let expand = |text: &str| Formula::parse(text).and_then(|formula| formula.expand(&columns));
    match expand(text) {
        Err(error) => assert!(error.render(text).contains('^')),
        Ok(terms) => {
            let printed = terms.to_string();
            let again = expand(&printed).expect("a printed formula is a formula");
            assert_eq!(again.to_string(), printed);
        }
    }
    match PriorSpec::parse(text) {
        Err(error) => assert!(error.render(text).starts_with("prior:")),
        Ok(prior) => {
            let printed = prior.to_string();
            let again = PriorSpec::parse(&printed).expect("a printed prior is a prior");
            assert_eq!(again.to_string(), printed);
        }
    }
}
