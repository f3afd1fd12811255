//! The recorder's side of the exchange: every request is a call on the tracer.

use std::sync::mpsc::{Receiver, Sender};

use lehr::density::Support;
use lehr::graph::Expr;
use lehr::model::distribution::AnyDistribution;
use lehr::model::{Problem, Row, Tracer};
use lehr::table::{Column, Table};

use super::ask::{DistributionCall, Handle, ModelOperand};

/// One request of a model function, with the way back for its answer.
pub(super) enum Ask {
    /// A call on the tracer, with the row when the function is among the statements about rows.
    Call(Call),
    /// The start of the statements about rows.
    EnterRows(Confirmation),
    /// The end of the statements about rows.
    LeaveRows(Confirmation),
}

type Call = Box<dyn for<'t, 'g> FnOnce(&mut RecordingServer<'t, 'g>, Option<&Row<'_, 'g>>) + Send>;

type Confirmation = Sender<Result<(), String>>;

/// A tracer and the values that it has returned.
pub(super) struct RecordingServer<'t, 'g> {
    pub(super) tracer: &'t Tracer<'g>,
    table: &'t Table,
    pub(super) values: Vec<Expr<'g>>,
}

impl<'t, 'g> RecordingServer<'t, 'g> {
    pub(super) fn new(tracer: &'t Tracer<'g>, table: &'t Table) -> RecordingServer<'t, 'g> {
        RecordingServer {
            tracer,
            table,
            values: Vec::new(),
        }
    }

    /// Answers requests until the function has ended.
    pub(super) fn serve_asks(&mut self, asks: &Receiver<Ask>) {
        while let Ok(ask) = asks.recv() {
            let left = match ask {
                Ask::Call(call) => {
                    call(self, None);
                    continue;
                }
                Ask::EnterRows(entered) => {
                    let _ = entered.send(Ok(()));
                    let (tracer, mut left) = (self.tracer, None);
                    tracer.rows(|row| left = self.serve_rows(row, asks));
                    left
                }
                Ask::LeaveRows(left) => Some(left),
            };
            if let Some(left) = left {
                let _ = left.send(Ok(()));
            }
        }
    }

    /// Answers requests until the rows have ended, which the caller confirms.
    fn serve_rows(&mut self, row: &Row<'_, 'g>, asks: &Receiver<Ask>) -> Option<Confirmation> {
        loop {
            match asks.recv().ok()? {
                Ask::Call(call) => call(self, Some(row)),
                Ask::LeaveRows(left) => return Some(left),
                Ask::EnterRows(entered) => {
                    let message = "rows: expected one `with lehr.rows(data)` at a time, found one inside another";
                    let _ = entered.send(Err(message.into()));
                }
            }
        }
    }

    /// What a call returns, or the first mistake that it caused.
    pub(super) fn check_call<T>(
        &mut self,
        call: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        let before = self.tracer.problems();
        let answer = call(self)?;
        let after = self.tracer.problems().into_iter();
        let mut new = after.filter(|problem| !before.contains(problem));
        match new.next() {
            Some(problem) => Err(problem_words(&problem)),
            None => Ok(answer),
        }
    }

    pub(super) fn hand_out(&mut self, value: Expr<'g>) -> Handle {
        self.values.push(value);
        Handle::new(self.values.len() - 1, value)
    }

    pub(super) fn value_of(&self, operand: &ModelOperand) -> Expr<'g> {
        operand.on_graph(self.tracer.graph(), &self.values)
    }

    pub(super) fn make_law(&self, law: &DistributionCall) -> Result<AnyDistribution<'g>, String> {
        law.make_distribution(self.tracer.graph(), &self.values)
    }

    pub(super) fn read_column(&self, row: &Row<'_, 'g>, column: &str, role: &str) -> Expr<'g> {
        let is_wide = matches!(self.table.column(column), Ok(Column::Matrix { .. }));
        match role {
            "offset" => row.offset(column),
            "matrix" => row.matrix(column),
            "number" => row.number(column),
            _ if is_wide => row.matrix(column),
            _ => row.number(column),
        }
    }
}

/// The row that a request is about.
pub(super) fn inside_rows<'a, 'r, 'g>(
    row: Option<&'a Row<'r, 'g>>,
    what: &str,
) -> Result<&'a Row<'r, 'g>, String> {
    row.ok_or_else(|| {
        format!("{what}: expected inside `with lehr.rows(data) as row`, found outside")
    })
}

/// A support by its name and numbers.
pub(super) fn parse_support(name: &str, numbers: &[f64]) -> Result<Support, String> {
    Ok(match (name, numbers) {
        ("real", []) => Support::Real,
        ("positive", []) => Support::Positive,
        ("unit_interval", []) => Support::UnitInterval,
        ("lower", [bound]) => Support::Lower(*bound),
        ("upper", [bound]) => Support::Upper(*bound),
        ("interval", [low, high]) => Support::Interval(*low, *high),
        ("simplex", [count]) => Support::Simplex(*count as usize),
        ("ordered", [count]) => Support::Ordered(*count as usize),
        ("cholesky_correlation", [count]) => Support::CholeskyCorrelation(*count as usize),
        ("cholesky_covariance", [count]) => Support::CholeskyCovariance(*count as usize),
        _ => {
            return Err(format!(
                "support: no support {name:?} of {} numbers",
                numbers.len()
            ));
        }
    })
}

/// A mistake in Python's terms: Python knows the line, and calls are spelt differently.
fn problem_words(problem: &Problem) -> String {
    let text = match problem {
        Problem::Shape { error } => {
            format!("{}\n  hint: look at the shapes in that line", error.message)
        }
        other => other.to_string(),
    };
    let spellings = [
        (
            "row.observe(column, distribution) inside m.rows",
            "lehr.observe inside lehr.rows",
        ),
        ("m.rows", "lehr.rows"),
        ("row.observe", "lehr.observe"),
        ("row.local", "lehr.local"),
        ("m.levels", "data.levels"),
    ];
    let spelt = |text: String, (rust, python): &(&str, &str)| text.replace(rust, python);
    spellings.iter().fold(text, spelt)
}
