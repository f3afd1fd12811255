//! The inputs of the model program: sizes, constants, and priors on the model's own scale.

use lehr_formula::{Intercept, Response};
use lehr_learn::{
    Covariate, FixedEffects, GroupingFactor, LearnError, Link, Monotonic, PredictorScale,
    ResponseForm, ScaledColumn, Smooth, Spline,
};
use serde::{Deserialize, Serialize};

use crate::bounds::Bounds;
use crate::family::{Family, OwnParameter};
use crate::law::{Domain, Kind, Law, either, names_of};
use crate::prior::{GivenPriors, Parameter, PriorLine, PriorOrigin};
use crate::prior_book::PriorBook;
use crate::shrinkage::{Shrinkage, Total};
use crate::term::covariate::{CovariatePlan, covariate_parameters, covariate_plan};
use crate::term::group::{GroupPlan, group_parameters, group_plans};
use crate::term::induced::{InducedPlan, induced_plan};
use crate::term::intercept::InterceptLaw;
use crate::term::monotonic::{MonotonicPlan, monotonic_parameters, monotonic_plans};
use crate::term::parameter::{ParameterPart, ParameterPlan, parameter_plans};
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

/// The inputs of a model plan.
pub(crate) struct ModelParts<'a> {
    pub(crate) family: Family,
    pub(crate) intercept: Intercept,
    pub(crate) predictor_scale: &'a PredictorScale,
    pub(crate) population: &'a FixedEffects,
    pub(crate) groupings: &'a [GroupingFactor],
    pub(crate) smooths: &'a [Smooth],
    pub(crate) splines: &'a [Spline],
    pub(crate) monotonics: &'a [Monotonic],
    /// The formulas of the family's own parameters.
    pub(crate) parameters: Vec<ParameterPart<'a>>,
    pub(crate) induced: Option<&'a Smooth>,
    pub(crate) classes: &'a [String],
    pub(crate) n_rows: usize,
    /// Whether the noise of each row is known.
    pub(crate) has_errors: bool,
    /// Whether every row has its own effect.
    pub(crate) by_row: bool,
    /// The covariate with errors or gaps.
    pub(crate) covariate: Option<&'a Covariate>,
}

impl ModelParts<'_> {
    /// The model plan and its priors in words. Refuses priors that do not fit the model.
    pub(crate) fn plan(
        &self,
        given: &GivenPriors,
    ) -> Result<(ModelPlan, Vec<PriorLine>), LearnError> {
        let mut book = PriorBook {
            family: self.family,
            predictor_scale: self.predictor_scale,
            intercept: self.intercept,
            n_rows: self.n_rows,
            has_errors: self.has_errors,
            given,
            printed: Vec::new(),
        };
        book.check(&self.declared(), &self.column_names())?;
        self.identified(&book)?;
        self.movable(&book)?;
        let columns = &self.population.columns;
        let by_row = self.by_row.then_some(self.induced);
        let model_plan = ModelPlan {
            family: self.family,
            heads: self.heads(),
            centre: self.predictor_scale.centre.clone(),
            unit: self.predictor_scale.unit,
            shifts: columns
                .iter()
                .map(|column| column.mean / column.scale)
                .collect(),
            intercept: self.intercept(&mut book),
            weights: self.weights(&mut book),
            groups: group_plans(self.groupings, &mut book),
            smooths: smooth_plans(self.smooths, &mut book)?,
            splines: spline_plans(self.splines, &mut book),
            monotonics: monotonic_plans(self.monotonics, &mut book),
            induced: (self.induced)
                .map(|smooth| induced_plan(smooth, self.family))
                .transpose()?,
            shape: self.shape(&mut book),
            parameters: parameter_plans(&self.parameters, &mut book),
            classes: self.classes.len(),
            has_offset: false,
            has_row_weight: false,
            has_errors: self.has_errors,
            bounds: Bounds::Exact,
            row_spread: by_row
                .map(|induced| row_law(induced, &mut book))
                .transpose()?,
            covariate: (self.covariate)
                .map(|covariate| covariate_plan(covariate, self.induced, &mut book))
                .transpose()?,
        };
        Ok((model_plan, book.printed))
    }

    /// Refuses a grouping factor with a group for every row if the rows have their own noise: the
    /// data then determine only the sum of the two variances, and the mode is at zero noise. A
    /// user's prior on either standard deviation is accepted as information that separates them.
    fn identified(&self, book: &PriorBook<'_>) -> Result<(), LearnError> {
        let ModelParts { family, n_rows, .. } = *self;
        let is_lonely = |grouping: &&GroupingFactor| {
            let has_intercept = grouping.effects.iter().any(|name| name == "Intercept");
            grouping.count() == n_rows && grouping.of.is_none() && has_intercept
        };
        let lonely = self.groupings.iter().find(is_lonely);
        let Some(GroupingFactor { label, .. }) =
            lonely.filter(|_| family.link() == Link::Identity && !self.has_errors)
        else {
            return Ok(());
        };
        let spread = format!("sd({label})");
        let names = ["sigma".into(), format!("sd({label}, Intercept)"), spread];
        if book.law(&names).is_some() {
            return Ok(());
        }
        Err(LearnError::Column {
            at: format!("group {label}"),
            expected: format!("fewer groups than rows for family {family}"),
            found: format!("{n_rows} groups in {n_rows} rows"),
            hint: format!(
                "each row is a group of its own, so sd({label}) cannot be told from sigma: leave the term out, \
                 or say what is known of sigma, as in --prior 'sigma ~ gamma(25, 50)'"
            ),
        })
    }

    /// Refuses bounds on intercepts: the model's intercepts are at the means of the columns, where
    /// bounds would depend on the coefficients.
    fn movable(&self, book: &PriorBook<'_>) -> Result<(), LearnError> {
        let parameters = self.parameters.iter();
        let own = parameters.map(ParameterPart::intercept_name);
        let covariate = self.covariate.map(|one| one.names()[1].clone());
        for name in own.chain(["Intercept".to_owned()]).chain(covariate) {
            let law = book.law(std::slice::from_ref(&name));
            if let Some(law) = law.filter(|law| !law.kind.is_movable()) {
                return Err(LearnError::Column {
                    at: format!("prior on {name}"),
                    expected: "a distribution without bounds".into(),
                    found: law.to_string(),
                    hint: format!("use {}", either(&names_of(Kind::is_movable))),
                });
            }
        }
        Ok(())
    }

    /// The columns of the fixed effects that can have their own prior.
    fn column_names(&self) -> Vec<&str> {
        let columns = self.population.columns.iter();
        columns.map(|column| column.name.as_str()).collect()
    }

    fn heads(&self) -> Vec<String> {
        match self.family.form() {
            ResponseForm::Unordered => (self.classes[1..].iter())
                .map(|class| format!("[{class}]"))
                .collect(),
            _ => vec![String::new()],
        }
    }

    /// The parameters of the family besides the linear predictor that all rows share.
    fn own(&self) -> Vec<&'static OwnParameter> {
        if self.has_errors {
            return Vec::new();
        }
        let has_formula = |name: &str| self.parameters.iter().any(|part| part.name == name);
        let own = self.family.info().own.iter();
        own.filter(|own| !has_formula(own.name)).collect()
    }

    fn has_intercept(&self) -> bool {
        self.intercept == Intercept::Present && self.family.form() != ResponseForm::Ordered
    }

    /// Every parameter that can have a prior.
    fn declared(&self) -> Vec<Parameter> {
        let mut found = Vec::new();
        if self.has_intercept() {
            found.push(Parameter::named("Intercept", Domain::Real));
        }
        for column in &self.population.columns {
            let names = vec![column.name.clone(), "weight".into()];
            let domain = Domain::Real;
            found.push(Parameter { names, domain });
        }
        found.extend(group_parameters(self.groupings));
        found.extend(self.by_row.then(row_parameter));
        found.extend(self.covariate.into_iter().flat_map(covariate_parameters));
        found.extend(smooth_parameters(self.smooths));
        found.extend(spline_parameters(self.splines));
        found.extend(monotonic_parameters(self.monotonics));
        for own in self.own() {
            let (law, _) = own.prior(self.predictor_scale.unit);
            found.push(Parameter::named(own.name, law.kind.domain()));
        }
        found.extend(self.parameters.iter().flat_map(ParameterPart::declared));
        found
    }

    fn intercept(&self, book: &mut PriorBook<'_>) -> Option<InterceptLaw> {
        if !self.has_intercept() {
            return None;
        }
        let predictor = self.predictor_scale;
        if let Some(law) = book.law(&["Intercept".to_owned()]) {
            let law = law.clone();
            book.print("Intercept", law.to_string(), PriorOrigin::Given);
            return Some(InterceptLaw::AtZero(law.divided(predictor.unit)));
        }
        for (head, centre) in self.heads().iter().zip(&predictor.centre) {
            let law = Law::new(Kind::Normal, &[*centre, 2.5 * predictor.unit]);
            let text = match self.population.columns.len() {
                0 => law.to_string(),
                _ => format!("{law} at the means of the columns"),
            };
            book.print(&format!("Intercept{head}"), text, PriorOrigin::Default);
        }
        Some(InterceptLaw::AtMeans(Law::new(Kind::Normal, &[0.0, 2.5])))
    }

    fn weights(&self, book: &mut PriorBook<'_>) -> Vec<Law> {
        let predictor = self.predictor_scale;
        let population = self.population;
        let law = |column: &ScaledColumn| {
            let unit = predictor.unit / column.scale;
            let scale = 2.5 * predictor.widening * predictor.unit / column.contrast;
            let default = Law::new(Kind::Normal, &[0.0, scale]);
            let names = [column.name.clone(), "weight".into()];
            book.choose(&names, &column.name, &default, unit)
        };
        population.columns.iter().map(law).collect()
    }

    fn shape(&self, book: &mut PriorBook<'_>) -> Vec<(String, Law)> {
        let own = self.own().into_iter();
        let chosen = own.map(|own| {
            let (default, unit) = own.prior(self.predictor_scale.unit);
            let name = own.name.to_owned();
            let shown = if name == "df" { "df - 1" } else { &name };
            let law = book.choose(std::slice::from_ref(&name), shown, &default, unit);
            (name, law)
        });
        chosen.collect()
    }
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
}

impl ModelPlan {
    /// Refuses bounds if the noise of a function by inducing points is part of the distribution.
    pub(crate) fn check_bounds(&self, response: &Response) -> Result<(), LearnError> {
        match &self.induced {
            Some(plan) if self.bounds != Bounds::Exact => Err(LearnError::Column {
                at: plan.label.clone(),
                expected:
                    "a response without cens(...) and trunc(...) for a function by inducing points"
                        .into(),
                found: response.to_string(),
                hint: "functions of one or two columns have them, as in gp(x1) + gp(x2, x3)".into(),
            }),
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
