//! A recorded model: data that prints, saves, loads, and is bound to any table of its schema.

use std::sync::Arc;

use lehr_density::{
    Columns, FlatDraws, Layout, Point, RowSource, Rows, SiteValue, Stored, quantities,
};
use lehr_graph::{Expr, Recording};
use lehr_table::Table;
use serde::{Deserialize, Serialize};

use crate::bound::Bound;
use crate::data::{Demands, read};
use crate::error::{BindError, Problem};
use crate::schema::Schema;
use crate::statement::{Law, Observed, Statement};

/// What the outputs with the log likelihoods of single columns are called, before their number.
pub(crate) const ROW_TERM: &str = "log likelihood of column ";

/// Under which name a program is stored.
const NAME: &str = "program";

/// A model as data: its sites, parameters and columns, and its expressions over any number of
/// rows. It is all that inference and prediction need; the function that wrote it is not.
///
/// Printing it shows a line per statement. One that is read back is checked first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Program {
    pub(crate) parts: Arc<Parts>,
}

/// What a program consists of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Parts {
    pub(crate) latents: Layout,
    pub(crate) params: Layout,
    pub(crate) locals: Layout,
    pub(crate) columns: Columns,
    /// The columns that are read, as they were when the model was recorded.
    pub(crate) schema: Schema,
    pub(crate) demands: Demands,
    pub(crate) statements: Vec<Statement>,
    pub(crate) recording: Recording,
    /// What each input of the recording is.
    pub(crate) inputs: Vec<Given>,
    /// The output with the log likelihood of each row.
    pub(crate) likelihood: usize,
}

/// What an input of a recorded model is, by its place among its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Given {
    Latent(usize),
    Param(usize),
    Local(usize),
    Column(usize),
}

/// A latent of each row's own: its prior, and the output with the log density of that.
pub(crate) struct LocalSite<'a> {
    pub(crate) law: &'a Law,
    pub(crate) term: usize,
}

/// The values of sites and columns in one replay.
pub(crate) struct Values<'a, 'g> {
    pub(crate) latents: &'a [Expr<'g>],
    pub(crate) params: &'a [Expr<'g>],
    pub(crate) locals: &'a [Expr<'g>],
    pub(crate) rows: Option<&'a Rows<'g>>,
}

impl Program {
    /// The sites behind z.
    pub fn latents(&self) -> &Layout {
        &self.parts.latents
    }

    /// The sites behind θ.
    pub fn params(&self) -> &Layout {
        &self.parts.params
    }

    /// The columns that are read of each row.
    pub fn columns(&self) -> &Columns {
        &self.parts.columns
    }

    /// The outputs with the log likelihood of each observed column, which stand before that of all; none
    /// where there is one column, or they are not apart.
    pub(crate) fn row_terms(&self) -> Vec<usize> {
        let Parts {
            recording,
            likelihood,
            ..
        } = &*self.parts;
        let is_term = |place: &usize| recording.output(*place).0.starts_with(ROW_TERM);
        let terms = (0..*likelihood).rev().take_while(is_term);
        let mut terms: Vec<usize> = terms.collect();
        terms.reverse();
        terms
    }

    /// The program on the rows of a table, whose levels keep the numbers they were recorded
    /// with. Refuses with all that is wrong with the columns and their values.
    pub fn bind(&self, table: &Table) -> Result<Bound, BindError> {
        let mut problems = Vec::new();
        if table.n_rows() == 0 {
            problems.push(Problem::NoRows);
        }
        let data = read(
            table,
            &self.parts.columns,
            &self.parts.schema,
            &self.parts.demands,
        );
        match data {
            Ok(data) if problems.is_empty() => Ok(self.bind_source(Arc::new(data))),
            data => {
                problems.extend(data.err().into_iter().flatten());
                Err(BindError { problems })
            }
        }
    }

    /// The program on the rows of a source, which its caller vouches for: it has the columns of
    /// [`Program::columns`] in their order, and their values are such that binding a table of
    /// them would not refuse any.
    pub fn bind_source(&self, source: Arc<dyn RowSource>) -> Bound {
        Bound::new(self.clone(), source)
    }

    /// The program under its name, for a saved fit.
    pub fn stored(&self) -> Stored {
        Stored {
            name: NAME.to_owned(),
            bytes: self.to_bytes(),
        }
    }

    /// The program as bytes, exact in every bit.
    ///
    /// # Panics
    /// Never: every part of a program can be written.
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("a program is plain data")
    }

    /// The program that [`Program::to_bytes`] wrote. Refuses bytes that are not a whole and
    /// sound program.
    pub fn from_bytes(bytes: &[u8]) -> Result<Program, ProgramError> {
        postcard::from_bytes(bytes).map_err(|error| ProgramError {
            message: error.to_string(),
        })
    }

    /// The program that a density stored of itself.
    pub fn from_stored(stored: &Stored) -> Result<Program, ProgramError> {
        if stored.name != NAME {
            let message = format!("expected {NAME:?}, found {:?}", stored.name);
            return Err(ProgramError { message });
        }
        Program::from_bytes(&stored.bytes)
    }

    /// What the model names by [`crate::Tracer::deterministic`], under each draw.
    pub fn deterministic_values(&self, draws: FlatDraws<'_>) -> Vec<SiteValue> {
        quantities(draws, |at| self.named_quantities(at))
    }

    /// The quantities that the model names besides its sites.
    pub(crate) fn named_quantities<'g>(&self, at: &Point<'g>) -> Vec<(String, Expr<'g>)> {
        let outputs = self.deterministics();
        let name = |&output: &usize| self.parts.recording.output(output).0.to_owned();
        let names: Vec<String> = outputs.iter().map(name).collect();
        names.into_iter().zip(self.at(&outputs, at, None)).collect()
    }

    /// Outputs at a point, on some rows where they need any.
    pub(crate) fn at<'g>(
        &self,
        outputs: &[usize],
        at: &Point<'g>,
        rows: Option<&Rows<'g>>,
    ) -> Vec<Expr<'g>> {
        let parts = &*self.parts;
        let latents = parts.latents.constrain(at.latents).values;
        let params = parts.params.constrain(at.params).values;
        let locals = rows.and_then(|rows| self.local_sites(rows));
        let values = Values {
            latents: &latents,
            params: &params,
            locals: locals.as_ref().map_or(&[], |sites| &sites.values),
            rows,
        };
        self.replay(at.graph(), outputs, &values)
    }

    /// The local latents of rows, where the model has any.
    pub(crate) fn local_sites<'g>(
        &self,
        rows: &Rows<'g>,
    ) -> Option<lehr_density::ConstrainedSites<'g>> {
        let locals = &self.parts.locals;
        if locals.is_empty() {
            return None;
        }
        let flat = (rows.locals()).expect("the rows of a model with local latents carry them");
        Some(locals.constrain_rows(flat))
    }

    pub(crate) fn replay<'g>(
        &self,
        graph: &'g lehr_graph::Graph,
        outputs: &[usize],
        values: &Values<'_, 'g>,
    ) -> Vec<Expr<'g>> {
        let parts = &*self.parts;
        let given = |place: usize| match parts.inputs[place] {
            Given::Latent(site) => values.latents[site],
            Given::Param(site) => values.params[site],
            Given::Local(site) => values.locals[site],
            Given::Column(column) => values.column(parts, column, place),
        };
        let rows = values.rows.map_or(0, Rows::len);
        parts.recording.replay(graph, outputs, &given, rows)
    }

    /// The log density of each site's prior at a point, on the scale of the site itself: without
    /// the Jacobian of the map from unconstrained numbers.
    pub fn site_priors<'g>(&self, at: &Point<'g>) -> Vec<(String, Expr<'g>)> {
        let sampled = self.parts.statements.iter().filter_map(|one| match one {
            Statement::Sample { site, term, .. } => Some((*site, *term)),
            _ => None,
        });
        let (sites, terms): (Vec<usize>, Vec<usize>) = sampled.unzip();
        let names = sites
            .iter()
            .map(|site| self.latents().sites()[*site].name.clone());
        names.zip(self.at(&terms, at, None)).collect()
    }

    /// The terms of the log prior: priors and factors.
    pub(crate) fn prior_terms(&self) -> Vec<usize> {
        let term = |statement: &Statement| match statement {
            Statement::Sample { term, .. } => Some(*term),
            Statement::Factor { output } => Some(*output),
            _ => None,
        };
        self.parts.statements.iter().filter_map(term).collect()
    }

    /// The latents of each row's own, in the order of their sites.
    pub(crate) fn locals(&self) -> impl Iterator<Item = LocalSite<'_>> {
        let local = |statement| match statement {
            &Statement::Local { ref law, term, .. } => Some(LocalSite { law, term }),
            _ => None,
        };
        self.parts.statements.iter().filter_map(local)
    }

    /// The columns whose product is the weight of a row, each once.
    pub(crate) fn weights(&self) -> impl Iterator<Item = &str> {
        let statements = &self.parts.statements;
        let of = |place: usize| match &statements[place] {
            Statement::Weight { column } => Some(column.as_str()),
            _ => None,
        };
        let is_first = move |place: &usize| (0..*place).all(|earlier| of(earlier) != of(*place));
        (0..statements.len()).filter(is_first).filter_map(of)
    }

    /// The observed columns.
    pub(crate) fn observed(&self) -> impl Iterator<Item = &Observed> {
        self.parts
            .statements
            .iter()
            .filter_map(|statement| match statement {
                Statement::Observe(observed) => Some(observed),
                _ => None,
            })
    }

    /// The outputs of the named quantities of each row.
    pub(crate) fn row_quantities(&self) -> Vec<usize> {
        let output = |statement: &Statement| match statement {
            Statement::RowQuantity { output } => Some(*output),
            _ => None,
        };
        self.parts.statements.iter().filter_map(output).collect()
    }

    /// The outputs of the named quantities.
    pub(crate) fn deterministics(&self) -> Vec<usize> {
        let output = |statement: &Statement| match statement {
            Statement::Deterministic { output } => Some(*output),
            _ => None,
        };
        self.parts.statements.iter().filter_map(output).collect()
    }
}

impl<'g> Values<'_, 'g> {
    fn column(&self, parts: &Parts, column: usize, place: usize) -> Expr<'g> {
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

/// Why bytes are no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stored model cannot be read: {message}")]
pub struct ProgramError {
    /// What was found.
    pub message: String,
}

impl From<Program> for Parts {
    fn from(program: Program) -> Parts {
        Parts::clone(&program.parts)
    }
}

impl TryFrom<Parts> for Program {
    type Error = ProgramError;

    fn try_from(parts: Parts) -> Result<Program, ProgramError> {
        match crate::sound::fault(&parts) {
            Some(message) => Err(ProgramError { message }),
            None => Ok(Program {
                parts: Arc::new(parts),
            }),
        }
    }
}
