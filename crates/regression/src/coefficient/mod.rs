//! Draws of the model's sites as coefficients on the original scale.

pub(crate) mod group_effect;
pub(crate) mod induced_function;
pub(crate) mod smooth_function;
pub(crate) mod spline_function;

use lehr_density::SiteValue;
use lehr_graph::math::normal_quantile;
use lehr_learn::{Link, ResponseForm};
use lehr_report::{AxisKind, Name};

use crate::coefficient::group_effect::{EffectMoments, GroupEffects};
use crate::family::DF_EXCESS;
use crate::learned_regression::Regression;
use crate::named_draws::{Head, NamedDraws, Replica, SiteDraws};
use crate::option::Groups;
use crate::term::row_effect::row_spread;
use crate::term::spline::SplinePlan;

impl Regression {
    /// Coefficients on the original scale from draws of the model's sites, such as
    /// `Posterior::sites` or [`lehr_density::Layout::constrain_values`] give.
    ///
    /// # Panics
    /// If a site of the model is not among them.
    pub fn coefficients(&self, sites: &[SiteValue], groups: Groups) -> Vec<NamedDraws> {
        let draws = SiteDraws::new(sites);
        let mut found = Vec::new();
        for head in self.heads() {
            self.fixed_effects(&draws, head, &mut found);
        }
        for head in self.heads() {
            for term in self.group_terms(head).filter(GroupEffects::is_of_response) {
                term.spreads(&draws, &mut found);
            }
        }
        self.latent_covariate(&draws, &mut found);
        self.row_spread(&draws, &mut found);
        for head in self.heads() {
            self.monotonic_effects(&draws, head, &mut found);
            self.spline_spreads((&draws, head), |plan| plan.of.is_none(), &mut found);
            self.gaussian_processes(&draws, head, &mut found);
        }
        self.family_parameters(&draws, &mut found);
        self.parameter_effects(&draws, &mut found);
        self.parameter_spreads(&draws, &mut found);
        self.shrinkage(&draws, &mut found);
        if groups == Groups::Include {
            for head in self.heads() {
                for term in self.group_terms(head) {
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
        let mut terms = self.group_terms(head);
        let term = terms.find(|term| term.plan.own_site(head.suffix) == site)?;
        Some(term.moments(&SiteDraws::new(sites)))
    }

    fn heads(&self) -> impl Iterator<Item = Head<'_>> {
        let several = self.model_plan.family.form() == ResponseForm::Unordered;
        let suffixes = self.model_plan.heads.iter().enumerate();
        suffixes.map(move |(place, suffix)| Head {
            place,
            suffix,
            class: several.then(|| self.outcome.classes[place + 1].as_str()),
        })
    }

    fn group_terms<'a>(&'a self, head: Head<'a>) -> impl Iterator<Item = GroupEffects<'a>> {
        let terms = self.model_plan.groups.iter().zip(&self.groupings);
        terms.map(move |(plan, grouping)| GroupEffects {
            plan,
            grouping,
            unit: self.unit_of(plan.of.as_deref()),
            head,
        })
    }

    /// The unit of the predictor of the response, or of a parameter.
    fn unit_of(&self, of: Option<&str>) -> f64 {
        of.map_or(self.model_plan.unit, |_| 1.0)
    }

    /// The intercept and the fixed effects of one linear predictor:
    ///
    /// ```text
    /// centre + unit (a + Σ bⱼ (xⱼ − mⱼ)/sⱼ) = [centre + unit (a − Σ bⱼ mⱼ/sⱼ)] + Σ (unit bⱼ/sⱼ) xⱼ
    /// ```
    fn fixed_effects(&self, draws: &SiteDraws<'_>, head: Head<'_>, found: &mut Vec<NamedDraws>) {
        let (plan, place) = (&self.model_plan, head.place);
        let count = plan.heads.len();
        let weights = self.weights(draws, Replica { place, count });
        if plan.intercept.is_some() {
            let centre = plan.centre[place];
            let shift = self.shift(draws, &weights);
            let raw = draws.entry("intercept", place);
            let value = |(raw, shift): (&f64, &f64)| centre + plan.unit * (raw - shift);
            let values = raw.iter().zip(&shift).map(value).collect();
            found.push(NamedDraws::new(head.name("Intercept"), values));
        }
        let columns = self.population.columns.iter();
        let labels = self.population.labels().into_iter();
        for ((column, label), values) in columns.zip(labels).zip(weights) {
            let name = Name::new(format!("{}{}", label.text, head.suffix), label.variable);
            let name = head.of_class(with_levels(name, &label.levels));
            found.push(NamedDraws::new(
                name,
                scaled(values, plan.unit / column.scale),
            ));
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
            found.push(NamedDraws::new(site, draws.entry(site, 0)));
        }
    }

    /// `me(x)`, and the mean and the standard deviation of true values.
    fn latent_covariate(&self, draws: &SiteDraws<'_>, found: &mut Vec<NamedDraws>) {
        let (Some(plan), Some(covariate)) = (&self.model_plan.covariate, &self.covariate) else {
            return;
        };
        let [slopes, means, spreads] = plan.site_names().map(|site| draws.entry(&site, 0));
        let pairs = means.iter().zip(&spreads);
        let both = pairs.map(|(mean, spread)| covariate.original(*mean, *spread));
        let (means, spreads) = both.map(|[mean, spread]| (mean, spread)).unzip();
        let slopes = scaled(slopes, self.model_plan.unit / covariate.scale);
        let values = covariate.names().into_iter().zip([slopes, means, spreads]);
        found.extend(values.map(|(name, values)| NamedDraws::new(name, values)));
    }

    /// `sd(row())`.
    fn row_spread(&self, draws: &SiteDraws<'_>, found: &mut Vec<NamedDraws>) {
        if self.model_plan.row_spread.is_some() {
            let values = scaled(draws.entry(&row_spread(), 0), self.model_plan.unit);
            found.push(NamedDraws::new(row_spread(), values));
        }
    }

    /// `mo(income)`, the average difference between neighbouring levels, and
    /// `mo(income).step[mid]`, the share of a step in the whole effect.
    fn monotonic_effects(
        &self,
        draws: &SiteDraws<'_>,
        head: Head<'_>,
        found: &mut Vec<NamedDraws>,
    ) {
        for (plan, effect) in self.model_plan.monotonics.iter().zip(&self.monotonics) {
            let slopes = draws.entry(&plan.slope_site(head.suffix), 0);
            let slopes = scaled(slopes, self.model_plan.unit);
            found.push(NamedDraws::new(head.name(&effect.label), slopes));
            let variable = effect.step_name();
            for (step, level) in effect.levels()[1..].iter().enumerate() {
                let text = format!("{variable}[{level}]{}", head.suffix);
                let name = Name::new(text, &variable).at_label(AxisKind::Level, level);
                let values = draws.entry(&plan.step_site(head.suffix), step);
                found.push(NamedDraws::new(head.of_class(name), values));
            }
        }
    }

    /// The standard deviations `sd(s(day))` of the penalised smooths of some formulas.
    fn spline_spreads(
        &self,
        (draws, head): (&SiteDraws<'_>, Head<'_>),
        is_meant: impl Fn(&SplinePlan) -> bool,
        found: &mut Vec<NamedDraws>,
    ) {
        for plan in self.model_plan.splines.iter().filter(|plan| is_meant(plan)) {
            let values = draws.entry(&plan.spread_site(head.suffix), 0);
            let values = scaled(values, self.unit_of(plan.of.as_deref()) / plan.scale);
            found.push(NamedDraws::new(head.name(&plan.spread_site("")), values));
        }
    }

    /// `sd(sigma.site)` and `sd(sigma.s(day))`.
    fn parameter_spreads(&self, draws: &SiteDraws<'_>, found: &mut Vec<NamedDraws>) {
        for head in self.heads() {
            for term in self.group_terms(head).filter(|term| !term.is_of_response()) {
                term.spreads(draws, found);
            }
            self.spline_spreads((draws, head), |plan| plan.of.is_some(), found);
        }
    }

    /// `gp(day).scale` and `gp(day).lengthscale`.
    fn gaussian_processes(
        &self,
        draws: &SiteDraws<'_>,
        head: Head<'_>,
        found: &mut Vec<NamedDraws>,
    ) {
        for (plan, smooth) in self.model_plan.smooths.iter().zip(&self.smooths) {
            let scale = draws.entry(&plan.scale_site(head.suffix), 0);
            let scale = scaled(scale, self.model_plan.unit / smooth.multiplier_scale());
            found.push(NamedDraws::new(head.name(&smooth.scale_name()), scale));
            let site = plan.lengthscale_site(head.suffix);
            let values = draws.laws(&site, &plan.lengthscales, Replica::ONLY);
            let names = smooth.lengthscale_names();
            for ((names, values), unit) in names.iter().zip(values).zip(smooth.units()) {
                found.push(NamedDraws::new(head.name(&names[0]), scaled(values, unit)));
            }
        }
    }

    /// `sigma.Intercept` and `sigma.x`, on the scale of the parameter's link.
    fn parameter_effects(&self, draws: &SiteDraws<'_>, found: &mut Vec<NamedDraws>) {
        for (plan, population) in self.model_plan.parameters.iter().zip(&self.parameters) {
            let parameter = &plan.name;
            let weights = draws.laws(&plan.weight_site(), &plan.weights, Replica::ONLY);
            if plan.intercept.is_some() {
                let shift = shifted(draws, &weights, &plan.shifts);
                let raw = draws.entry(&plan.intercept_site(), 0);
                let value = |(raw, shift): (&f64, &f64)| plan.centre + raw - shift;
                let values = raw.iter().zip(&shift).map(value).collect();
                found.push(NamedDraws::new(format!("{parameter}.Intercept"), values));
            }
            let columns = population.columns.iter().zip(population.labels());
            for ((column, label), values) in columns.zip(weights) {
                let [text, variable] =
                    [label.text, label.variable].map(|name| format!("{parameter}.{name}"));
                let name = with_levels(Name::new(text, variable), &label.levels);
                let values = values.iter().map(|value| value / column.scale).collect();
                found.push(NamedDraws::new(name, values));
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

    /// The family's own parameters that all rows share.
    fn family_parameters(&self, draws: &SiteDraws<'_>, found: &mut Vec<NamedDraws>) {
        for (name, _) in &self.model_plan.shape {
            let values = match name.as_str() {
                "cutpoint" => {
                    self.cutpoints(draws, found);
                    continue;
                }
                "sigma" => scaled(draws.entry(name, 0), self.model_plan.unit),
                "df" => {
                    let excess = draws.entry(DF_EXCESS, 0).into_iter();
                    excess.map(|value| value + 1.0).collect()
                }
                _ => draws.entry(name, 0),
            };
            found.push(NamedDraws::new(name.as_str(), values));
        }
    }

    /// Cutpoints for columns on the original scale: P(y ≤ k) = logistic(cutpoint k − Σ bⱼ xⱼ).
    fn cutpoints(&self, draws: &SiteDraws<'_>, found: &mut Vec<NamedDraws>) {
        let weights = self.weights(draws, Replica::ONLY);
        let shift = self.shift(draws, &weights);
        let proportion = |class: usize| draws.entry("proportion", class);
        let classes: Vec<Vec<f64>> = (0..self.model_plan.classes).map(proportion).collect();
        let total =
            |part: &[Vec<f64>], draw: usize| part.iter().map(|class| class[draw]).sum::<f64>();
        for cut in 1..classes.len() {
            let (below, above) = classes.split_at(cut);
            let value = |draw: usize| {
                let shares = [total(below, draw), total(above, draw)];
                link_of_shares(self.family.link(), shares) + shift[draw]
            };
            let name = Name::new(format!("cutpoint[{cut}]"), "cutpoint");
            let name = name.at_label(AxisKind::Level, cut.to_string());
            found.push(NamedDraws::new(name, (0..draws.count).map(value).collect()));
        }
    }
}

/// The draws times a factor.
fn scaled(values: Vec<f64>, factor: f64) -> Vec<f64> {
    values.into_iter().map(|value| value * factor).collect()
}

/// The link of a probability, from it and its complement; by logits unless the link is another.
fn link_of_shares(link: Link, [below, above]: [f64; 2]) -> f64 {
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
