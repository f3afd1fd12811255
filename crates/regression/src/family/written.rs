//! Parses families in the forms that people use, as in R or by names of other programs.

use super::Family;
use crate::error::RegressionError;

/// A family as written, perhaps in the form of R: `cumulative("probit")`, `Gamma(link = "log")`.
pub(super) struct WrittenFamily<'a> {
    pub(super) name: String,
    pub(super) link: Option<&'a str>,
}

impl<'a> WrittenFamily<'a> {
    pub(super) fn of(text: &'a str) -> WrittenFamily<'a> {
        let text = text.trim();
        let call = text.strip_suffix(')').and_then(|call| call.split_once('('));
        let (name, inside) = call.unwrap_or((text, ""));
        let link = inside.split(',').next().unwrap_or_default();
        let link = link.trim().strip_prefix("link").unwrap_or(link);
        let link = link.trim_matches(|c: char| c.is_whitespace() || "='\"".contains(c));
        WrittenFamily {
            name: name.trim().to_lowercase().replace(['-', '.'], "_"),
            link: Some(link).filter(|link| !link.is_empty()),
        }
    }

    /// Refuses a link other than the family's.
    pub(super) fn check_link(&self, family: Family) -> Result<Family, RegressionError> {
        let own = family.link().name();
        match self.link {
            Some(link) if link != own => Err(RegressionError::Family {
                name: format!("{family}({link})"),
                hint: format!("the link of {family} is {own}: write --family {family}"),
            }),
            _ => Ok(family),
        }
    }
}

/// The nearest available alternative to a family of other programs.
pub(super) fn absent(name: &str) -> Option<&'static str> {
    let near = match name {
        "probit" => "--family bernoulli, whose link is logit, or ordinal_probit",
        "nbinom1" | "quasipoisson" | "compois" | "discrete_weibull" => {
            "--family negbinomial or generalized_poisson for counts that vary more than poisson ones"
        }
        "geometric" => "--family negbinomial --prior 'shape ~ lognormal(0, 0.01)'",
        "multinomial" => {
            "--family categorical for one class in each row; counts of classes become one row for each class, with \
             weights(count) in the formula"
        }
        "sratio" | "cratio" | "acat" | "hurdle_cumulative" => {
            "--family ordinal (cumulative logit) or ordinal_probit"
        }
        "shifted_lognormal" | "exgaussian" | "wiener" => "--family lognormal",
        "skew_normal" | "asym_laplace" | "quantile" => "--family student, or lognormal if skewed",
        "hurdle_gamma"
        | "hurdle_lognormal"
        | "tweedie"
        | "zero_inflated_beta"
        | "zero_one_inflated_beta" => {
            "two fits: --family bernoulli of whether it is 0, and gamma, lognormal or beta of the rows that are not"
        }
        "gen_extreme_value" | "frechet" | "cox" => "--family weibull",
        _ => return None,
    };
    Some(near)
}
