//! Binding a model to a table: every mistake is found here.

use std::sync::Arc;

use lehr_density::{Columns, Layout, Rows};
use lehr_graph::{Graph, ShapeError};
use lehr_table::Table;

use crate::bound::{Bound, Parts};
use crate::data::{Demands, read};
use crate::error::{BindError, Problem};
use crate::model::Model;
use crate::observe::rows_named;
use crate::record::Record;
use crate::schema::Schema;
use crate::supply::Supply;
use crate::tracer::{ROWS, Tracer};

impl Model {
    /// The model on the rows of a table. Refuses with all the mistakes that the model, its
    /// shapes and the values of the columns it reads contain.
    pub fn bind(&self, table: &Table) -> Result<Bound, BindError> {
        let schema = Arc::new(Schema::of(table));
        let graph = Graph::collecting();
        let tracer = Tracer::new(
            &graph,
            Arc::clone(&schema),
            Supply::Discover,
            Some(Rows::new(ROWS)),
        );
        self.run(&tracer);
        let rows = tracer.rows.into_inner().expect("put there above");
        let mut record = tracer.record.into_inner();
        let mut problems = std::mem::take(&mut record.problems);
        problems.extend(program_problems(table, &record, &graph.errors()));
        let columns = Columns(std::mem::take(&mut record.columns));
        let demands = Demands::of(&record, &columns, &rows, &graph);
        let data = read(table, &columns, &schema, &demands);
        match data {
            Ok(data) if problems.is_empty() => {
                let layout = |sites| Layout::new(sites).expect("each site was checked");
                Ok(Bound::new(Parts {
                    model: self.clone(),
                    latents: layout(record.latents),
                    params: layout(record.params),
                    locals: layout(record.locals),
                    description: record.lines.join("\n"),
                    columns,
                    data: Arc::new(data),
                    demands,
                    schema,
                }))
            }
            data => {
                problems.extend(data.err().into_iter().flatten());
                Err(BindError { problems })
            }
        }
    }
}

/// What is wrong with the program itself, shapes last.
fn program_problems(table: &Table, record: &Record<'_>, shapes: &[ShapeError]) -> Vec<Problem> {
    let mut problems = Vec::new();
    if table.n_rows() == 0 {
        problems.push(Problem::NoRows);
    }
    if record.observed.is_empty() {
        problems.push(Problem::NothingObserved);
    }
    // After a stand-in of unknown width, what does not fit need not be a mistake.
    if !record.guessed {
        problems.extend(first_shapes(shapes));
    }
    problems
}

/// The shape errors that are not mere echoes of one before: those that do not already meet
/// the single number that stands in for an impossible result.
fn first_shapes(errors: &[ShapeError]) -> Vec<Problem> {
    let mut found: Vec<Problem> = Vec::new();
    for (place, error) in errors.iter().enumerate() {
        let message = rows_named(&error.message);
        let echo = place > 0 && (message.contains("[]") || message.contains("found a scalar"));
        let problem = Problem::Shape {
            message,
            error: error.clone(),
        };
        if !echo && !found.contains(&problem) {
            found.push(problem);
        }
    }
    found
}
