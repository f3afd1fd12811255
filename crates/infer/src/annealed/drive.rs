//! Ψ̂, the expression that replaces the log likelihood while a chain runs. The annealed methods
//! differ only in it.

use std::sync::Arc;

use lehr_density::Point;
use lehr_graph::Expr;

use crate::guide::{Block, Context, RowInput};
use crate::surrogate::Surrogate;

/// The expression Ψ̂ that drives a chain.
#[derive(Clone)]
pub enum Drive {
    /// All rows at every step (DAIS).
    FullData,
    /// One mini-batch for the whole chain, independent of the rows that score it (NS-DAIS).
    Batch {
        /// Rows in the batch.
        size: usize,
    },
    /// A fresh mini-batch at every leapfrog step (NS′-DAIS).
    FreshBatch {
        /// Rows in each batch.
        size: usize,
    },
    /// A few fixed rows with learned weights, or another cheap approximation (SL-DAIS).
    Surrogate(Arc<dyn Surrogate>),
}

impl Drive {
    pub(crate) fn blocks(&self) -> Vec<Block> {
        match self {
            Drive::Surrogate(surrogate) => surrogate.blocks(),
            _ => Vec::new(),
        }
    }

    /// The rows of one step, if they come from the table; `None` for a surrogate.
    fn rows_of(&self, k: usize) -> Option<(String, RowInput)> {
        let batch = |purpose: String, size: usize| {
            let input = RowInput::Batch {
                size,
                purpose: purpose.clone(),
            };
            (purpose, input)
        };
        match self {
            Drive::FullData => Some(("chain".into(), RowInput::All)),
            Drive::Batch { size } => Some(batch("chain".into(), *size)),
            Drive::FreshBatch { size } => Some(batch(format!("chain {k}"), *size)),
            Drive::Surrogate(_) => None,
        }
    }

    /// True if every step reads different rows.
    fn is_fresh(&self) -> bool {
        matches!(self, Drive::FreshBatch { .. })
    }
}

/// A drive within one program.
pub(crate) struct DriveTerm<'a, 'g, 'd> {
    drive: &'a Drive,
    context: &'a Context<'g, 'd>,
    /// The rows of all steps, if they share them.
    shared: Option<lehr_density::Rows<'g>>,
}

impl<'a, 'g, 'd> DriveTerm<'a, 'g, 'd> {
    pub(crate) fn new(drive: &'a Drive, context: &'a Context<'g, 'd>) -> DriveTerm<'a, 'g, 'd> {
        let shared = match drive.rows_of(0) {
            Some((name, input)) if !drive.is_fresh() => Some(context.rows(&name, &input)),
            _ => None,
        };
        DriveTerm {
            drive,
            context,
            shared,
        }
    }

    /// Ψ̂(z) of step `k`.
    pub(crate) fn log_likelihood(&self, k: usize, at: &Point<'g>) -> Expr<'g> {
        if let Drive::Surrogate(surrogate) = self.drive {
            return surrogate.log_likelihood(self.context, at);
        }
        let density = self.context.density();
        let rows = self.shared.clone().unwrap_or_else(|| {
            let (name, input) = self.drive.rows_of(k).expect("a drive by rows");
            self.context.rows(&name, &input)
        });
        let share = density.n_rows() as f64 / rows.len() as f64;
        density.log_likelihood(at, &rows).sum() * share
    }
}
