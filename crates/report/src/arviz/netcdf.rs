//! Draws written through the HDF5 layer.

use std::collections::HashMap;
use std::path::Path;

use lehr_file::Draft;
use rust_hdf5::{H5Dataset, H5File, H5Group, Hdf5Error, Result, VarLenUnicode};

use super::{Dimension, InferenceData, Variable};
use crate::ReportError;

impl InferenceData {
    /// Writes a `NetCDF-4` file, which appears complete or not at all. Without the feature
    /// `netcdf` this is an error.
    pub fn write(&self, path: &Path) -> std::result::Result<(), ReportError> {
        let (names, axes) = self.named()?;
        let draft = Draft::create(path).map_err(ReportError::write(path))?;
        write(self, draft.path(), &names, &axes).map_err(|error| match error {
            Hdf5Error::Io(source) => ReportError::write(path)(source),
            other => ReportError::Netcdf {
                path: path.into(),
                reason: other.to_string(),
            },
        })?;
        draft.commit().map_err(ReportError::write(path))
    }
}

/// Writes the group `posterior` with one name per variable and all axes but chain and draw.
fn write(data: &InferenceData, path: &Path, names: &[String], axes: &[Dimension]) -> Result<()> {
    let file = H5File::create(path)?;
    file.set_track_order(true)?;
    let posterior = file.create_group("posterior")?;
    for (key, value) in &data.attributes {
        posterior.set_attr_string(key, value)?;
    }
    let mut scales = HashMap::new();
    scales.insert("chain", counted_axis(&posterior, "chain", data.chains)?);
    scales.insert("draw", counted_axis(&posterior, "draw", data.draws)?);
    for axis in axes {
        let labels: Vec<&str> = axis.labels.iter().map(String::as_str).collect();
        let scale = posterior.write_vlen_strings(&axis.name, &labels)?;
        scale.set_scale(Some(&axis.name))?;
        scales.insert(&axis.name, scale);
    }
    for (variable, name) in data.variables.iter().zip(names) {
        let own = variable.dimensions.iter().map(|axis| axis.labels.len());
        let shape: Vec<usize> = [data.chains, data.draws].into_iter().chain(own).collect();
        let dataset = posterior.new_dataset::<f64>().shape(&shape).create(name)?;
        fill(&dataset, variable, &scales)?;
        if *name != variable.name {
            note_long_name(&dataset, &variable.name)?;
        }
    }
    file.close()
}

fn fill(dataset: &H5Dataset, variable: &Variable, scales: &HashMap<&str, H5Dataset>) -> Result<()> {
    dataset.write_raw(&variable.values)?;
    let own = variable.dimensions.iter().map(|axis| axis.name.as_str());
    for (axis, name) in ["chain", "draw"].into_iter().chain(own).enumerate() {
        dataset.attach_scale(axis, &scales[name])?;
    }
    Ok(())
}

fn note_long_name(dataset: &H5Dataset, name: &str) -> Result<()> {
    let attribute = dataset.new_attr::<VarLenUnicode>().shape(());
    attribute.create("long_name")?.write_string(name)
}

/// An axis whose labels are 0, 1, 2, …
fn counted_axis(group: &H5Group, name: &str, size: usize) -> Result<H5Dataset> {
    let labels: Vec<i64> = (0..size as i64).collect();
    let scale = group.new_dataset::<i64>().shape([size]).create(name)?;
    scale.write_raw(&labels)?;
    scale.set_scale(Some(name))?;
    Ok(scale)
}
