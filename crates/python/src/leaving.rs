//! Leave-one-out by parts: the results of each part, and their combination.

use lehr::regression::cluster;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::after::{LeftRows, LooSampleSettings, NamedFit, compare_fits, describe_loo, split_fits};
use crate::error::refusal_error;
use crate::part::{PartOf, part_rows};
use crate::request::ReadingOptions;

/// The statistics of all rows of a part that are cheap to compute.
#[pyfunction]
pub(crate) fn glance_part<'py>(
    fits: Vec<NamedFit<'py>>,
    part: PartOf,
    reading: ReadingOptions,
    py: Python<'py>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (_, saved) = split_fits(&fits);
    let rows = part_rows(part, &reading)?;
    let glance = py
        .detach(|| rows.cheap_estimates(&saved))
        .map_err(refusal_error)?;
    Ok(PyBytes::new(py, &glance))
}

/// The rows of each part to leave out.
#[pyfunction]
pub(crate) fn parts_to_leave_out(
    glances: Vec<PyBackedBytes>,
    sampling: LooSampleSettings,
) -> PyResult<Vec<Vec<u64>>> {
    cluster::to_leave_out(&message_bytes(&glances), sampling.rows()).map_err(refusal_error)
}

/// Leaves these rows of a part out of fits.
#[pyfunction]
pub(crate) fn leave_out_part<'py>(
    fits: Vec<NamedFit<'py>>,
    part: PartOf,
    chosen: Vec<u64>,
    reading: ReadingOptions,
    py: Python<'py>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (_, saved) = split_fits(&fits);
    let rows = part_rows(part, &reading)?;
    let left = py.detach(|| rows.leave_out(&saved, &chosen));
    Ok(PyBytes::new(py, &left.map_err(refusal_error)?))
}

/// The combined results of all parts for one fit: the summary as JSON, and the results of each row.
#[pyfunction]
pub(crate) fn loo_parts(
    fits: Vec<NamedFit<'_>>,
    glances: Vec<PyBackedBytes>,
    left: Vec<PyBackedBytes>,
) -> PyResult<(String, LeftRows)> {
    let (_, saved) = split_fits(&fits);
    let all = cluster::left_out(&saved, &message_bytes(&glances), &message_bytes(&left))
        .map_err(refusal_error)?;
    describe_loo(&all[0])
}

/// The combined results of all parts for several fits, as JSON.
#[pyfunction]
pub(crate) fn compare_parts(
    fits: Vec<NamedFit<'_>>,
    glances: Vec<PyBackedBytes>,
    left: Vec<PyBackedBytes>,
) -> PyResult<String> {
    let (names, saved) = split_fits(&fits);
    let all = cluster::left_out(&saved, &message_bytes(&glances), &message_bytes(&left))
        .map_err(refusal_error)?;
    compare_fits(names, &saved, all)
}

fn message_bytes(messages: &[PyBackedBytes]) -> Vec<Vec<u8>> {
    messages.iter().map(|message| message.to_vec()).collect()
}
