//! The recorder's side of the exchange: every request is a call on the tracer.

use lehr::density::Support;
use lehr::graph::Expr;
use lehr::model::distribution::{AnyDistribution, Distribution};
use lehr::model::{Problem, Row, Tracer};
use lehr::table::{Column, Table};

use super::RecordingChannel;
use super::ask::{Answer, Ask, DistributionCall, Handle};
use super::operation::apply_operation;

/// A tracer and the values that it has returned.
pub(super) struct RecordingServer<'t, 'g> {
    tracer: &'t Tracer<'g>,
    table: &'t Table,
    values: Vec<Expr<'g>>,
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
    pub(super) fn serve_line(&mut self, line: &RecordingChannel) {
        while let Ok(ask) = line.asks.recv() {
            if matches!(ask, Ask::EnterRows) {
                let tracer = self.tracer;
                let _ = line.answers.send(Answer::Done);
                tracer.rows(|row| self.serve_rows(row, line));
                let _ = line.answers.send(Answer::Done);
            } else {
                let _ = line.answers.send(self.answer_ask(ask, None));
            }
        }
    }

    /// Answers requests until the rows have ended, which the caller confirms.
    fn serve_rows(&mut self, row: &Row<'_, 'g>, line: &RecordingChannel) {
        while let Ok(ask) = line.asks.recv() {
            match ask {
                Ask::LeaveRows => return,
                Ask::EnterRows => {
                    let message = "rows: expected one `with lehr.rows(data)` at a time, found one inside another";
                    let _ = line.answers.send(Answer::Refused(message.into()));
                }
                ask => {
                    let _ = line.answers.send(self.answer_ask(ask, Some(row)));
                }
            }
        }
    }

    /// The answer, or the first mistake that the request caused.
    fn answer_ask(&mut self, ask: Ask, row: Option<&Row<'_, 'g>>) -> Answer {
        let before = self.tracer.problems();
        let answer = match self.reply_to(ask, row) {
            Ok(answer) => answer,
            Err(message) => return Answer::Refused(message),
        };
        let after = self.tracer.problems().into_iter();
        let mut new = after.filter(|problem| !before.contains(problem));
        match new.next() {
            Some(problem) => Answer::Refused(problem_words(&problem)),
            None => answer,
        }
    }

    fn reply_to(&mut self, ask: Ask, row: Option<&Row<'_, 'g>>) -> Result<Answer, String> {
        let (tracer, graph) = (self.tracer, self.tracer.graph());
        let within = |what: &str| {
            row.ok_or_else(|| {
                format!("{what}: expected inside `with lehr.rows(data) as row`, found outside")
            })
        };
        let value = match ask {
            Ask::Apply {
                operation,
                operands,
                numbers,
            } => {
                let operands: Vec<Expr<'g>> = (operands.iter())
                    .map(|one| one.on_graph(graph, &self.values))
                    .collect();
                apply_operation(graph, &operation, &operands, &numbers)?
            }
            Ask::At { array, column } => {
                let array = array.on_graph(graph, &self.values);
                array.at(within(&column)?.index(&column))
            }
            Ask::Column { column, role } => self.read_column(within(&column)?, &column, &role),
            Ask::Weight { column } => {
                within(&column)?.weight(&column);
                return Ok(Answer::Done);
            }
            Ask::Levels { column } => return Ok(Answer::Count(tracer.levels(&column))),
            Ask::LogDensity { law, x } => self
                .make_law(&law)?
                .log_density(x.on_graph(graph, &self.values)),
            Ask::Sample { name, law } => tracer.sample(&name, self.make_law(&law)?),
            Ask::Local { name, law } => within(&name)?.local(&name, self.make_law(&law)?),
            Ask::Param {
                name,
                start,
                support,
            } => {
                let start = start.parameter_value(graph, &self.values);
                tracer.param(&name, start, parse_support(&support.0, &support.1)?)
            }
            Ask::Deterministic { name, value } => {
                tracer.deterministic(&name, value.on_graph(graph, &self.values))
            }
            Ask::Factor { name, value } => {
                tracer.factor(&name, value.on_graph(graph, &self.values));
                return Ok(Answer::Done);
            }
            Ask::Observe { column, law } => {
                let law = self.make_law(&law)?;
                within(&column)?.observe(&column, law);
                return Ok(Answer::Done);
            }
            Ask::EnterRows | Ask::LeaveRows => return Ok(Answer::Done),
        };
        Ok(self.handed_out(value))
    }

    fn handed_out(&mut self, value: Expr<'g>) -> Answer {
        self.values.push(value);
        Answer::Value(Handle::new(self.values.len() - 1, value))
    }

    fn make_law(&self, law: &DistributionCall) -> Result<AnyDistribution<'g>, String> {
        law.make_distribution(self.tracer.graph(), &self.values)
    }

    fn read_column(&self, row: &Row<'_, 'g>, column: &str, role: &str) -> Expr<'g> {
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

/// A support by its name and numbers.
fn parse_support(name: &str, numbers: &[f64]) -> Result<Support, String> {
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
