//! Draws of the model's sites as coefficients on the original scale.

pub(crate) mod group_effect;
pub(crate) mod induced_function;
pub(crate) mod smooth_function;
pub(crate) mod spline_function;

use lehr_density::SiteValue;
use lehr_graph::math::normal_quantile;
use lehr_learn::{Covariate, FixedEffects, GroupingFactor, Link, Monotonic, ResponseForm, Smooth};
use lehr_report::{AxisKind, Name};

use crate::coefficient::group_effect::{EffectMoments, GroupEffects};
use crate::family::DF_EXCESS;
use crate::model_plan::ModelPlan;
use crate::named_draws::{Head, NamedDraws, Replica, SiteDraws};
use crate::option::Groups;
use crate::term::row_effect::row_spread;
use crate::term::smooth::SmoothPlan;
use crate::term::spline::SplinePlan;

/// The names and scales of coefficients.
pub struct Reporter<'a> {
    pub(crate) model_plan: &'a ModelPlan,
    pub(crate) population: &'a FixedEffects,
    pub(crate) groupings: &'a [GroupingFactor],
    pub(crate) covariate: Option<&'a Covariate>,
    pub(crate) smooths: &'a [Smooth],
    pub(crate) monotonics: &'a [Monotonic],
    /// The columns of the formulas of parameters.
    pub(crate) parameters: &'a [FixedEffects],
    /// The classes of the response; empty for numbers.
    pub(crate) classes: &'a [String],
}

impl Reporter<'_> {
    /// The coefficients in their reported order.
    pub(crate) fn coefficients(&self, sites: &[SiteValue], groups: Groups) -> Vec<NamedDraws> {
        let draws = SiteDraws::new(sites);
        let mut found = Vec::new();
        for head in self.heads() {
            self.common(&draws, head, &mut found);
        }
        for head in self.heads() {
            for term in self.terms(head).filter(GroupEffects::is_of_response) {
                term.spreads(&draws, &mut found);
            }
        }
        self.latent(&draws, &mut found);
        self.row_spread(&draws, &mut found);
        for head in self.heads() {
            self.monotonic(&draws, head, &mut found);
            self.splines(&draws, head, &mut found);
            self.smooths(&draws, head, &mut found);
        }
        self.shape(&draws, &mut found);
        self.varied(&draws, &mut found);
        self.varied_spreads(&draws, &mut found);
        self.shrinkage(&draws, &mut found);
        if groups == Groups::Include {
            for head in self.heads() {
                for term in self.terms(head) {
                    term.effects(&draws, &mut found);
                }
            }
        }
        found
    }

    /// The map from the moments of a site to those of its effects, with the other sites at this
    /// draw; `None` if it is not a site of random effects.
    pub fn moments<'s>(&'s self, site: &str, sites: &[SiteValue]) -> Option<EffectMoments<'s>> {
        let head = self.heads().next()?;
        let mut terms = self.terms(head);
        let term = terms.find(|term| term.plan.own_site(head.suffix) == site)?;
        Some(term.moments(&SiteDraws::new(sites)))
    }

    fn heads(&self) -> impl Iterator<Item = Head<'_>> {
        let several = self.model_plan.family.form() == ResponseForm::Unordered;
        let suffixes = self.model_plan.heads.iter().enumerate();
        suffixes.map(move |(place, suffix)| Head {
            place,
            suffix,
            class: several.then(|| self.classes[place + 1].as_str()),
        })
    }

    fn terms<'a>(&'a self, head: Head<'a>) -> impl Iterator<Item = GroupEffects<'a>> {
        let terms = self.model_plan.groups.iter().zip(self.groupings);
        terms.map(move |(plan, grouping)| GroupEffects {
            plan,
            grouping,
            unit: self.unit_of(plan.of.as_deref()),
            head,
        })
    }

    /// The unit of the predictor of the response, or of a parameter.
    fn unit_of(&self, of: Option<&str>) -> f64 {
        of.map_or(self.unit(), |_| 1.0)
    }

    pub(crate) fn unit(&self) -> f64 {
        self.model_plan.unit
    }

    /// The intercept and the fixed effects of one linear predictor:
    ///
    /// ```text
    /// centre + unit (a + Σ bⱼ (xⱼ − mⱼ)/sⱼ) = [centre + unit (a − Σ bⱼ mⱼ/sⱼ)] + Σ (unit bⱼ/sⱼ) xⱼ
    /// ```
    fn common(&self, draws: &SiteDraws<'_>, head: Head<'_>, found: &mut Vec<NamedDraws>) {
        let model_plan = self.model_plan;
        let copy = Replica {
            place: head.place,
            count: model_plan.heads.len(),
        };
        let weights = self.weights(draws, copy);
        if model_plan.intercept.is_some() {
            let centre = model_plan.centre[head.place];
            let shift = self.shift(draws, &weights);
            let raw = draws.entry("intercept", head.place);
            let value = |(raw, shift): (&f64, &f64)| centre + self.unit() * (raw - shift);
            found.push(NamedDraws {
                name: head.name("Intercept"),
                values: raw.iter().zip(&shift).map(value).collect(),
            });
        }
        let columns = self.population.columns.iter();
        let labels = self.population.labels().into_iter();
        for ((column, label), values) in columns.zip(labels).zip(weights) {
            let factor = self.unit() / column.scale;
            let name = Name::new(format!("{}{}", label.text, head.suffix), label.variable);
            let name = with_levels(name, &label.levels);
            found.push(NamedDraws {
                name: head.of_class(name),
                values: values.iter().map(|value| value * factor).collect(),
            });
        }
    }

    /// The standardised fixed effects of one linear predictor.
    fn weights(&self, draws: &SiteDraws<'_>, copy: Replica) -> Vec<Vec<f64>> {
        match self.model_plan.shrinkage() {
            Some(shrinkage) => shrinkage.coefficients(&|site, place| draws.entry(site, place)),
            None => draws.laws("weight", &self.model_plan.weights, copy),
        }
    }

    /// `weight.R2` or `weight.global`: the common parameters of a joint prior of the coefficients.
    fn shrinkage(&self, draws: &SiteDraws<'_>, found: &mut Vec<NamedDraws>) {
        if let Some(shrinkage) = self.model_plan.shrinkage() {
            let site = shrinkage.common_site();
            found.push(NamedDraws {
                name: site.into(),
                values: draws.entry(site, 0),
            });
        }
    }

    /// `me(x)`, and the mean and the standard deviation of true values.
    fn latent(&self, draws: &SiteDraws<'_>, found: &mut Vec<NamedDraws>) {
        let (Some(plan), Some(covariate)) = (&self.model_plan.covariate, self.covariate) else {
            return;
        };
        let [slopes, means, spreads] = plan.site_names().map(|site| draws.entry(&site, 0));
        let unit = self.unit() / covariate.scale;
        let pairs = means.iter().zip(&spreads);
        let both = pairs.map(|(mean, spread)| covariate.original(*mean, *spread));
        let (means, spreads) = both.map(|[mean, spread]| (mean, spread)).unzip();
        let slopes = slopes.iter().map(|slope| slope * unit).collect();
        for (name, values) in covariate.names().into_iter().zip([slopes, means, spreads]) {
            let name = name.into();
            found.push(NamedDraws { name, values });
        }
    }

    /// `sd(row())`.
    fn row_spread(&self, draws: &SiteDraws<'_>, found: &mut Vec<NamedDraws>) {
        if self.model_plan.row_spread.is_none() {
            return;
        }
        let site = row_spread();
        let values = draws.entry(&site, 0);
        found.push(NamedDraws {
            values: values.iter().map(|value| value * self.unit()).collect(),
            name: site.into(),
        });
    }

    /// `mo(income)`, the average difference between neighbouring levels, and
    /// `mo(income).step[mid]`, the share of a step in the whole effect.
    fn monotonic(&self, draws: &SiteDraws<'_>, head: Head<'_>, found: &mut Vec<NamedDraws>) {
        for (plan, effect) in self.model_plan.monotonics.iter().zip(self.monotonics) {
            let slopes = draws.entry(&plan.slope_site(head.suffix), 0);
            found.push(NamedDraws {
                name: head.name(&effect.label),
                values: slopes.iter().map(|value| value * self.unit()).collect(),
            });
            let variable = effect.step_name();
            for (step, level) in effect.levels()[1..].iter().enumerate() {
                let text = format!("{variable}[{level}]{}", head.suffix);
                let name = Name::new(text, &variable).at_label(AxisKind::Level, level);
                found.push(NamedDraws {
                    name: head.of_class(name),
                    values: draws.entry(&plan.step_site(head.suffix), step),
                });
            }
        }
    }

    /// `sd(s(day))`.
    fn splines(&self, draws: &SiteDraws<'_>, head: Head<'_>, found: &mut Vec<NamedDraws>) {
        let plans = self.model_plan.splines.iter();
        for plan in plans.filter(|plan| plan.of.is_none()) {
            found.push(self.spline_spread(draws, head, plan));
        }
    }

    fn spline_spread(
        &self,
        draws: &SiteDraws<'_>,
        head: Head<'_>,
        plan: &SplinePlan,
    ) -> NamedDraws {
        let unit = self.unit_of(plan.of.as_deref()) / plan.scale;
        let values = draws.entry(&plan.spread_site(head.suffix), 0);
        NamedDraws {
            name: head.name(&plan.spread_site("")),
            values: values.iter().map(|value| value * unit).collect(),
        }
    }

    /// `sd(sigma.site)` and `sd(sigma.s(day))`.
    fn varied_spreads(&self, draws: &SiteDraws<'_>, found: &mut Vec<NamedDraws>) {
        for head in self.heads() {
            for term in self.terms(head).filter(|term| !term.is_of_response()) {
                term.spreads(draws, found);
            }
            let plans = self.model_plan.splines.iter();
            for plan in plans.filter(|plan| plan.of.is_some()) {
                found.push(self.spline_spread(draws, head, plan));
            }
        }
    }

    /// `gp(day).scale` and `gp(day).lengthscale`.
    fn smooths(&self, draws: &SiteDraws<'_>, head: Head<'_>, found: &mut Vec<NamedDraws>) {
        for (plan, smooth) in self.model_plan.smooths.iter().zip(self.smooths) {
            let unit = self.unit() / smooth.multiplier_scale();
            let values = draws.entry(&plan.scale_site(head.suffix), 0);
            let mut add = |name: &str, values: Vec<f64>, unit: f64| {
                found.push(NamedDraws {
                    name: head.name(name),
                    values: values.iter().map(|value| value * unit).collect(),
                });
            };
            add(&format!("{}.scale", plan.label), values, unit);
            let names = smooth.lengthscale_names();
            let values = lengthscales(draws, plan, head.suffix);
            for ((names, values), unit) in names.iter().zip(values).zip(smooth.units()) {
                add(&names[0], values, unit);
            }
        }
    }

    /// `sigma.Intercept` and `sigma.x`, on the scale of the parameter's link.
    fn varied(&self, draws: &SiteDraws<'_>, found: &mut Vec<NamedDraws>) {
        for (plan, population) in self.model_plan.parameters.iter().zip(self.parameters) {
            let parameter = &plan.name;
            let weights = draws.laws(&plan.weight_site(), &plan.weights, Replica::ONLY);
            if plan.intercept.is_some() {
                let shift = shifted(draws, &weights, &plan.shifts);
                let raw = draws.entry(&plan.intercept_site(), 0);
                let value = |(raw, shift): (&f64, &f64)| plan.centre + raw - shift;
                found.push(NamedDraws {
                    name: format!("{parameter}.Intercept").as_str().into(),
                    values: raw.iter().zip(&shift).map(value).collect(),
                });
            }
            let columns = population.columns.iter().zip(population.labels());
            for ((column, label), values) in columns.zip(weights) {
                let name = Name::new(
                    format!("{parameter}.{}", label.text),
                    format!("{parameter}.{}", label.variable),
                );
                found.push(NamedDraws {
                    name: with_levels(name, &label.levels),
                    values: values.iter().map(|value| value / column.scale).collect(),
                });
            }
        }
    }

    /// Σ bⱼ mⱼ/sⱼ of each draw.
    fn shift(&self, draws: &SiteDraws<'_>, weights: &[Vec<f64>]) -> Vec<f64> {
        let mut shift = shifted(draws, weights, &self.model_plan.shifts);
        if let Some(plan) = &self.model_plan.covariate {
            let slopes = draws.entry(&plan.site_names()[0], 0);
            let sums = shift.iter_mut().zip(slopes);
            sums.for_each(|(sum, slope)| *sum += slope * plan.shift);
        }
        shift
    }

    fn shape(&self, draws: &SiteDraws<'_>, found: &mut Vec<NamedDraws>) {
        for (name, _) in &self.model_plan.shape {
            let values: Vec<f64> = match name.as_str() {
                "cutpoint" => {
                    self.cutpoints(draws, found);
                    continue;
                }
                "sigma" => (draws.entry(name, 0).iter())
                    .map(|value| value * self.unit())
                    .collect(),
                "df" => (draws.entry(DF_EXCESS, 0).iter())
                    .map(|value| value + 1.0)
                    .collect(),
                _ => draws.entry(name, 0),
            };
            let name = name.as_str().into();
            found.push(NamedDraws { name, values });
        }
    }

    /// Cutpoints for columns on the original scale: P(y ≤ k) = logistic(cutpoint k − Σ bⱼ xⱼ).
    fn cutpoints(&self, draws: &SiteDraws<'_>, found: &mut Vec<NamedDraws>) {
        debug_assert_eq!(
            self.model_plan.family.form(),
            ResponseForm::Ordered,
            "cutpoints are of ordered classes"
        );
        let weights = self.weights(draws, Replica::ONLY);
        let shift = self.shift(draws, &weights);
        let classes: Vec<Vec<f64>> = (0..self.model_plan.classes)
            .map(|class| draws.entry("proportion", class))
            .collect();
        for cut in 1..classes.len() {
            let total =
                |part: &[Vec<f64>], draw: usize| part.iter().map(|class| class[draw]).sum::<f64>();
            let value = |draw: usize| {
                let (below, above) = classes.split_at(cut);
                let link = self.model_plan.family.link();
                of_shares(link, total(below, draw), total(above, draw)) + shift[draw]
            };
            found.push(NamedDraws {
                name: Name::new(format!("cutpoint[{cut}]"), "cutpoint")
                    .at_label(AxisKind::Level, cut.to_string()),
                values: (0..draws.count).map(value).collect(),
            });
        }
    }
}

/// The link of a probability, from it and its complement; by logits unless the link is another.
fn of_shares(link: Link, below: f64, above: f64) -> f64 {
    match link {
        Link::Probit if below < above => normal_quantile(below),
        Link::Probit => -normal_quantile(above),
        _ => (below / above).ln(),
    }
}

/// Σ bⱼ mⱼ of each draw.
fn shifted(draws: &SiteDraws<'_>, weights: &[Vec<f64>], means: &[f64]) -> Vec<f64> {
    let mut shift = vec![0.0; draws.count];
    for (weight, mean) in weights.iter().zip(means) {
        for (sum, value) in shift.iter_mut().zip(weight) {
            *sum += value * mean;
        }
    }
    shift
}

/// The name with the levels of a column.
fn with_levels(mut name: Name, levels: &[String]) -> Name {
    let axis = |place: usize| match levels.len() {
        1 => AxisKind::Level,
        _ => AxisKind::Factor(place),
    };
    for (place, level) in levels.iter().enumerate() {
        name = name.at_label(axis(place), level);
    }
    name
}

/// The lengthscales of each draw, in the units of the model.
fn lengthscales(draws: &SiteDraws<'_>, plan: &SmoothPlan, head: &str) -> Vec<Vec<f64>> {
    let site = plan.lengthscale_site(head);
    draws.laws(&site, &plan.lengthscales, Replica::ONLY)
}
