//! The statements of a model while it is recorded.

use std::collections::HashMap;

use lehr_density::{Column, ColumnKind, Role, Site};
use lehr_graph::{Expr, Graph, Indices};

use crate::distribution::Distribution;
use crate::error::Problem;
use crate::statement::{FamilyName, InputRole, RecordedDistribution, RecordedParameter, Statement};

/// All statements of a model.
#[derive(Default)]
pub(crate) struct Record<'g> {
    pub(crate) latents: Vec<Site>,
    pub(crate) params: Vec<Site>,
    pub(crate) locals: Vec<Site>,
    pub(crate) columns: Vec<Column>,
    pub(crate) statements: Vec<Statement>,
    /// Named results, to which statements refer.
    pub(crate) outputs: Vec<(String, Expr<'g>)>,
    /// The meaning of each input of the graph.
    pub(crate) inputs: Vec<InputRole>,
    /// The columns that have been read.
    pub(crate) numbers: HashMap<String, Expr<'g>>,
    pub(crate) indices: HashMap<String, Indices<'g>>,
    /// The terms of the rows' log likelihood.
    pub(crate) likelihood: Vec<RowTerm<'g>>,
    pub(crate) problems: Vec<Problem>,
    /// Whether a stand-in with a guessed shape has been returned.
    pub(crate) guessed: bool,
}

/// The contribution of one set of rows to the log likelihood, one number per row.
#[derive(Clone, Copy)]
pub(crate) struct RowTerm<'g> {
    pub(crate) value: Expr<'g>,
    /// The weight.
    pub(crate) weight: Option<Expr<'g>>,
    /// The number of observed columns in it.
    pub(crate) observed: usize,
}

impl<'g> RowTerm<'g> {
    /// The log likelihood times the weight, if there is one.
    fn weighted_term(&self) -> Expr<'g> {
        match self.weight {
            Some(weight) => self.value * weight,
            None => self.value,
        }
    }
}

impl<'g> Record<'g> {
    /// The log likelihood of each row. With local latents it excludes the weight: a row of weight
    /// two stands for two rows with a latent each, so the weight multiplies the result after the
    /// latent is integrated out.
    pub(crate) fn row_likelihood(&mut self) -> Option<Expr<'g>> {
        let has_locals = !self.locals.is_empty();
        let term = |term: RowTerm<'g>| {
            if has_locals {
                term.value
            } else {
                term.weighted_term()
            }
        };
        let terms = std::mem::take(&mut self.likelihood).into_iter();
        terms.map(term).reduce(|a, b| a + b)
    }

    /// The log likelihood of each observed column; empty if there is one column, or if two are
    /// observed together.
    pub(crate) fn row_terms(&self) -> Vec<Expr<'g>> {
        let apart = self.likelihood.iter().all(|term| term.observed == 1);
        if !apart || !self.locals.is_empty() || self.likelihood.len() < 2 {
            return Vec::new();
        }
        self.likelihood.iter().map(RowTerm::weighted_term).collect()
    }

    /// Whether different parts of rows with local latents have different weights, so that no weight
    /// applies to the whole row.
    pub(crate) fn is_weighted_in_part(&self) -> bool {
        let same = |a: Option<Expr<'g>>, b: Option<Expr<'g>>| match (a, b) {
            (Some(a), Some(b)) => a.is(b),
            (a, b) => a.is_none() && b.is_none(),
        };
        let mut pairs = self.likelihood.windows(2);
        !self.locals.is_empty() && pairs.any(|pair| !same(pair[0].weight, pair[1].weight))
    }

    /// Whether a site, parameter, local latent or deterministic has this name.
    pub(crate) fn is_taken(&self, name: &str) -> bool {
        let lists = [&self.latents, &self.params, &self.locals];
        let is_site = (lists.iter()).any(|sites| sites.iter().any(|site| site.name == name));
        let is_quantity = |statement: &Statement| match statement {
            Statement::Deterministic { output } => self.outputs[*output].0 == name,
            _ => false,
        };
        is_site || self.statements.iter().any(is_quantity)
    }

    /// Whether the column has been observed.
    pub(crate) fn is_observed(&self, column: &str) -> bool {
        let mut observed = self.statements.iter().filter_map(Statement::observed);
        observed.any(|observed| observed.column == column)
    }

    /// Whether any column has been observed.
    pub(crate) fn has_observations(&self) -> bool {
        self.statements
            .iter()
            .any(|statement| statement.observed().is_some())
    }

    /// Adds a problem once, however often it occurs.
    pub(crate) fn note_problem(&mut self, problem: Problem) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// Records that a column is read and returns its place. The role of an observed column outranks
    /// others.
    pub(crate) fn read_column(&mut self, name: &str, kind: ColumnKind, role: Role) -> usize {
        let same = |column: &Column| {
            column.name == name
                && std::mem::discriminant(&column.kind) == std::mem::discriminant(&kind)
        };
        let Some(place) = self.columns.iter().position(same) else {
            self.columns.push(Column {
                name: name.to_owned(),
                kind,
                role,
            });
            return self.columns.len() - 1;
        };
        let known = &mut self.columns[place];
        if matches!(role, Role::Response { .. }) || known.role == Role::Covariate {
            known.role = role;
        }
        place
    }

    /// Adds a result and returns its place.
    pub(crate) fn add_output(&mut self, name: &str, value: Expr<'g>) -> usize {
        self.outputs.push((name.to_owned(), value));
        self.outputs.len() - 1
    }

    /// The distribution `of` with its parameters as results, each transformed by `form`.
    pub(crate) fn record_law(
        &mut self,
        graph: &'g Graph,
        of: &str,
        distribution: &impl Distribution<'g>,
        form: impl Fn(Expr<'g>) -> Expr<'g>,
    ) -> RecordedDistribution {
        let parameters = distribution.named_parameters(graph).into_iter();
        let parameters = parameters.map(|(name, value)| RecordedParameter {
            name: name.to_owned(),
            output: self.add_output(&format!("{name} of {of}"), form(value)),
        });
        RecordedDistribution {
            parameters: parameters.collect(),
            family: FamilyName(distribution.sampling_family()),
            batch: distribution.batch_shape().size(),
        }
    }
}
