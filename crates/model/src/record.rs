//! What a run of a model leaves behind.

use lehr_density::{Column, ColumnKind, Family, ResponseKind, Role, Site};
use lehr_graph::Expr;

use crate::error::Problem;

/// Everything a model said in one run.
#[derive(Default)]
pub(crate) struct Record<'g> {
    pub(crate) latents: Vec<Site>,
    pub(crate) params: Vec<Site>,
    pub(crate) locals: Vec<Site>,
    /// The terms of the log prior, one number each: priors and factors.
    pub(crate) prior: Vec<Expr<'g>>,
    /// The terms of the rows' log likelihood, `[n]` each.
    pub(crate) likelihood: Vec<Expr<'g>>,
    pub(crate) observed: Vec<Observed<'g>>,
    pub(crate) deterministics: Vec<(String, Expr<'g>)>,
    pub(crate) columns: Vec<Column>,
    /// Every value that has a name, for the description.
    pub(crate) named: Vec<(String, Expr<'g>)>,
    /// The description, a line per site.
    pub(crate) lines: Vec<String>,
    pub(crate) problems: Vec<Problem>,
    /// A stand-in whose shape was a guess has been handed out.
    pub(crate) guessed: bool,
}

/// An observed column and its distribution.
pub(crate) struct Observed<'g> {
    pub(crate) name: String,
    pub(crate) distribution: &'static str,
    pub(crate) kind: ResponseKind,
    /// Numbers per row.
    pub(crate) width: usize,
    pub(crate) family: &'static dyn Family,
    pub(crate) parameters: Vec<(&'static str, Expr<'g>)>,
    pub(crate) mean: Option<Expr<'g>>,
}

impl<'g> Record<'g> {
    /// Whether a site, parameter, local latent or deterministic has this name.
    pub(crate) fn is_taken(&self, name: &str) -> bool {
        let lists = [&self.latents, &self.params, &self.locals];
        lists
            .iter()
            .any(|sites| sites.iter().any(|site| site.name == name))
            || self.deterministics.iter().any(|(known, _)| known == name)
    }

    /// Whether the column has been observed in this run.
    pub(crate) fn is_observed(&self, column: &str) -> bool {
        self.observed.iter().any(|observed| observed.name == column)
    }

    /// Adds a problem once, however often the model runs into it.
    pub(crate) fn problem(&mut self, problem: Problem) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// Notes that a column is read; being observed outranks other roles.
    pub(crate) fn read(&mut self, name: &str, kind: ColumnKind, role: Role) {
        let same = |column: &&mut Column| {
            column.name == name
                && std::mem::discriminant(&column.kind) == std::mem::discriminant(&kind)
        };
        let Some(known) = self.columns.iter_mut().find(same) else {
            self.columns.push(Column {
                name: name.to_owned(),
                kind,
                role,
            });
            return;
        };
        if matches!(role, Role::Response { .. }) || known.role == Role::Covariate {
            known.role = role;
        }
    }

    pub(crate) fn name(&mut self, name: &str, value: Expr<'g>) {
        self.named.push((name.to_owned(), value));
    }
}
