//! The names of several responses of one model, and the names that belong to each.

use lehr_formula::Terms;
use lehr_learn::{LearnError, distinct_names};
use lehr_report::Name;

/// The name of the residual correlations.
pub(crate) const RESCOR: &str = "rescor";

/// The prefix of each response's coefficients: the response in letters and digits, `logy` for
/// `log(y)`.
pub(crate) fn names<'t>(
    responses: impl Iterator<Item = &'t Terms>,
) -> Result<Vec<String>, LearnError> {
    let mut names: Vec<String> = Vec::new();
    for terms in responses {
        check_latents(terms)?;
        let outcome = terms.response.outcome.to_string();
        let is_letter = |letter: &char| letter.is_alphanumeric() || matches!(letter, '_' | '.');
        let name: String = outcome.chars().filter(is_letter).collect();
        if names.contains(&name) {
            return Err(LearnError::column(
                format!("response {outcome}"),
                "each response once",
                "it a second time",
                "put all its terms into one formula",
            ));
        }
        names.push(name);
    }
    Ok(names)
}

/// Refuses local latents, which would have to be shared by all responses.
fn check_latents(terms: &Terms) -> Result<(), LearnError> {
    let refused = |found: String, hint: &str| {
        Err(LearnError::column(
            "several responses",
            "no latents of single rows",
            found,
            hint,
        ))
    };
    if let Some(covariate) = &terms.covariate {
        return refused(covariate.to_string(), "write the column as it stands");
    }
    if terms.by_row {
        return refused(
            "(1 | row())".into(),
            "write (1 |p| id), where the column id numbers the rows: effects of rows that are correlated across \
             responses",
        );
    }
    Ok(())
}

/// The names under which parameters that the responses share can have priors.
pub(crate) fn shared_names<'t>(responses: impl Iterator<Item = &'t Terms>) -> Vec<String> {
    let tied = responses.flat_map(|terms| terms.groups.iter().filter(|term| term.tie.is_some()));
    let correlations = tied.map(|term| format!("cor({})", term.term_label()));
    correlations.chain([RESCOR.to_owned()]).collect()
}

/// The response to which a name with a prefix belongs, and the rest of the name: 0 and `x` for
/// `y1.x`, 0 and `sd(g)` for `sd(y1.g)`.
pub(crate) fn owner(names: &[String], name: &str) -> Option<(usize, String)> {
    let (call, inner) = inside(name);
    let own = |(place, response): (usize, &String)| {
        let rest = inner.strip_prefix(response.as_str())?.strip_prefix('.')?;
        Some((place, response.len(), rest))
    };
    let all = names.iter().enumerate().filter_map(own);
    let (place, _, rest) = all.max_by_key(|(_, length, _)| *length)?;
    Some((place, format!("{call}{rest}")))
}

/// A name of a coefficient of one response in a model of several.
pub(crate) fn prefixed(response: &str, name: &str) -> String {
    let (call, inner) = inside(name);
    format!("{call}{response}.{inner}")
}

/// The same for a name with places.
pub(crate) fn renamed(response: &str, name: &Name) -> Name {
    let text = prefixed(response, name.as_str());
    let start = Name::new(text, prefixed(response, name.variable()));
    (name.places().iter()).fold(start, |name, place| {
        name.at_label(place.axis, place.label.clone())
    })
}

/// The prefix `sd(` or `cor(` of a name, and the rest.
fn inside(name: &str) -> (&str, &str) {
    let calls = ["sd(", "cor("].into_iter();
    let length = calls.filter(|call| name.starts_with(call)).map(str::len);
    name.split_at(length.max().unwrap_or(0))
}

/// All names, each once.
pub(crate) fn union<'n>(lists: impl Iterator<Item = Vec<&'n str>>) -> Vec<&'n str> {
    distinct_names(lists.flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_belongs_to_the_response_it_begins_with() {
        let names = ["y".to_owned(), "y.late".to_owned()];
        for (name, place, rest) in [
            ("y.x", 0, "x"),
            ("y.late.x", 1, "x"),
            ("sd(y.g, x)", 0, "sd(g, x)"),
            ("cor(y.late.g)", 1, "cor(g)"),
            ("y.sigma.Intercept", 0, "sigma.Intercept"),
        ] {
            let found = owner(&names, name).unwrap();
            assert_eq!((found.0, found.1.as_str()), (place, rest), "{name}");
            assert_eq!(prefixed(&names[place], rest), name);
        }
        assert!(owner(&names, "x").is_none() && owner(&names, "sd(g)").is_none());
    }
}
