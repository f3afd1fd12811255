//! The expressions of a program at a point: prior, likelihood and named quantities.

use lehr_density::{ConstrainedSites, FlatDraws, Point, Response, Rows, SiteValue, quantities};
use lehr_graph::{Expr, Graph};

use crate::parts::ProgramParts;
use crate::program::Program;
use crate::statement::{InputRole, ObservedColumn, Statement};

/// The values of sites and columns in one replay.
pub(crate) struct ReplayInputs<'a, 'g> {
    pub(crate) latents: &'a [Expr<'g>],
    pub(crate) params: &'a [Expr<'g>],
    pub(crate) locals: &'a [Expr<'g>],
    pub(crate) rows: Option<&'a Rows<'g>>,
}

impl Program {
    /// The quantities named by [`crate::Tracer::deterministic`], for each draw.
    pub fn deterministic_values(&self, draws: FlatDraws<'_>) -> Vec<SiteValue> {
        quantities(draws, |at| self.named_quantities(at))
    }

    /// The quantities that the model names besides its sites.
    pub(crate) fn named_quantities<'g>(&self, at: &Point<'g>) -> Vec<(String, Expr<'g>)> {
        self.named_outputs(&self.deterministics(), at, None)
    }

    /// Outputs with their names.
    fn named_outputs<'g>(
        &self,
        outputs: &[usize],
        at: &Point<'g>,
        rows: Option<&Rows<'g>>,
    ) -> Vec<(String, Expr<'g>)> {
        let name = |&output: &usize| self.parts.recording.output(output).0.to_owned();
        outputs
            .iter()
            .map(name)
            .zip(self.evaluate_at(outputs, at, rows))
            .collect()
    }

    /// Outputs at a point, and on some rows if they need any.
    pub(crate) fn evaluate_at<'g>(
        &self,
        outputs: &[usize],
        at: &Point<'g>,
        rows: Option<&Rows<'g>>,
    ) -> Vec<Expr<'g>> {
        let parts = &*self.parts;
        let latents = parts.latents.constrain(at.latents).values;
        let params = parts.params.constrain(at.params).values;
        let locals = rows.and_then(|rows| self.local_sites(rows));
        let values = ReplayInputs {
            latents: &latents,
            params: &params,
            locals: locals.as_ref().map_or(&[], |sites| &sites.values),
            rows,
        };
        self.replay_outputs(at.graph(), outputs, &values)
    }

    /// The local latents of rows, if the model has any.
    pub(crate) fn local_sites<'g>(&self, rows: &Rows<'g>) -> Option<ConstrainedSites<'g>> {
        let locals = &self.parts.locals;
        if locals.is_empty() {
            return None;
        }
        let flat = (rows.locals()).expect("the rows of a model with local latents carry them");
        Some(locals.constrain_rows(flat))
    }

    pub(crate) fn replay_outputs<'g>(
        &self,
        graph: &'g Graph,
        outputs: &[usize],
        values: &ReplayInputs<'_, 'g>,
    ) -> Vec<Expr<'g>> {
        let parts = &*self.parts;
        let given = |place: usize| match parts.inputs[place] {
            InputRole::Latent(site) => values.latents[site],
            InputRole::Param(site) => values.params[site],
            InputRole::Local(site) => values.locals[site],
            InputRole::Column(column) => values.column_values(parts, column, place),
        };
        let rows = values.rows.map_or(0, Rows::len);
        parts.recording.replay(graph, outputs, &given, rows)
    }

    /// The log density of each site's prior at a point, on the scale of the site itself: without
    /// the Jacobian of the unconstraining map.
    pub fn site_priors<'g>(&self, at: &Point<'g>) -> Vec<(String, Expr<'g>)> {
        let sampled = self.parts.statements.iter().filter_map(|one| match one {
            Statement::Sample { site, term, .. } => Some((*site, *term)),
            _ => None,
        });
        let (sites, terms): (Vec<usize>, Vec<usize>) = sampled.unzip();
        let names = sites
            .iter()
            .map(|site| self.latents().sites()[*site].name.clone());
        names.zip(self.evaluate_at(&terms, at, None)).collect()
    }

    /// Ψ₀(z): the log-Jacobians of the latents, the log densities of their priors, and factors.
    pub(crate) fn log_prior<'g>(&self, at: &Point<'g>) -> Expr<'g> {
        let jacobian = self.latents().constrain(at.latents).log_jacobian;
        let terms = self.evaluate_at(&self.prior_terms(), at, None);
        terms.into_iter().fold(jacobian, |sum, term| sum + term)
    }

    /// The log likelihood of each row, `[n]`. With local latents it is the log of the joint density
    /// of response and latents, without the log-Jacobian of the latents.
    pub(crate) fn log_likelihood<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Expr<'g> {
        self.evaluate_at(&[self.parts.likelihood], at, Some(rows))[0]
    }

    /// The distribution of every observed column, one per row.
    pub(crate) fn responses<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Vec<Response<'g>> {
        let observed: Vec<_> = self.observed().collect();
        let outputs = observed.iter().flat_map(|observed| {
            let parameters = observed
                .law
                .parameters
                .iter()
                .map(|parameter| parameter.output);
            parameters.chain(observed.mean).chain(observed.variance)
        });
        let outputs: Vec<usize> = outputs.collect();
        let mut exprs = self.evaluate_at(&outputs, at, Some(rows)).into_iter();
        let response = |observed: &&ObservedColumn| Response {
            name: observed.column.clone(),
            kind: observed.kind,
            width: observed.width,
            family: observed.law.family.0,
            parameters: (observed.law.parameters.iter())
                .map(|parameter| parameter.name.clone())
                .zip(exprs.by_ref())
                .collect(),
            mean: observed.mean.and_then(|_| exprs.next()),
            variance: observed.variance.and_then(|_| exprs.next()),
        };
        observed.iter().map(response).collect()
    }

    /// The quantities of each row that the model names.
    pub(crate) fn named_row_quantities<'g>(
        &self,
        at: &Point<'g>,
        rows: &Rows<'g>,
    ) -> Vec<(String, Expr<'g>)> {
        self.named_outputs(&self.row_quantities(), at, Some(rows))
    }
}

impl<'g> ReplayInputs<'_, 'g> {
    fn column_values(&self, parts: &ProgramParts, column: usize, place: usize) -> Expr<'g> {
        let name = &parts.columns.0[column].name;
        let rows = self.rows.expect("rows are given where columns are read");
        let found = if parts.recording.is_index(place) {
            rows.indices(name).map(|indices| indices.expr())
        } else {
            rows.numbers(name)
        };
        found.unwrap_or_else(|| panic!("column {name:?} is not among the rows"))
    }
}
