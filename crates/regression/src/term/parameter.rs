//! Parameters of a family that vary by row: `sigma ~ x`.

use lehr_formula::Intercept;
use lehr_graph::Expr;
use lehr_learn::{FixedEffects, Link};
use lehr_model::{Row, Tracer};
use serde::{Deserialize, Serialize};

use super::intercept::InterceptLaw;
use crate::Family;
use crate::column_name::parameter_column;
use crate::family::{OwnParameter, ParameterUnit};
use crate::law::{Domain, Kind, Law, sample};
use crate::law_site::sample_runs;
use crate::prior::{Parameter, PriorOrigin};
use crate::prior_book::PriorBook;

/// Whether a parameter can vary by row. Degrees of freedom are hard to determine even if all rows
/// share them, and cutpoints are a vector.
pub(crate) fn can_vary(name: &str) -> bool {
    !matches!(name, "df" | "cutpoint")
}

/// The inputs of a parameter's model.
pub(crate) struct ParameterPart<'a> {
    pub(crate) name: &'a str,
    pub(crate) intercept: Intercept,
    pub(crate) population: &'a FixedEffects,
}

/// A parameter as a function of columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ParameterPlan {
    pub(crate) name: String,
    link: ParameterLink,
    /// The constant of the linear predictor, at which a parameter has its typical size.
    pub(crate) centre: f64,
    pub(crate) intercept: Option<InterceptLaw>,
    /// mean/scale of each column.
    pub(crate) shifts: Vec<f64>,
    pub(crate) weights: Vec<Law>,
}

/// The meaning of a parameter's linear predictor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ParameterLink {
    /// The logarithm of a positive parameter.
    Log,
    /// The log odds of a probability.
    Logit,
}

impl ParameterLink {
    /// The link of a response whose rows have similar information on their predictor.
    pub(crate) fn as_link(self) -> Link {
        match self {
            ParameterLink::Log => Link::Log,
            ParameterLink::Logit => Link::Logit,
        }
    }

    /// The prior standard deviation of an intercept; for probabilities the prior is then nearly
    /// uniform.
    fn spread(self) -> f64 {
        match self {
            ParameterLink::Log => 2.5,
            ParameterLink::Logit => 1.5,
        }
    }
}

/// The sites of one parameter.
pub(crate) struct ParameterSites<'g> {
    weight: Option<Expr<'g>>,
    intercept: Option<Expr<'g>>,
}

impl ParameterPart<'_> {
    fn names(&self, coefficient: &str) -> Vec<String> {
        let name = self.name;
        vec![format!("{name}.{coefficient}"), format!("{name}.weight")]
    }

    pub(crate) fn intercept_name(&self) -> String {
        format!("{}.Intercept", self.name)
    }

    /// The parameters that can have a prior.
    pub(crate) fn declared(&self) -> Vec<Parameter> {
        let intercept = (self.intercept == Intercept::Present)
            .then(|| Parameter::named(&self.intercept_name(), Domain::Real));
        let columns = self.population.columns.iter();
        let weights = columns.map(|column| Parameter {
            names: self.names(&column.name),
            domain: Domain::Real,
        });
        intercept.into_iter().chain(weights).collect()
    }
}

/// The link of a parameter of a family.
pub(crate) fn parameter_link(family: Family, name: &str) -> ParameterLink {
    match own_parameter(family, name).prior(1.0).0.kind.domain() {
        Domain::Unit => ParameterLink::Logit,
        _ => ParameterLink::Log,
    }
}

fn own_parameter(family: Family, name: &str) -> &'static OwnParameter {
    let mut own = family.info().own.iter();
    let own = own.find(|own| own.name == name);
    own.expect("a parameter of the family, as was checked")
}

/// The formulas of parameters.
pub(crate) fn parameter_parts<'a>(
    book: &PriorBook<'a>,
) -> impl Iterator<Item = ParameterPart<'a>> + use<'a> {
    let formulas = book.terms.parameters.iter().zip(&book.facts.parameters);
    formulas.map(|(terms, population)| ParameterPart {
        name: terms.parameter(),
        intercept: terms.intercept,
        population,
    })
}

/// The parameters that vary by row, with their priors.
pub(crate) fn parameter_plans(book: &mut PriorBook<'_>) -> Vec<ParameterPlan> {
    let parts = parameter_parts(book);
    parts.map(|part| parameter_plan(&part, book)).collect()
}

/// The prior of an intercept in words: it is at the means of the columns, if there are any.
pub(crate) fn at_means(law: &Law, population: &FixedEffects) -> String {
    match population.columns.len() {
        0 => law.to_string(),
        _ => format!("{law} at the means of the columns"),
    }
}

fn parameter_plan(part: &ParameterPart<'_>, book: &mut PriorBook<'_>) -> ParameterPlan {
    let own = own_parameter(book.family, part.name);
    let link = parameter_link(book.family, part.name);
    let centre = match own.unit {
        ParameterUnit::One => 0.0,
        ParameterUnit::Response => book.unit().ln(),
    };
    let columns = &part.population.columns;
    let weights = columns.iter().map(|column| {
        let default = Law::new(Kind::Normal, &[0.0, column.contrast.recip()]);
        let names = part.names(&column.name);
        book.choose(&names, &default, column.scale.recip())
    });
    let weights = weights.collect();
    ParameterPlan {
        name: part.name.to_owned(),
        intercept: parameter_intercept(part, link, centre, book),
        shifts: part.population.shifts(),
        link,
        centre,
        weights,
    }
}

fn parameter_intercept(
    part: &ParameterPart<'_>,
    link: ParameterLink,
    centre: f64,
    book: &mut PriorBook<'_>,
) -> Option<InterceptLaw> {
    if part.intercept == Intercept::Absent {
        return None;
    }
    let name = part.intercept_name();
    if let Some(law) = book.law(std::slice::from_ref(&name)) {
        book.print(&name, law.to_string(), PriorOrigin::Given);
        return Some(InterceptLaw::AtZero(law.clone()));
    }
    let shown = Law::new(Kind::Normal, &[centre, link.spread()]);
    let text = at_means(&shown, part.population);
    book.print(&name, text, PriorOrigin::Default);
    let law = Law::new(Kind::Normal, &[0.0, link.spread()]);
    Some(InterceptLaw::AtMeans(law))
}

impl ParameterPlan {
    pub(crate) fn weight_site(&self) -> String {
        format!("{}.weight", self.name)
    }

    pub(crate) fn intercept_site(&self) -> String {
        format!("{}.intercept", self.name)
    }

    /// Creates the sites, and names the intercept on the original scale.
    pub(crate) fn sites<'g>(&self, m: &Tracer<'g>) -> ParameterSites<'g> {
        let weight = (!self.weights.is_empty())
            .then(|| sample_runs(m, &self.weight_site(), &self.weights, None));
        let means = m.graph().constant([self.shifts.len()], &self.shifts);
        let shift = weight.map(|weight| means.dot(weight));
        let intercept = self.intercept.as_ref().map(|law| match law {
            InterceptLaw::AtMeans(law) => {
                sample(m, &self.intercept_site(), std::slice::from_ref(law), &[])
            }
            InterceptLaw::AtZero(law) => {
                let start = m.graph().scalar(-self.centre);
                let moved = shift.map_or(start, |shift| start + shift);
                law.sample_moved(m, &self.intercept_site(), moved)
            }
        });
        if let (Some(intercept), Some(shift)) = (intercept, shift) {
            let moved = intercept - shift + self.centre;
            m.deterministic(&format!("{}.Intercept", self.name), moved);
        }
        ParameterSites { weight, intercept }
    }

    /// The parameter in each row, `[n]`, given the contribution of group terms and smooths to its
    /// predictor.
    pub(crate) fn value<'g>(
        &self,
        row: &Row<'_, 'g>,
        sites: &ParameterSites<'g>,
        more: Option<Expr<'g>>,
    ) -> Expr<'g> {
        let mut sum = row.filled_rows(self.centre);
        if let Some(weight) = sites.weight {
            sum = sum + row.matrix(&parameter_column(&self.name)).dot(weight);
        }
        if let Some(intercept) = sites.intercept {
            sum = sum + intercept;
        }
        if let Some(more) = more {
            sum = sum + more;
        }
        match self.link {
            ParameterLink::Log => sum.exp(),
            ParameterLink::Logit => sum.sigmoid(),
        }
    }
}
