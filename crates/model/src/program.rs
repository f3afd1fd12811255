//! A recorded model: data that prints, saves and loads, and can be bound to any table of its
//! schema.

use std::sync::Arc;

use lehr_density::{Columns, Layout, StoredForm};
use serde::{Deserialize, Serialize};

use crate::parts::ProgramParts;
use crate::statement::{ObservedColumn, RecordedDistribution, Statement};

/// The names of the outputs with the log likelihoods of single columns, before their number.
pub(crate) const ROW_TERM: &str = "log likelihood of column ";

/// The name under which a program is stored.
const NAME: &str = "program";

/// A model as data: its sites, parameters and columns, and its expressions over any number of rows.
/// Inference and prediction need nothing else; in particular they do not need the function that
/// wrote it.
///
/// It prints one line per statement. A program that is read from a file is checked first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "ProgramParts", into = "ProgramParts")]
pub struct Program {
    pub(crate) parts: Arc<ProgramParts>,
}

/// A local latent: its prior, and the output with the log density of the prior.
pub(crate) struct LocalSite<'a> {
    pub(crate) law: &'a RecordedDistribution,
    pub(crate) term: usize,
}

impl Program {
    /// The sites of z.
    pub fn latents(&self) -> &Layout {
        &self.parts.latents
    }

    /// The sites of θ.
    pub fn params(&self) -> &Layout {
        &self.parts.params
    }

    /// The columns that each row reads.
    pub fn columns(&self) -> &Columns {
        &self.parts.columns
    }

    /// The outputs with the log likelihood of each observed column, which precede that of all.
    /// Empty if there is one column, or if they are not separate.
    pub(crate) fn row_terms(&self) -> Vec<usize> {
        let ProgramParts {
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

    /// The program under its name, for a saved fit.
    pub fn stored(&self) -> StoredForm {
        StoredForm {
            name: NAME.to_owned(),
            bytes: self.to_bytes(),
        }
    }

    /// The program as bytes, exact in every bit.
    ///
    /// # Panics Never: every part of a program can be serialised.
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("a program is plain data")
    }

    /// Reads a program that [`Program::to_bytes`] wrote. Refuses bytes that are not a complete and
    /// consistent program.
    pub fn from_bytes(bytes: &[u8]) -> Result<Program, ProgramError> {
        postcard::from_bytes(bytes).map_err(|error| ProgramError {
            message: error.to_string(),
        })
    }

    /// Reads the program that a density stored.
    pub fn from_stored(stored: &StoredForm) -> Result<Program, ProgramError> {
        if stored.name != NAME {
            let message = format!("expected {NAME:?}, found {:?}", stored.name);
            return Err(ProgramError { message });
        }
        Program::from_bytes(&stored.bytes)
    }

    /// The latents without a proper prior, by their places in z.
    pub(crate) fn improper(&self) -> Vec<usize> {
        let flat = |statement: &Statement| match statement {
            Statement::Sample { site, law, .. } if law.is_flat() => Some(*site),
            _ => None,
        };
        let sites = self.parts.statements.iter().filter_map(flat);
        sites.flat_map(|site| self.latents().range(site)).collect()
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

    /// The local latents, in the order of their sites.
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
    pub(crate) fn observed(&self) -> impl Iterator<Item = &ObservedColumn> {
        self.parts.statements.iter().filter_map(Statement::observed)
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

/// The reason why bytes are not a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stored model cannot be read: {message}")]
pub struct ProgramError {
    /// The message.
    pub message: String,
}

impl From<Program> for ProgramParts {
    fn from(program: Program) -> ProgramParts {
        ProgramParts::clone(&program.parts)
    }
}

impl TryFrom<ProgramParts> for Program {
    type Error = ProgramError;

    fn try_from(parts: ProgramParts) -> Result<Program, ProgramError> {
        match crate::sound::find_fault(&parts) {
            Some(message) => Err(ProgramError { message }),
            None => Ok(Program {
                parts: Arc::new(parts),
            }),
        }
    }
}
