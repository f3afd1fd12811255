//! What the model program needs to know: sizes, constants, and priors on the model's own scale.

use lehr_formula::Intercept;
use serde::{Deserialize, Serialize};

use crate::bounds::Bounds;
use crate::family::{Family, Form as FamilyForm, Link, OwnParameter};
use crate::law::{Domain, Kind, Law, either, names_of};
use crate::learn::error::LearnError;
use crate::learn::fixed_effects::Population;
use crate::learn::grouping_factor::Grouping;
use crate::learn::response::anchor::Anchor;
use crate::learn::smooth_term::covariate::Covariate;
use crate::learn::smooth_term::monotonic::Monotonic;
use crate::learn::smooth_term::smooth::Smooth;
use crate::learn::smooth_term::spline::Spline;
use crate::prior::{GivenPriors, Parameter, PriorLine, PriorOrigin};
use crate::shrinkage::{Shrinkage, Total};
use crate::term::covariate::CovariatePlan;
use crate::term::induced::InducedPlan;
use crate::term::monotonic::MonotonicPlan;
use crate::term::parameter::{ParameterPart, ParameterPlan};
use crate::term::smooth::SmoothPlan;
use crate::term::spline::SplinePlan;
use lehr_formula::Response;

/// A model without data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Blueprint {
    pub(crate) family: Family,
    /// What follows the names of each linear predictor's coefficients: nothing for families
    /// with one, `[dog]` for the logit of a class.
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
    /// The family's own parameters that rows vary.
    #[serde(default)]
    pub(crate) parameters: Vec<ParameterPlan>,
    /// How many classes the response has; 0 for numbers.
    pub(crate) classes: usize,
    pub(crate) has_offset: bool,
    pub(crate) has_row_weight: bool,
    /// Whether the noise of each row is known.
    pub(crate) has_errors: bool,
    /// How the response is known.
    #[serde(default)]
    pub(crate) bounds: Bounds,
    /// The spread of an effect of each row.
    #[serde(default)]
    pub(crate) row_spread: Option<Law>,
    /// The covariate with errors or gaps.
    #[serde(default)]
    pub(crate) covariate: Option<CovariatePlan>,
}

/// The prior of the intercept, and of which one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum InterceptLaw {
    /// Of the predictor's value where all common columns are at their means, less the centre.
    AtMeans(Law),
    /// Of the intercept itself, where all common columns are 0.
    AtZero(Law),
}

/// A group term of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct GroupPlan {
    /// The label, made unique.
    pub(crate) site: String,
    /// The parameter whose formula has it; none for the formula of the response.
    pub(crate) of: Option<String>,
    pub(crate) count: usize,
    /// Groups of rows to predict that were not fitted.
    pub(crate) unseen: usize,
    pub(crate) form: Form,
    pub(crate) spreads: Vec<Law>,
    pub(crate) correlation: Option<Law>,
    pub(crate) has_slopes: bool,
}

/// What the site of a group term holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Form {
    /// Standard normals, which the rows multiply by the spread: nearly independent of the
    /// spread where a group's few rows say little about it.
    Standard,
    /// The effects themselves: nearly independent of their spread where rows determine them.
    Effect,
}

impl Form {
    /// Rows per group from which a group's own rows say more about its effect than the other
    /// groups do, at effects of half the spread of a row's noise.
    const ENOUGH: usize = 8;

    /// Correlated effects are standard: their density needs the factor's inverse.
    fn of(grouping: &Grouping, rows: usize) -> Form {
        let many = rows >= Form::ENOUGH * grouping.count();
        if many && !grouping.correlated {
            Form::Effect
        } else {
            Form::Standard
        }
    }
}

/// What a blueprint is made of.
pub(crate) struct Parts<'a> {
    pub(crate) family: Family,
    pub(crate) intercept: Intercept,
    pub(crate) anchor: &'a Anchor,
    pub(crate) population: &'a Population,
    pub(crate) groupings: &'a [Grouping],
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
    /// Whether every row has an effect of its own.
    pub(crate) by_row: bool,
    /// The covariate with errors or gaps.
    pub(crate) covariate: Option<&'a Covariate>,
}

/// A blueprint while its priors are chosen.
pub(crate) struct BlueprintBuilder<'a> {
    pub(crate) parts: Parts<'a>,
    pub(crate) priors: &'a GivenPriors,
    parameters: Vec<Parameter>,
    /// Every prior in words, on the original scale.
    pub(crate) printed: Vec<PriorLine>,
}

impl<'a> BlueprintBuilder<'a> {
    pub(crate) fn new(parts: Parts<'a>, priors: &'a GivenPriors) -> BlueprintBuilder<'a> {
        BlueprintBuilder {
            parts,
            priors,
            parameters: Vec::new(),
            printed: Vec::new(),
        }
    }

    /// The blueprint and its priors in words. Refuses priors that do not fit the model.
    pub(crate) fn finish(mut self) -> Result<(Blueprint, Vec<PriorLine>), LearnError> {
        self.declare();
        self.priors.check(&self.parameters)?;
        self.priors
            .check_joint(&self.column_names(), self.parts.family)?;
        self.identified()?;
        self.movable()?;
        let columns = &self.parts.population.columns;
        let blueprint = Blueprint {
            family: self.parts.family,
            heads: self.heads(),
            centre: self.parts.anchor.centre.clone(),
            unit: self.parts.anchor.unit,
            shifts: columns
                .iter()
                .map(|column| column.mean / column.scale)
                .collect(),
            intercept: self.intercept(),
            weights: self.weights(),
            groups: self.groups(),
            smooths: self.smooth_plans(self.parts.smooths, self.parts.anchor.unit)?,
            splines: self.spline_plans(),
            monotonics: self.monotonic_plans(),
            induced: self.induced_plan()?,
            shape: self.shape(),
            parameters: self.parameter_plans(),
            classes: self.parts.classes.len(),
            has_offset: false,
            has_row_weight: false,
            has_errors: self.parts.has_errors,
            bounds: Bounds::Exact,
            row_spread: self.row_law()?,
            covariate: self.covariate_plan()?,
        };
        Ok((blueprint, self.printed))
    }

    /// Refuses a group for every row where the rows have noise of their own: the data then
    /// know the sum of the two variances and the mode is at no noise at all. A user's prior on
    /// either spread is taken as knowledge that tells them apart.
    fn identified(&self) -> Result<(), LearnError> {
        let Parts { family, n_rows, .. } = self.parts;
        let is_lonely = |grouping: &&Grouping| {
            let has_intercept = grouping.effects.iter().any(|name| name == "Intercept");
            grouping.count() == n_rows && grouping.of.is_none() && has_intercept
        };
        let lonely = self.parts.groupings.iter().find(is_lonely);
        let Some(Grouping { label, .. }) =
            lonely.filter(|_| family.link() == Link::Identity && !self.parts.has_errors)
        else {
            return Ok(());
        };
        let spread = format!("sd({label})");
        let names = ["sigma".into(), format!("sd({label}, Intercept)"), spread];
        if self.priors.law(&names).is_some() {
            return Ok(());
        }
        Err(LearnError::Column {
            at: format!("group {label}"),
            expected: format!("fewer groups than rows for family {family}"),
            found: format!("{n_rows} groups in {n_rows} rows"),
            hint: format!(
                "each row is a group of its own, so sd({label}) cannot be told from sigma: leave the term out, or say what is known of sigma, as in --prior 'sigma ~ gamma(25, 50)'"
            ),
        })
    }

    /// Refuses bounds on intercepts: the model has them at the means of the columns, where bounds
    /// would move with the coefficients.
    fn movable(&self) -> Result<(), LearnError> {
        let parameters = self.parts.parameters.iter();
        let own = parameters.map(ParameterPart::intercept_name);
        let covariate = self.parts.covariate.map(|one| one.names()[1].clone());
        for name in own.chain(["Intercept".to_owned()]).chain(covariate) {
            let law = self.priors.law(std::slice::from_ref(&name));
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

    /// The common columns that could have a prior of their own.
    fn column_names(&self) -> Vec<&str> {
        let columns = self.parts.population.columns.iter();
        columns.map(|column| column.name.as_str()).collect()
    }

    fn heads(&self) -> Vec<String> {
        match self.parts.family.form() {
            FamilyForm::Unordered => (self.parts.classes[1..].iter())
                .map(|class| format!("[{class}]"))
                .collect(),
            _ => vec![String::new()],
        }
    }

    /// The parameters that the family has besides the linear predictor, the same in all rows.
    fn own(&self) -> Vec<&'static OwnParameter> {
        if self.parts.has_errors {
            return Vec::new();
        }
        let has_formula = |name: &str| self.parts.parameters.iter().any(|part| part.name == name);
        let own = self.parts.family.info().own.iter();
        own.filter(|own| !has_formula(own.name)).collect()
    }

    fn has_intercept(&self) -> bool {
        self.parts.intercept == Intercept::Present
            && self.parts.family.form() != FamilyForm::Ordered
    }

    /// Lists every parameter that can have a prior.
    fn declare(&mut self) {
        let mut found = Vec::new();
        if self.has_intercept() {
            found.push(Parameter::named("Intercept", Domain::Real));
        }
        for column in &self.parts.population.columns {
            let names = vec![column.name.clone(), "weight".into()];
            let domain = Domain::Real;
            found.push(Parameter { names, domain });
        }
        for grouping in self.parts.groupings {
            for effect in &grouping.effects {
                let names = spread_names(grouping, effect);
                let domain = Domain::Positive;
                found.push(Parameter { names, domain });
            }
            if grouping.correlated {
                let name = format!("cor({})", grouping.label);
                found.push(Parameter::named(&name, Domain::Correlation));
            }
        }
        found.extend(self.row_parameter());
        found.extend(self.covariate_parameters());
        found.extend(Self::smooth_parameters(self.parts.smooths));
        found.extend(Self::spline_parameters(self.parts.splines));
        found.extend(Self::monotonic_parameters(self.parts.monotonics));
        for own in self.own() {
            let (law, _) = own.prior(self.parts.anchor.unit);
            found.push(Parameter::named(own.name, law.kind.domain()));
        }
        found.extend(
            self.parts
                .parameters
                .iter()
                .flat_map(ParameterPart::declared),
        );
        self.parameters = found;
    }

    /// The user's law or the default, both on the original scale; returned for the variable
    /// divided by `unit`.
    pub(crate) fn choose(
        &mut self,
        names: &[String],
        shown: &str,
        default: &Law,
        unit: f64,
    ) -> Law {
        let law = self.priors.law(names).unwrap_or(default).clone();
        self.print(shown, law.to_string(), self.priors.origin(names));
        law.divided(unit)
    }

    /// Keeps a prior in words.
    pub(crate) fn print(&mut self, name: &str, distribution: String, origin: PriorOrigin) {
        self.printed.push(PriorLine {
            name: name.to_owned(),
            distribution,
            origin,
        });
    }

    fn intercept(&mut self) -> Option<InterceptLaw> {
        if !self.has_intercept() {
            return None;
        }
        let anchor = self.parts.anchor;
        if let Some(law) = self.priors.law(&["Intercept".to_owned()]) {
            let law = law.clone();
            self.print("Intercept", law.to_string(), PriorOrigin::Given);
            return Some(InterceptLaw::AtZero(law.divided(anchor.unit)));
        }
        for (head, centre) in self.heads().iter().zip(&anchor.centre) {
            let law = Law::new(Kind::Normal, &[*centre, 2.5 * anchor.unit]);
            let text = match self.parts.population.columns.len() {
                0 => law.to_string(),
                _ => format!("{law} at the means of the columns"),
            };
            self.print(&format!("Intercept{head}"), text, PriorOrigin::Default);
        }
        Some(InterceptLaw::AtMeans(Law::new(Kind::Normal, &[0.0, 2.5])))
    }

    fn weights(&mut self) -> Vec<Law> {
        let anchor = self.parts.anchor;
        let population = self.parts.population;
        let law = |column: &crate::learn::fixed_effects::ScaledColumn| {
            let unit = anchor.unit / column.scale;
            let scale = 2.5 * anchor.widening * anchor.unit / column.contrast;
            let default = Law::new(Kind::Normal, &[0.0, scale]);
            let names = [column.name.clone(), "weight".into()];
            self.choose(&names, &column.name, &default, unit)
        };
        population.columns.iter().map(law).collect()
    }

    fn groups(&mut self) -> Vec<GroupPlan> {
        let groupings = self.parts.groupings;
        let mut plans = Vec::with_capacity(groupings.len());
        for grouping in groupings {
            let before = groupings[..plans.len()].iter();
            let site = match before.filter(|other| other.label == grouping.label).count() {
                0 => grouping.label.clone(),
                times => format!("{}#{}", grouping.label, times + 1),
            };
            let spreads = self.spreads(grouping);
            let cor = format!("cor({})", grouping.label);
            let default = Law::new(Kind::Lkj, &[2.0]);
            plans.push(GroupPlan {
                site,
                of: grouping.of.clone(),
                count: grouping.count(),
                unseen: 0,
                form: Form::of(grouping, self.parts.n_rows),
                spreads,
                correlation: (grouping.correlated)
                    .then(|| self.choose(std::slice::from_ref(&cor), &cor, &default, 1.0)),
                has_slopes: !grouping.is_plain(),
            });
        }
        plans
    }

    fn spreads(&mut self, grouping: &Grouping) -> Vec<Law> {
        // On a link's scale effects of 2 are large; on the response's own, its spread is. Of
        // parameters the default coefficients are as large as 1.
        let (own, usual) = match (&grouping.of, self.parts.family.link()) {
            (Some(_), _) => (1.0, 1.0),
            (None, Link::Identity) => (self.parts.anchor.unit, 1.0),
            (None, Link::Log | Link::Logit | Link::Probit | Link::TanHalf) => {
                (self.parts.anchor.unit, 2.0)
            }
        };
        let law = |(effect, scale): (&String, &f64)| {
            let unit = own / scale;
            let default = Law::new(Kind::HalfNormal, &[usual * unit]);
            let shown = spread_name(grouping, effect);
            self.choose(&spread_names(grouping, effect), &shown, &default, unit)
        };
        grouping
            .effects
            .iter()
            .zip(&grouping.scales)
            .map(law)
            .collect()
    }

    fn shape(&mut self) -> Vec<(String, Law)> {
        let own = self.own().into_iter();
        let chosen = own.map(|own| {
            let (default, unit) = own.prior(self.parts.anchor.unit);
            let name = own.name.to_owned();
            let shown = if name == "df" { "df - 1" } else { &name };
            let law = self.choose(std::slice::from_ref(&name), shown, &default, unit);
            (name, law)
        });
        chosen.collect()
    }
}

/// The name of a spread as results print it.
pub(crate) fn spread_name(grouping: &Grouping, effect: &str) -> String {
    if grouping.is_plain() {
        format!("sd({})", grouping.label)
    } else {
        format!("sd({}, {effect})", grouping.label)
    }
}

fn spread_names(grouping: &Grouping, effect: &str) -> Vec<String> {
    let label = &grouping.label;
    vec![format!("sd({label}, {effect})"), format!("sd({label})")]
}

impl Blueprint {
    /// The prior that all common coefficients have together, if there is one.
    pub(crate) fn shrinkage(&self) -> Option<Shrinkage<'_>> {
        let total = match self.family.link() {
            Link::Identity => Total::Response,
            Link::Log | Link::Logit | Link::Probit | Link::TanHalf => Total::Noise,
        };
        Shrinkage::of(&self.weights, total)
    }
}

impl Blueprint {
    /// Refuses bounds where the noise of a function by inducing points is part of the distribution.
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
}
