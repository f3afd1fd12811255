//! Checks a program read from bytes, which may be damaged or hostile.

use lehr_density::{Column, ColumnKind, Site};
use lehr_graph::{ROWS, Shape};

use crate::parts::ProgramParts;
use crate::statement::{InputRole, RecordedDistribution, Statement};

/// The fault in the parts of a program, if there is one.
pub(crate) fn find_fault(parts: &ProgramParts) -> Option<String> {
    if parts.inputs.len() != parts.recording.n_inputs() {
        return Some("its inputs are not those of its recording".into());
    }
    let input = (0..parts.inputs.len()).find(|&place| !is_input(parts, place));
    if let Some(place) = input {
        let (name, _) = parts.recording.input(place);
        return Some(format!("its input {name:?} is not sound"));
    }
    let unknown = (parts.columns.iter()).find(|column| parts.schema.column(&column.name).is_none());
    if let Some(column) = unknown {
        return Some(format!("its column {:?} is not in its schema", column.name));
    }
    let mut statements = parts.statements.iter();
    if let Some(place) = statements.position(|statement| !is_statement(parts, statement)) {
        return Some(format!("its statement {place} is not sound"));
    }
    (output_shape(parts, parts.likelihood) != Some([ROWS].into()))
        .then(|| "it has no log likelihood of each row".into())
}

fn output_shape(parts: &ProgramParts, output: usize) -> Option<Shape> {
    (output < parts.recording.n_outputs()).then(|| parts.recording.output(output).1)
}

fn is_input(parts: &ProgramParts, place: usize) -> bool {
    let (_, found) = parts.recording.input(place);
    let in_rows = |dims: &[usize]| Shape::new(&[&[ROWS], dims].concat());
    let of = |sites: &[Site], site: usize| sites.get(site).map(Site::shape);
    let expected = match parts.inputs[place] {
        InputRole::Latent(site) => of(parts.latents.sites(), site),
        InputRole::Param(site) => of(parts.params.sites(), site),
        InputRole::Local(site) => (parts.locals.sites().get(site))
            .filter(|site| site.dims.len() < lehr_graph::MAX_RANK)
            .map(|site| in_rows(&site.dims)),
        InputRole::Column(column) => parts.columns.0.get(column).map(|column| match column.kind {
            ColumnKind::Number { width: Some(width) } => in_rows(&[width]),
            _ => in_rows(&[]),
        }),
    };
    let is_index = |column: &Column| matches!(column.kind, ColumnKind::Index { .. });
    let is_index = match parts.inputs[place] {
        InputRole::Column(column) => parts.columns.0.get(column).is_some_and(is_index),
        _ => false,
    };
    expected == Some(found) && is_index == parts.recording.is_index(place)
}

fn is_statement(parts: &ProgramParts, statement: &Statement) -> bool {
    let is_number =
        |output: usize| output_shape(parts, output).is_some_and(|shape| shape.is_scalar());
    let in_rows = |output: usize| {
        output_shape(parts, output).is_some_and(|shape| shape.dims().first() == Some(&ROWS))
    };
    let all_in_rows = |law: &RecordedDistribution| law.parameters.iter().all(|p| in_rows(p.output));
    let fits = |sites: &[Site], site: usize, law: &RecordedDistribution| {
        let site = sites.get(site);
        site.is_some_and(|site| is_drawn(parts, law, law.batch, site.shape().size()))
    };
    match statement {
        Statement::Sample { site, law, term } => {
            fits(parts.latents.sites(), *site, law) && is_number(*term)
        }
        Statement::Param { site } => *site < parts.params.sites().len(),
        Statement::Local { site, law, term } => {
            let is_term = output_shape(parts, *term) == Some([ROWS].into());
            is_term && all_in_rows(law) && fits(parts.locals.sites(), *site, law)
        }
        Statement::Deterministic { output } => {
            output_shape(parts, *output).is_some_and(|shape| !shape.is_symbolic())
        }
        Statement::Factor { output } => is_number(*output),
        Statement::Weight { .. } => true,
        Statement::RowQuantity { output } => in_rows(*output),
        Statement::Observe(observed) => {
            let event = observed.kind.width();
            let whole = event > 0 && observed.width > 0 && observed.width % event == 0;
            let size = observed.width.saturating_mul(ROWS);
            whole
                && observed.mean.is_none_or(in_rows)
                && observed.variance.is_none_or(in_rows)
                && all_in_rows(&observed.law)
                && is_drawn(parts, &observed.law, size / event.max(1), size)
        }
    }
}

/// Whether the numbers of every parameter, and of the value, divide evenly among the draws.
fn is_drawn(parts: &ProgramParts, law: &RecordedDistribution, batch: usize, size: usize) -> bool {
    let shares = |size: usize| size.checked_rem(batch) == Some(0) && size > 0;
    let parameter =
        |output: usize| output_shape(parts, output).is_some_and(|shape| shares(shape.size()));
    let empty = batch == 0 && size == 0;
    let parameters = (law.parameters.iter()).all(|p| parameter(p.output));
    !law.parameters.is_empty() && (empty || (shares(size) && parameters))
}
