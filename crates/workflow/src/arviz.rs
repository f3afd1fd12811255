//! Draws for ArviZ.

use std::path::Path;

use lehr_density::{Density, Predictor, RowSet};
use lehr_infer::pointwise::pointwise;
use lehr_infer::posterior::Diagnostics;
use lehr_model::Bound;
use lehr_numeric::stream::Stream;
use lehr_regression::{Groups, NamedDraws, NewRows};
use lehr_report::{Draws, Group, InferenceData, Lead};
use lehr_table::Table;

use crate::error::Error;
use crate::saved_fit::SavedFit;
use crate::score::observed;

/// The number of chains to which independent draws are dealt, since some diagnostics of ArviZ need
/// several.
const CHAINS: usize = 4;

/// Larger groups are written only on request.
const MOST_NUMBERS: usize = 10_000_000;

/// The form in which draws are exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawForm {
    /// Equally weighted draws: resampled by weight if weights correct the fit.
    Even,
    /// Unweighted draws, with their weights in a separate column.
    Raw,
}

/// Whether a group with a number for each draw and row is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowGroup {
    /// Unless it has more than 10⁷ numbers.
    WithinLimit,
    /// For any size.
    Always,
}

/// The content of a file for `ArviZ`.
pub struct ArvizExport<'a> {
    /// The fit.
    pub saved: &'a SavedFit,
    /// The form of the draws.
    pub form: DrawForm,
    /// Whether the random effects of single groups are included.
    pub groups: Groups,
    /// The fitted rows, for `observed_data`, `posterior_predictive` and `log_likelihood`.
    pub table: Option<&'a Table>,
    /// Whether `log_likelihood` is written.
    pub log_likelihood: RowGroup,
    /// Whether `posterior_predictive` is written.
    pub posterior_predictive: RowGroup,
}

impl SavedFit {
    /// The draws in this form: the unweighted ones with their weights, if they have any.
    pub fn export_draws(&self, groups: Groups, form: DrawForm) -> Vec<NamedDraws> {
        if form == DrawForm::Even {
            return self.even_draws(groups);
        }
        let weights = self.posterior.log_weights().map(|weights| NamedDraws {
            name: "log_weight".into(),
            values: weights.to_vec(),
        });
        self.raw_draws(groups).into_iter().chain(weights).collect()
    }
}

impl ArvizExport<'_> {
    /// The file's content, and one sentence on each omitted part.
    pub fn data(&self) -> Result<(InferenceData, Vec<String>), Error> {
        let saved = self.saved;
        let columns = match self.form {
            DrawForm::Even => saved.even_draws(self.groups),
            DrawForm::Raw => saved.raw_draws(self.groups),
        };
        let mut data = InferenceData::from_draws(&rows(&columns, 1))?;
        data = data.with_group(self.sample_stats());
        let not_kept = saved.not_kept().filter(|_| self.groups == Groups::Include);
        let mut left_out: Vec<String> = not_kept.into_iter().collect();
        if let Some(table) = self.table {
            let groups = self.row_groups(table, &mut left_out)?;
            data = groups.into_iter().fold(data, InferenceData::with_group);
        }
        let data = data.in_chains(saved.posterior.n_chains().unwrap_or(CHAINS));
        let attributes = saved.attributes().into_iter();
        let data = attributes.fold(data, |data, (key, value)| data.with_attribute(key, value));
        Ok((data, left_out))
    }

    /// The numbers of the draws that are written.
    fn places(&self) -> Vec<usize> {
        let count = self.saved.posterior.n_draws();
        match self.form {
            DrawForm::Even => self.saved.places(count),
            DrawForm::Raw => (0..count).collect(),
        }
    }

    /// Log weights, with which weighting is always correct, or the statistics of Markov chains for
    /// each draw.
    fn sample_stats(&self) -> Group {
        let posterior = &self.saved.posterior;
        let count = posterior.n_draws();
        let mut stats = Vec::new();
        match &posterior.diagnostics {
            Diagnostics::Importance(_)
                if self.form == DrawForm::Even && self.saved.is_corrected() =>
            {
                let from = self.places().into_iter();
                let from = from.map(|place| place as f64).collect();
                stats.push(("log_weight".to_owned(), vec![-(count as f64).ln(); count]));
                stats.push(("resampled_from".to_owned(), from));
            }
            _ => {
                if let Some(weights) = posterior.log_weights() {
                    stats.push(("log_weight".to_owned(), weights.to_vec()));
                }
            }
        }
        if let Some(chains) = posterior.chains() {
            let diverged = |draw| f64::from(u8::from(chains.divergences.contains(&draw)));
            stats.push(("energy".to_owned(), chains.energies.clone()));
            stats.push(("diverging".to_owned(), (0..count).map(diverged).collect()));
        }
        stats.retain(|(_, values)| values.len() == count);
        let mut group = Group::plain_group("sample_stats", Lead::Draws, stats);
        for variable in &mut group.variables {
            if variable.name == "diverging" {
                // The attribute by which xarray recognises Boolean values.
                variable.attributes.push(("dtype".into(), "bool".into()));
            }
        }
        group
    }

    /// The groups with a number for each row.
    fn row_groups(&self, table: &Table, left_out: &mut Vec<String>) -> Result<Vec<Group>, Error> {
        let own = self.saved.rows_of_fit(table)?;
        let rows = own.bound().n_rows();
        let places = self.places();
        let numbers = rows * places.len();
        let mut is_wanted = |group: &str, option: &str, wish: RowGroup| {
            let wanted = wish == RowGroup::Always || numbers <= MOST_NUMBERS;
            if !wanted {
                left_out.push(format!(
                    "{group} is left out: it would have {numbers} numbers; {option} writes it"
                ));
            }
            wanted
        };
        let is_predicted = is_wanted(
            "posterior_predictive",
            "--posterior-predictive",
            self.posterior_predictive,
        );
        let is_scored = is_wanted("log_likelihood", "--log-likelihood", self.log_likelihood);
        let singles = match self.saved.subject.multivariate() {
            Some(_) => &self.saved.responses()?[..],
            None => std::slice::from_ref(self.saved),
        };
        let (mut seen, mut predicted) = (Vec::new(), Vec::new());
        for single in singles {
            let own = single.rows_of_fit(table)?;
            let name = single.subject.response();
            seen.push((name.clone(), observed(own.bound(), &RowSet::Range(0..rows))));
            if is_predicted {
                let drawn = predictive(single, own.bound(), &draws_of(single, &own, &places));
                predicted.push((name, drawn));
            }
        }
        seen.retain(|(_, values)| values.len() == rows);
        predicted.retain(|(_, values)| values.len() == numbers);
        let lead = Lead::DrawsOfRows(rows);
        let mut groups = Vec::new();
        if !seen.is_empty() {
            groups.push(Group::plain_group("observed_data", Lead::Rows(rows), seen));
        }
        if !predicted.is_empty() {
            groups.push(Group::plain_group("posterior_predictive", lead, predicted));
        }
        if is_scored {
            let marginal = self.saved.posterior.marginal(own.bound());
            let draws = draws_of(self.saved, &own, &places);
            let values = by_draw(marginal.density(), &draws, self.saved.params());
            let name = self.saved.subject.response();
            groups.push(Group::plain_group("log_likelihood", lead, [(name, values)]));
        }
        Ok(groups)
    }
}

/// These draws of a fit in the form of the model of some rows.
fn draws_of(saved: &SavedFit, rows: &NewRows, places: &[usize]) -> Vec<Vec<f64>> {
    let places = places.iter();
    places.map(|place| saved.draw_for(*place, rows)).collect()
}

/// A response of every row for each draw.
fn predictive(saved: &SavedFit, bound: &Bound, draws: &[Vec<f64>]) -> Vec<f64> {
    let mut predictor = Predictor::of_all_rows(bound);
    let mut stream = Stream::new(saved.posterior.origin.seed, "arviz", 0);
    let mut all = Vec::with_capacity(draws.len() * bound.n_rows());
    for draw in draws {
        let drawn = predictor.draw_responses(draw, saved.params(), &mut stream);
        let first = drawn.into_iter().next();
        all.extend(first.into_iter().flat_map(|one| one.values));
    }
    all
}

/// The log likelihood of every row for each draw, draw after draw.
fn by_draw(density: &dyn Density, draws: &[Vec<f64>], params: &[f64]) -> Vec<f64> {
    let n_rows = density.n_rows();
    let mut all = vec![0.0; n_rows * draws.len()];
    pointwise(density, &draws.concat(), params, |rows, values| {
        for (draw, values) in values.chunks_exact(rows.len()).enumerate() {
            all[draw * n_rows..][rows.clone()].copy_from_slice(values);
        }
    });
    all
}

impl SavedFit {
    /// Writes the draws of all coefficients, random effects included, for `arviz.from_netcdf`. All
    /// draws have equal weight.
    pub fn to_arviz(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let (data, _) = self.arviz(Groups::Include).data()?;
        Ok(data.write(path.as_ref())?)
    }

    /// The default content for `ArviZ`: equally weighted draws.
    pub fn arviz(&self, groups: Groups) -> ArvizExport<'_> {
        ArvizExport {
            saved: self,
            form: DrawForm::Even,
            groups,
            table: None,
            log_likelihood: RowGroup::WithinLimit,
            posterior_predictive: RowGroup::WithinLimit,
        }
    }

    /// The attributes of the fit in every group of a file.
    fn attributes(&self) -> Vec<(&'static str, String)> {
        let verdict = self.verdict();
        let mut attributes = vec![
            ("inference_library", "lehr".to_owned()),
            ("inference_library_version", self.version.clone()),
            ("created_at", self.date.clone()),
            ("method", self.posterior.method().to_owned()),
            ("model", self.subject.title()),
            ("verdict", verdict.level.name().to_owned()),
            ("verdict_sentence", verdict.sentence),
            ("verdict_advice", verdict.advice.join("; ")),
            (
                "effective_sample_size",
                format!("{:.1}", self.posterior.effective_size()),
            ),
        ];
        let shape = self.posterior.pareto_shape();
        attributes.extend(shape.map(|shape| ("pareto_k", format!("{shape:.3}"))));
        let levels = self.subject.classes();
        if !levels.is_empty() {
            attributes.push(("response_levels", levels.join(", ")));
        }
        attributes
    }
}

/// Every k-th draw, one row per draw.
pub(crate) fn rows(columns: &[NamedDraws], stride: usize) -> Draws {
    let count = columns.first().map_or(0, |one| one.values.len());
    let rows = (0..count).step_by(stride);
    Draws {
        values: rows
            .flat_map(|row| columns.iter().map(move |one| one.values[row]))
            .collect(),
        names: columns.iter().map(|one| one.name.clone()).collect(),
    }
}
