//! The inputs of the model program: sizes, constants, and priors on the model's own scale.

use lehr_formula::{Intercept, Response};
use lehr_learn::{GroupingFactor, LearnError, Link, ResponseForm, ScaledColumn};
use serde::{Deserialize, Serialize};

use crate::bounds::Bounds;
use crate::family::{Family, OwnParameter};
use crate::law::{Domain, Kind, Law, either, names_of};
use crate::prior::{Parameter, PriorLine, PriorOrigin};
use crate::prior_book::PriorBook;
use crate::shrinkage::{Shrinkage, Total};
use crate::term::covariate::{CovariatePlan, covariate_parameters, covariate_plan};
use crate::term::group::{GroupPlan, group_parameters, group_plans};
use crate::term::induced::{InducedPlan, induced_plan};
use crate::term::intercept::InterceptLaw;
use crate::term::monotonic::{MonotonicPlan, monotonic_parameters, monotonic_plans};
use crate::term::parameter::{ParameterPlan, at_means, parameter_parts, parameter_plans};
use crate::term::row_effect::{row_law, row_parameter};
use crate::term::smooth::{SmoothPlan, smooth_parameters, smooth_plans};
use crate::term::spline::{SplinePlan, spline_parameters, spline_plans};

/// A model without data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ModelPlan {
    pub(crate) family: Family,
    /// The endings of the coefficients' names in each linear predictor: empty for families with
    /// one, `[dog]` for the logit of a class.
    pub(crate) heads: Vec<String>,
    pub(crate) centre: Vec<f64>,
    pub(crate) unit: f64,
    pub(crate) intercept: Option<InterceptLaw>,
    /// mean/scale of each common column.
    pub(crate) shifts: Vec<f64>,
    pub(crate) weights: Vec<Law>,
    pub(crate) groups: Vec<GroupPlan>,
    pub(crate) smooths: Vec<SmoothPlan>,
    pub(crate) splines: Vec<SplinePlan>,
    pub(crate) monotonics: Vec<MonotonicPlan>,
    /// The function by inducing points.
    pub(crate) induced: Option<InducedPlan>,
    /// The family's own parameters.
    pub(crate) shape: Vec<(String, Law)>,
    /// The family's own parameters that vary by row.
    #[serde(default)]
    pub(crate) parameters: Vec<ParameterPlan>,
    /// How many classes the response has; 0 for numbers.
    pub(crate) classes: usize,
    pub(crate) has_offset: bool,
    pub(crate) has_row_weight: bool,
    /// Whether the noise of each row is known.
    pub(crate) has_errors: bool,
    /// The bounds of the response.
    #[serde(default)]
    pub(crate) bounds: Bounds,
    /// The prior of the standard deviation of an effect of each row.
    #[serde(default)]
    pub(crate) row_spread: Option<Law>,
    /// The covariate with errors or gaps.
    #[serde(default)]
    pub(crate) covariate: Option<CovariatePlan>,
}

impl PriorBook<'_> {
    /// The model plan and its priors in words. Refuses priors that do not fit the model.
    pub(crate) fn plan(mut self) -> Result<(ModelPlan, Vec<PriorLine>), LearnError> {
        let (family, terms, facts) = (self.family, self.terms, self.facts);
        self.given.check(&self.declared())?;
        let columns = facts.population.columns.iter();
        let columns: Vec<&str> = columns.map(|column| column.name.as_str()).collect();
        self.given.check_joint(&columns, family)?;
        self.check_lonely_rows()?;
        self.check_intercepts()?;
        let model_plan = ModelPlan {
            family,
            heads: self.heads(),
            centre: facts.predictor_scale.centre.clone(),
            unit: self.unit(),
            shifts: facts.population.shifts(),
            intercept: self.intercept(),
            weights: self.weights(),
            groups: group_plans(&mut self),
            smooths: smooth_plans(&mut self)?,
            splines: spline_plans(&mut self),
            monotonics: monotonic_plans(&mut self),
            induced: (self.induced.map(|smooth| induced_plan(smooth, family))).transpose()?,
            shape: self.shape(),
            parameters: parameter_plans(&mut self),
            classes: facts.outcome.classes.len(),
            has_offset: !terms.offsets.is_empty(),
            has_row_weight: terms.weights.is_some(),
            has_errors: self.has_errors(),
            bounds: Bounds::of(&terms.response),
            row_spread: terms.by_row.then(|| row_law(&mut self)).transpose()?,
            covariate: (facts.covariate.as_ref())
                .map(|covariate| covariate_plan(covariate, &mut self))
                .transpose()?,
        };
        model_plan.check_bounds(&terms.response)?;
        Ok((model_plan, self.printed))
    }

    /// Refuses a grouping factor with a group for every row if the rows have their own noise: the
    /// data then determine only the sum of the two variances, and the mode is at zero noise. A
    /// user's prior on either standard deviation is accepted as information that separates them.
    fn check_lonely_rows(&self) -> Result<(), LearnError> {
        let (family, n_rows) = (self.family, self.facts.n_rows);
        let is_lonely = |grouping: &&GroupingFactor| {
            let has_intercept = grouping.effects.iter().any(|name| name == "Intercept");
            grouping.count() == n_rows && grouping.of.is_none() && has_intercept
        };
        let lonely = self.facts.groupings.iter().find(is_lonely);
        let Some(GroupingFactor { label, .. }) =
            lonely.filter(|_| family.link() == Link::Identity && !self.has_errors())
        else {
            return Ok(());
        };
        let spread = format!("sd({label})");
        let names = ["sigma".into(), format!("sd({label}, Intercept)"), spread];
        if self.law(&names).is_some() {
            return Ok(());
        }
        Err(LearnError::column(
            format!("group {label}"),
            format!("fewer groups than rows for family {family}"),
            format!("{n_rows} groups in {n_rows} rows"),
            format!(
                "each row is a group of its own, so sd({label}) cannot be told from sigma: leave the term out, \
                 or say what is known of sigma, as in --prior 'sigma ~ gamma(25, 50)'"
            ),
        ))
    }

    /// Refuses bounds on intercepts: the model's intercepts are at the means of the columns, where
    /// bounds would depend on the coefficients.
    fn check_intercepts(&self) -> Result<(), LearnError> {
        let own = parameter_parts(self).map(|part| part.intercept_name());
        let covariate = self.facts.covariate.as_ref();
        let covariate = covariate.map(|one| one.names()[1].clone());
        for name in own.chain(["Intercept".to_owned()]).chain(covariate) {
            let law = self.law(std::slice::from_ref(&name));
            if let Some(law) = law.filter(|law| !law.kind.is_movable()) {
                return Err(LearnError::column(
                    format!("prior on {name}"),
                    "a distribution without bounds",
                    law.to_string(),
                    format!("use {}", either(&names_of(Kind::is_movable))),
                ));
            }
        }
        Ok(())
    }

    fn heads(&self) -> Vec<String> {
        match self.family.form() {
            ResponseForm::Unordered => (self.facts.outcome.classes[1..].iter())
                .map(|class| format!("[{class}]"))
                .collect(),
            _ => vec![String::new()],
        }
    }

    /// The parameters of the family besides the linear predictor that all rows share.
    fn own(&self) -> Vec<&'static OwnParameter> {
        if self.has_errors() {
            return Vec::new();
        }
        let has_formula = |name| {
            let mut formulas = self.terms.parameters.iter();
            formulas.any(|own| own.parameter() == name)
        };
        let own = self.family.info().own.iter();
        own.filter(|own| !has_formula(own.name)).collect()
    }

    fn has_intercept(&self) -> bool {
        self.terms.intercept == Intercept::Present && self.family.form() != ResponseForm::Ordered
    }

    /// Every parameter that can have a prior.
    fn declared(&self) -> Vec<Parameter> {
        let facts = self.facts;
        let intercept = (self.has_intercept()).then(|| Parameter::named("Intercept", Domain::Real));
        let mut found: Vec<Parameter> = intercept.into_iter().collect();
        found.extend(facts.population.columns.iter().map(|column| Parameter {
            names: weight_names(column),
            domain: Domain::Real,
        }));
        found.extend(group_parameters(&facts.groupings));
        found.extend(self.terms.by_row.then(row_parameter));
        found.extend(facts.covariate.iter().flat_map(covariate_parameters));
        found.extend(smooth_parameters(&facts.smooths));
        found.extend(spline_parameters(&facts.splines));
        found.extend(monotonic_parameters(&facts.monotonics));
        found.extend(self.own().into_iter().map(|own| {
            let (law, _) = own.prior(self.unit());
            Parameter::named(own.name, law.kind.domain())
        }));
        found.extend(parameter_parts(self).flat_map(|part| part.declared()));
        found
    }

    fn intercept(&mut self) -> Option<InterceptLaw> {
        if !self.has_intercept() {
            return None;
        }
        let unit = self.unit();
        if let Some(law) = self.law(&["Intercept".to_owned()]) {
            self.print("Intercept", law.to_string(), PriorOrigin::Given);
            return Some(InterceptLaw::AtZero(law.divided(unit)));
        }
        let facts = self.facts;
        for (head, centre) in self.heads().iter().zip(&facts.predictor_scale.centre) {
            let law = Law::new(Kind::Normal, &[*centre, 2.5 * unit]);
            let text = at_means(&law, &facts.population);
            self.print(&format!("Intercept{head}"), text, PriorOrigin::Default);
        }
        Some(InterceptLaw::AtMeans(Law::new(Kind::Normal, &[0.0, 2.5])))
    }

    fn weights(&mut self) -> Vec<Law> {
        let facts = self.facts;
        let predictor = &facts.predictor_scale;
        let law = |column: &ScaledColumn| {
            let scale = 2.5 * predictor.widening * predictor.unit / column.contrast;
            let default = Law::new(Kind::Normal, &[0.0, scale]);
            let unit = predictor.unit / column.scale;
            self.choose(&weight_names(column), &default, unit)
        };
        facts.population.columns.iter().map(law).collect()
    }

    fn shape(&mut self) -> Vec<(String, Law)> {
        let own = self.own().into_iter();
        let chosen = own.map(|own| {
            let (default, unit) = own.prior(self.unit());
            let name = own.name.to_owned();
            let shown = if name == "df" { "df - 1" } else { own.name };
            let law = self.choose_shown(shown, std::slice::from_ref(&name), &default, unit);
            (name, law)
        });
        chosen.collect()
    }
}

/// The names under which a coefficient can have a prior.
fn weight_names(column: &ScaledColumn) -> Vec<String> {
    vec![column.name.clone(), "weight".into()]
}

impl ModelPlan {
    /// The joint prior of all fixed effects, if there is one.
    pub(crate) fn shrinkage(&self) -> Option<Shrinkage<'_>> {
        let total = match self.family.link() {
            Link::Identity => Total::Response,
            Link::Log | Link::Logit | Link::Probit | Link::TanHalf => Total::Noise,
        };
        Shrinkage::of(&self.weights, total)
    }

    /// Refuses bounds if the noise of a function by inducing points is part of the distribution.
    pub(crate) fn check_bounds(&self, response: &Response) -> Result<(), LearnError> {
        match &self.induced {
            Some(plan) if self.bounds != Bounds::Exact => Err(LearnError::column(
                plan.label.clone(),
                "a response without cens(...) and trunc(...) for a function by inducing points",
                response.to_string(),
                "functions of one or two columns have them, as in gp(x1) + gp(x2, x3)",
            )),
            _ => Ok(()),
        }
    }

    /// The names of all functions, in the order of the design.
    pub(crate) fn function_labels(&self) -> impl Iterator<Item = &str> {
        let smooths = self.smooths.iter().map(|plan| plan.label.as_str());
        let splines = self.splines.iter().map(|plan| plan.label.as_str());
        let induced = self.induced.iter().map(|plan| plan.label.as_str());
        smooths.chain(splines).chain(induced)
    }
}
