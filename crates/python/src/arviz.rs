//! The groups of ArviZ as arrays with named axes.

use lehr::report::{InferenceData, Lead, Variable};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

/// A name and its axes, each with its labels or its length.
type Axes = Vec<(String, AxisLabels)>;

/// The labels of an axis, or only how many places it has.
#[derive(IntoPyObject)]
pub(crate) enum AxisLabels {
    Names(Vec<String>),
    Count(usize),
}

/// A variable: name, axes, numbers in row-major order, attributes.
type Values<'py> = (
    String,
    Axes,
    Bound<'py, PyArray1<f64>>,
    Vec<(String, String)>,
);

/// A group: name and variables.
pub(crate) type Group<'py> = (String, Vec<Values<'py>>);

/// All groups, the posterior first.
pub(crate) fn data_groups(data: InferenceData, py: Python<'_>) -> Vec<Group<'_>> {
    let lead = |lead: Lead| -> Vec<(&'static str, usize)> {
        let (chain, draw) = (("chain", data.chains), ("draw", data.draws));
        match lead {
            Lead::Draws => vec![chain, draw],
            Lead::DrawsOfRows(rows) => vec![chain, draw, ("row", rows)],
            Lead::Rows(rows) => vec![("row", rows)],
        }
    };
    let all = |variables: Vec<Variable>, axes: &[(&str, usize)]| -> Vec<Values<'_>> {
        let one = |variable| variable_values(variable, axes, py);
        variables.into_iter().map(one).collect()
    };
    let mut groups = vec![(
        "posterior".to_owned(),
        all(data.variables, &lead(Lead::Draws)),
    )];
    for group in data.groups {
        groups.push((group.name, all(group.variables, &lead(group.lead))));
    }
    groups
}

fn variable_values<'py>(
    variable: Variable,
    lead: &[(&str, usize)],
    py: Python<'py>,
) -> Values<'py> {
    let lead = lead
        .iter()
        .map(|(name, length)| ((*name).to_owned(), AxisLabels::Count(*length)));
    let own = variable.dimensions.into_iter();
    let own = own.map(|axis| (axis.name, AxisLabels::Names(axis.labels)));
    (
        variable.name,
        lead.chain(own).collect(),
        variable.values.into_pyarray(py),
        variable.attributes,
    )
}
