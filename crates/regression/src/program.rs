//! The model program: from a model plan to sites and an observed column.  The site of a group term
//! holds the effects themselves (centred form) if groups have many rows each, else standard normals
//! that the rows multiply by the standard deviation (non-centred form): whichever is less
//! correlated with the standard deviation.

use lehr_graph::{Expr, Graph};
use lehr_learn::ResponseForm;
use lehr_model::distribution::{Dirichlet, Normal};
use lehr_model::{BindError, Model, Program, Row, Schema, Tracer};

use crate::Family;
use crate::column_name::{
    ERRORS, INDUCED, MATRIX, OFFSET, PREDICTOR, RESPONSE, ROW_WEIGHT, TRIALS, group_column,
    monotonic_column, parameter_column, slope_column,
};
use crate::family::{DF_EXCESS, Observation, OwnParameter, ParameterUnit, cutpoints};
use crate::law::{Law, sample};
use crate::law_site::sample_runs;
use crate::model_plan::ModelPlan;
use crate::term::covariate::CovariateSites;
use crate::term::group::GroupSites;
use crate::term::intercept::InterceptLaw;
use crate::term::parameter::ParameterSites;
use crate::term::residual::Residuals;
use crate::term::row_effect::{row_spread_site, shifted};
use crate::term::smooth::SmoothSites;
use crate::term::spline::SplineSites;

/// The parts that the model of one response shares with those of others.
#[derive(Default)]
pub(crate) struct JointModel<'c, 'g> {
    /// The sites of group terms whose effects are tied to those of other responses, by the terms' places.
    pub(crate) groups: Vec<(usize, GroupSites<'g>)>,
    /// The residuals of the responses before this one.
    pub(crate) residuals: Option<&'c Residuals<'g>>,
}

/// The sites of one run of the model.
struct ModelSites<'g> {
    graph: &'g Graph,
    /// `[p]`, or `[p, heads]` for families of several linear predictors.
    weight: Option<Expr<'g>>,
    /// One number, or `[heads]`.
    intercept: Option<Expr<'g>>,
    /// For each linear predictor and group term.
    groups: Vec<Vec<GroupSites<'g>>>,
    /// For each linear predictor and smooth function.
    smooths: Vec<Vec<SmoothSites<'g>>>,
    /// For each linear predictor and penalised smooth.
    splines: Vec<Vec<SplineSites<'g>>>,
    /// For each linear predictor and monotonic effect, the effect of each level.
    monotonics: Vec<Vec<Expr<'g>>>,
    shape: Vec<Expr<'g>>,
    /// The family's own parameters that vary by row.
    parameters: Vec<ParameterSites<'g>>,
}

impl ModelPlan {
    /// The model of this plan.
    pub(crate) fn model(self) -> Model {
        Model::new(move |m| self.run(m, &JointModel::default()))
    }

    /// The columns of the design.
    pub(crate) fn schema(&self) -> Schema {
        let mut schema = Schema::new().number(RESPONSE);
        if !self.weights.is_empty() {
            schema = schema.matrix(MATRIX, self.weights.len());
        }
        for plan in &self.parameters {
            if !plan.weights.is_empty() {
                schema = schema.matrix(&parameter_column(&plan.name), plan.weights.len());
            }
        }
        for (place, group) in self.groups.iter().enumerate() {
            schema = schema.index(&group_column(place), group.count + group.unseen);
            if group.has_slopes {
                schema = schema.matrix(&slope_column(place), group.spreads.len());
            }
        }
        for (place, smooth) in self.smooths.iter().enumerate() {
            schema = smooth.schema(place, schema);
        }
        for (place, spline) in self.splines.iter().enumerate() {
            schema = spline.schema(place, schema);
        }
        for (place, effect) in self.monotonics.iter().enumerate() {
            schema = effect.schema(place, schema);
        }
        if let Some(covariate) = &self.covariate {
            schema = covariate.schema(schema);
        }
        if let Some(induced) = &self.induced {
            schema = schema.matrix(INDUCED, induced.width());
        }
        let others = [
            (self.has_offset, OFFSET),
            (self.has_row_weight, ROW_WEIGHT),
            (self.has_errors, ERRORS),
            (self.family.form() == ResponseForm::Successes, TRIALS),
        ];
        let there = others.iter().filter(|(is_there, _)| *is_there);
        let there = there.map(|(_, name)| *name).chain(self.bounds.columns());
        there.fold(schema, Schema::number)
    }

    /// The model as a program.
    pub(crate) fn program(&self) -> Result<Program, BindError> {
        self.clone().model().record(&self.schema())
    }

    /// Names the sites and observes the response.
    pub(crate) fn run<'g>(&self, m: &Tracer<'g>, joint: &JointModel<'_, 'g>) {
        let weight = self.weight(m);
        let covariate = self.covariate.as_ref().map(|plan| plan.sites(m));
        let shift = self.shift(m, weight, covariate.as_ref());
        let intercept = self.intercept_site(m, shift);
        let sites = self.sites(m, (weight, intercept), joint);
        self.name_moved(m, &sites, shift);
        let induced = self.induced.as_ref().map(|plan| plan.function(m));
        let row_spread = self.row_spread.as_ref();
        let row_spread = row_spread.map(|law| row_spread_site(m, law) * self.unit);
        m.rows(|row| {
            let mut predictor = self.predictor(row, &sites);
            let marginal = induced.as_ref();
            let marginal = marginal.map(|gp| gp.marginal_at(row.matrix(INDUCED)));
            if let Some(one) = marginal {
                predictor = predictor + one.mean * self.unit;
            }
            let latent = self.covariate.as_ref().zip(covariate.as_ref());
            let latent = latent.map(|(plan, sites)| plan.contribution(row, sites));
            if let Some(one) = &latent {
                predictor = predictor + one.mean * self.unit;
            }
            row.quantity(PREDICTOR, predictor);
            if self.has_row_weight {
                row.weight(ROW_WEIGHT);
            }
            let mut own = self.own_values(row, &sites);
            let mut at = shifted(row, predictor, row_spread);
            if let Some(one) = &latent {
                at = self.spread_out(row, at, &mut own, one.spread * self.unit);
            }
            if let Some(residuals) = joint.residuals {
                (at, own[0]) = residuals.given(row, at, own[0]);
            }
            (self.family.info().observe)(&Observation {
                row,
                at,
                own: &own,
                variance: marginal.map(|one| one.variance * self.unit.powi(2)),
                bounds: self.bounds,
            });
            // The response is observed first, because it is the one that is predicted.
            if let Some((plan, sites)) = self.covariate.as_ref().zip(covariate.as_ref()) {
                plan.observe(row, sites);
            }
        });
    }

    /// The difference of the predictor between the means of all columns and 0.
    fn shift<'g>(
        &self,
        m: &Tracer<'g>,
        weight: Option<Expr<'g>>,
        covariate: Option<&CovariateSites<'g>>,
    ) -> Option<Expr<'g>> {
        let means = || m.graph().constant([self.shifts.len()], &self.shifts);
        let common = weight.map(|weight| means().dot(weight));
        let latent = self.covariate.as_ref().zip(covariate);
        let latent = latent.map(|(plan, sites)| sites.slope * plan.shift);
        match (common, latent) {
            (Some(common), Some(latent)) => Some(common + latent),
            (common, latent) => common.or(latent),
        }
    }

    /// Adds a normal variance to the predictor: in sigma if the response is normal around it, else
    /// as a local latent.
    fn spread_out<'g>(
        &self,
        row: &Row<'_, 'g>,
        at: Expr<'g>,
        own: &mut [Expr<'g>],
        spread: Expr<'g>,
    ) -> Expr<'g> {
        if matches!(self.family, Family::Gaussian | Family::LogNormal) {
            own[0] = (own[0].square() + spread.square()).sqrt();
            return at;
        }
        let plan = self.covariate.as_ref().expect("a covariate");
        // The true value less its mean, in units of its standard deviation.
        at + row.local(&format!("{}.z", plan.label), Normal::new(0.0, 1.0)) * spread
    }

    fn sites<'g>(
        &self,
        m: &Tracer<'g>,
        (weight, intercept): (Option<Expr<'g>>, Option<Expr<'g>>),
        joint: &JointModel<'_, 'g>,
    ) -> ModelSites<'g> {
        let tied = |place: usize| joint.groups.iter().find(|(tied, _)| *tied == place);
        ModelSites {
            graph: m.graph(),
            weight,
            intercept,
            groups: self.per_head(|head| {
                let plans = self.groups.iter().enumerate();
                let sites = plans.map(|(place, plan)| match tied(place) {
                    Some((_, sites)) => *sites,
                    None => plan.sites(m, head),
                });
                sites.collect()
            }),
            smooths: self.per_head(|head| each_site(&self.smooths, |plan| plan.sites(m, head))),
            splines: self.per_head(|head| each_site(&self.splines, |plan| plan.sites(m, head))),
            monotonics: self
                .per_head(|head| each_site(&self.monotonics, |plan| plan.sites(m, head))),
            shape: self.shape_sites(m),
            parameters: each_site(&self.parameters, |plan| plan.sites(m)),
        }
    }

    /// One result of `make` for each linear predictor, by the ending of its names.
    fn per_head<T>(&self, make: impl Fn(&str) -> T) -> Vec<T> {
        self.heads.iter().map(|head| make(head)).collect()
    }

    /// Names the quantities that are reported on the original scale and are not sites, so that the
    /// verdict checks them, too.
    fn name_moved<'g>(&self, m: &Tracer<'g>, sites: &ModelSites<'g>, shift: Option<Expr<'g>>) {
        let Some(shift) = shift else {
            return;
        };
        if let Some(intercept) = sites.intercept {
            let dims = intercept.shape();
            let centre = m.graph().constant([self.heads.len()], &self.centre);
            let moved = (intercept - shift) * self.unit + centre.reshape(dims);
            m.deterministic("Intercept", moved);
        }
        if self.family.form() == ResponseForm::Ordered {
            m.deterministic("cutpoint", sites.shape[0] + shift);
        }
    }

    fn has_heads(&self) -> bool {
        self.family.form() == ResponseForm::Unordered
    }

    fn weight<'g>(&self, m: &Tracer<'g>) -> Option<Expr<'g>> {
        if self.weights.is_empty() {
            return None;
        }
        if let Some(shrinkage) = self.shrinkage() {
            return Some(shrinkage.sample(m));
        }
        let copies = self.has_heads().then_some(self.heads.len());
        Some(sample_runs(m, "weight", &self.weights, copies))
    }

    fn intercept_site<'g>(&self, m: &Tracer<'g>, moved: Option<Expr<'g>>) -> Option<Expr<'g>> {
        let heads = self.heads.len();
        let dims = if self.has_heads() { &[heads][..] } else { &[] };
        match self.intercept.as_ref()? {
            InterceptLaw::AtMeans(law) => {
                Some(sample(m, "intercept", std::slice::from_ref(law), dims))
            }
            InterceptLaw::AtZero(law) => {
                let centre: Vec<f64> = self.centre.iter().map(|at| -at / self.unit).collect();
                let shift = m.graph().constant([heads], &centre).reshape(dims);
                let shift = moved.map_or(shift, |moved| shift + moved);
                Some(law.sample_moved(m, "intercept", shift))
            }
        }
    }

    /// The family's own parameters in each row. They are named quantities of it, except for vectors
    /// that all rows share. Known noise of each row replaces sigma.
    fn own_values<'g>(&self, row: &Row<'_, 'g>, sites: &ModelSites<'g>) -> Vec<Expr<'g>> {
        if self.has_errors {
            return vec![row.number(ERRORS)];
        }
        let value = |name: &str| {
            let varied = self.parameters.iter().position(|plan| plan.name == name);
            if let Some(place) = varied {
                let more = self.parameter_sum(row, sites, name);
                let value = self.parameters[place].value(row, &sites.parameters[place], more);
                row.quantity(name, value);
                return value;
            }
            let place = self.shape.iter().position(|(own, _)| own == name);
            let value = sites.shape[place.expect("a parameter with a site or a formula")];
            if value.shape().is_scalar() {
                row.quantity(name, value);
            }
            value
        };
        let own = self.family.info().own.iter();
        own.map(|own| value(own.name)).collect()
    }

    /// The family's own parameters on the original scale.
    fn shape_sites<'g>(&self, m: &Tracer<'g>) -> Vec<Expr<'g>> {
        let site = |(name, law): &(String, Law)| match name.as_str() {
            "df" => sample(m, DF_EXCESS, std::slice::from_ref(law), &[]) + 1.0,
            "cutpoint" => {
                let concentration = vec![law.concentration(); self.classes];
                let proportion = m.sample("proportion", Dirichlet::new(concentration));
                cutpoints(self.family.link(), proportion, self.classes)
            }
            _ => sample(m, name, std::slice::from_ref(law), &[]),
        };
        let sites: Vec<Expr<'g>> = self.shape.iter().map(site).collect();
        let own = self.family.info().own;
        let has_unit = |name: &str| {
            let is_it =
                |one: &OwnParameter| one.name == name && one.unit == ParameterUnit::Response;
            own.iter().any(is_it)
        };
        let named = self.shape.iter().zip(sites);
        named
            .map(|((name, _), site)| {
                if has_unit(name) {
                    site * self.unit
                } else {
                    site
                }
            })
            .collect()
    }

    /// The linear predictor of each row, `[n]` or `[n, heads]`.
    fn predictor<'g>(&self, row: &Row<'_, 'g>, sites: &ModelSites<'g>) -> Expr<'g> {
        let graph = sites.graph;
        let heads = self.heads.len();
        let own = if self.has_heads() { &[heads][..] } else { &[] };
        let whole = row.batch_shape(own);
        let mut sum = graph.full(whole, 0.0);
        if let Some(weight) = sites.weight {
            sum = sum + row.matrix(MATRIX).dot(weight);
        }
        if let Some(intercept) = sites.intercept {
            sum = sum + intercept;
        }
        let terms: [&dyn Fn(usize) -> Option<Expr<'g>>; 4] = [
            &|head| self.group_sum(row, &sites.groups[head], None),
            &|head| self.smooth_sum(row, &sites.smooths[head]),
            &|head| self.spline_sum(row, &sites.splines[head], None),
            &|head| monotonic_sum(row, &sites.monotonics[head]),
        ];
        for of_head in terms {
            if let Some(parts) = (0..heads).map(of_head).collect::<Option<Vec<_>>>() {
                sum = sum + self.side_by_side(&parts, row);
            }
        }
        let centre = graph.constant([heads], &self.centre).reshape(own);
        let predictor = sum * self.unit + centre;
        if self.has_offset {
            return predictor + row.offset(OFFSET);
        }
        predictor
    }

    fn side_by_side<'g>(&self, parts: &[Expr<'g>], row: &Row<'_, 'g>) -> Expr<'g> {
        if !self.has_heads() {
            return parts[0];
        }
        let column = |part: &Expr<'g>| part.reshape(row.batch_shape(&[1]));
        let columns: Vec<Expr<'g>> = parts.iter().map(column).collect();
        parts[0].graph().concat(&columns, 1)
    }

    /// The sum of the group terms of one formula: of the response, or of a parameter.
    fn group_sum<'g>(
        &self,
        row: &Row<'_, 'g>,
        sites: &[GroupSites<'g>],
        of: Option<&str>,
    ) -> Option<Expr<'g>> {
        let effects = self.groups.iter().zip(sites).enumerate();
        let own = effects.filter(|(_, (plan, _))| plan.of.as_deref() == of);
        let parts = own.map(|(place, (plan, sites))| plan.effect(row, place, sites));
        parts.reduce(|a, b| a + b)
    }

    /// As [`ModelPlan::group_sum`] for penalised smooths.
    fn spline_sum<'g>(
        &self,
        row: &Row<'_, 'g>,
        sites: &[SplineSites<'g>],
        of: Option<&str>,
    ) -> Option<Expr<'g>> {
        let effects = self.splines.iter().zip(sites).enumerate();
        let own = effects.filter(|(_, (plan, _))| plan.of.as_deref() == of);
        let parts = own.map(|(place, (_, sites))| sites.effect(row, place));
        parts.reduce(|a, b| a + b)
    }

    /// The contribution of group terms and smooths to the predictor of a parameter. Families with
    /// parameters have one predictor.
    fn parameter_sum<'g>(
        &self,
        row: &Row<'_, 'g>,
        sites: &ModelSites<'g>,
        name: &str,
    ) -> Option<Expr<'g>> {
        let groups = self.group_sum(row, &sites.groups[0], Some(name));
        let splines = self.spline_sum(row, &sites.splines[0], Some(name));
        groups.into_iter().chain(splines).reduce(|a, b| a + b)
    }

    fn smooth_sum<'g>(&self, row: &Row<'_, 'g>, sites: &[SmoothSites<'g>]) -> Option<Expr<'g>> {
        let effects = self.smooths.iter().zip(sites).enumerate();
        let parts = effects.map(|(place, (plan, sites))| plan.effect(row, place, sites));
        parts.reduce(|a, b| a + b)
    }
}

fn each_site<P, S>(plans: &[P], sites: impl Fn(&P) -> S) -> Vec<S> {
    plans.iter().map(sites).collect()
}

/// The sum of monotonic effects, given the effects of the levels of each.
fn monotonic_sum<'g>(row: &Row<'_, 'g>, own: &[Expr<'g>]) -> Option<Expr<'g>> {
    let effects = own.iter().enumerate();
    let parts = effects.map(|(place, own)| own.at(row.index(&monotonic_column(place))));
    parts.reduce(|a, b| a + b)
}
