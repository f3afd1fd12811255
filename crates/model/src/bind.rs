//! Records a model for a schema and binds it to a table. Every mistake is found here.

use std::sync::Arc;

use lehr_density::{Columns, Layout, RowSource};
use lehr_graph::{Expr, Graph, RecordedProgram, ShapeError};
use lehr_table::Table;

use crate::bound::Bound;
use crate::data::{Demands, read_columns};
use crate::error::{BindError, Problem};
use crate::model::Model;
use crate::parts::ProgramParts;
use crate::program::{Program, ROW_TERM};
use crate::record::Record;
use crate::schema::Schema;
use crate::tracer::Tracer;

/// The result of running a model once: the columns it reads, and its program or its mistakes.
struct ModelTrace {
    columns: Columns,
    demands: Demands,
    program: Result<Program, Vec<Problem>>,
}

impl Model {
    /// The model as a program for tables of this schema. The function behind the model runs once.
    /// Refuses with all the mistakes in the model and its shapes.
    pub fn record(&self, schema: &Schema) -> Result<Program, BindError> {
        let program = self.trace(schema).program;
        program.map_err(|problems| BindError { problems })
    }

    /// The model on the rows of a table. Refuses with all the mistakes in the model, its shapes and
    /// the values of the columns it reads.
    pub fn bind(&self, table: &Table) -> Result<Bound, BindError> {
        let schema = Schema::of_table(table);
        let trace = self.trace(&schema);
        let mut problems = match trace.program {
            Ok(program) => return program.bind(table),
            Err(problems) => problems,
        };
        if table.n_rows() == 0 {
            problems.push(Problem::NoRows);
        }
        let data = read_columns(table, &trace.columns, &schema, &trace.demands);
        problems.extend(data.err().into_iter().flatten());
        Err(BindError { problems })
    }

    fn trace(&self, schema: &Schema) -> ModelTrace {
        let graph = Graph::collecting_errors();
        let tracer = Tracer::new(&graph, schema);
        self.run_program(&tracer);
        let mut record = tracer.record.into_inner();
        let mut problems = std::mem::take(&mut record.problems);
        problems.extend(program_problems(&record, &graph.errors()));
        let columns = Columns(std::mem::take(&mut record.columns));
        let demands = Demands::from_record(&record, &columns, &graph);
        let program = if problems.is_empty() {
            Ok(record_program(record, &columns, schema, &demands))
        } else {
            Err(problems)
        };
        ModelTrace {
            columns,
            demands,
            program,
        }
    }
}

impl Program {
    /// The program on the rows of a table, whose levels keep the numbers of the recording. Refuses
    /// with all the mistakes in the columns and their values.
    pub fn bind(&self, table: &Table) -> Result<Bound, BindError> {
        let mut problems = Vec::new();
        if table.n_rows() == 0 {
            problems.push(Problem::NoRows);
        }
        let parts = &self.parts;
        match read_columns(table, &parts.columns, &parts.schema, &parts.demands) {
            Ok(data) if problems.is_empty() => Ok(self.bind_source(Arc::new(data))),
            data => {
                problems.extend(data.err().into_iter().flatten());
                Err(BindError { problems })
            }
        }
    }

    /// The program on the rows of a source. The caller guarantees that the source has the columns
    /// of [`Program::columns`] in their order, and that binding a table with these values would
    /// succeed.
    pub fn bind_source(&self, source: Arc<dyn RowSource>) -> Bound {
        Bound::new(self.clone(), source)
    }
}

/// The program of a record without problems.
fn record_program(
    mut record: Record<'_>,
    columns: &Columns,
    schema: &Schema,
    demands: &Demands,
) -> Program {
    let layout = |sites| Layout::new(sites).expect("each site was checked");
    let terms = record.row_terms();
    let sum = record.row_likelihood().expect("a column is observed");
    for (place, value) in terms.into_iter().enumerate() {
        record.add_output(&format!("{ROW_TERM}{place}"), value);
    }
    let likelihood = record.add_output("log likelihood", sum);
    let outputs: Vec<(&str, Expr<'_>)> = (record.outputs.iter())
        .map(|(name, value)| (name.as_str(), *value))
        .collect();
    Program {
        parts: Arc::new(ProgramParts {
            recording: RecordedProgram::from_outputs(sum.graph(), &outputs),
            latents: layout(record.latents),
            params: layout(record.params),
            locals: layout(record.locals),
            schema: schema.only_columns(columns.iter().map(|column| column.name.as_str())),
            columns: columns.clone(),
            demands: demands.clone(),
            statements: record.statements,
            inputs: record.inputs,
            likelihood,
        }),
    }
}

/// The mistakes in the program itself, those in shapes last.
fn program_problems(record: &Record<'_>, shapes: &[ShapeError]) -> Vec<Problem> {
    let mut problems = Vec::new();
    if !record.has_observations() {
        problems.push(Problem::NothingObserved);
    }
    if record.is_weighted_in_part() {
        problems.push(Problem::PartWeight);
    }
    // After a stand-in of unknown width, shapes that do not fit need not be a mistake.
    if !record.guessed {
        problems.extend(first_shapes(shapes));
    }
    problems
}

/// The original shape errors, without those that an earlier error caused: an impossible result is
/// replaced by a single number, and errors with that number are left out.
fn first_shapes(errors: &[ShapeError]) -> Vec<Problem> {
    let mut found: Vec<Problem> = Vec::new();
    for (place, error) in errors.iter().enumerate() {
        let message = &error.message;
        let echo = place > 0 && (message.contains("[]") || message.contains("found a scalar"));
        let problem = Problem::Shape {
            error: error.clone(),
        };
        if !echo && !found.contains(&problem) {
            found.push(problem);
        }
    }
    found
}
