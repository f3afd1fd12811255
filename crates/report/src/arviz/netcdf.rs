//! Draws written through the HDF5 layer.

use std::collections::HashMap;
use std::path::Path;

use lehr_file::Draft;
use rust_hdf5::{H5Dataset, H5File, H5Group, Hdf5Error, Result, VarLenUnicode};

use super::{InferenceData, Part};
use crate::ReportError;

impl InferenceData {
    /// Writes a `NetCDF-4` file, which appears complete or not at all. Without the feature `netcdf`
    /// the call returns an error.
    pub fn write(&self, path: &Path) -> std::result::Result<(), ReportError> {
        let parts = self.data_parts()?;
        let draft = Draft::create_draft(path).map_err(ReportError::write_error(path))?;
        write(self, draft.path(), &parts).map_err(|error| match error {
            Hdf5Error::Io(source) => ReportError::write_error(path)(source),
            other => ReportError::Netcdf {
                path: path.into(),
                reason: other.to_string(),
            },
        })?;
        draft.commit_file().map_err(ReportError::write_error(path))
    }
}

fn write(data: &InferenceData, path: &Path, parts: &[Part<'_>]) -> Result<()> {
    // The draft holds the lock of its file.
    let file = H5File::options().no_locking().create(path)?;
    file.set_track_order(true)?;
    for part in parts {
        let group = file.create_group(part.name)?;
        for (key, value) in &data.attributes {
            group.set_attr_string(key, value)?;
        }
        write_part(part, &group)?;
    }
    file.close()
}

/// Writes the axes of a group and its variables.
fn write_part(part: &Part<'_>, group: &H5Group) -> Result<()> {
    let mut scales = HashMap::new();
    for (name, size) in &part.lead {
        scales.insert(*name, counted_axis(group, name, *size)?);
    }
    for axis in &part.axes {
        let labels: Vec<&str> = axis.labels.iter().map(String::as_str).collect();
        let scale = group.write_vlen_strings(&axis.name, &labels)?;
        scale.set_scale(Some(&axis.name))?;
        scales.insert(&axis.name, scale);
    }
    for (variable, name) in part.variables.iter().zip(&part.names) {
        let own = variable.dimensions.iter();
        let own = own.map(|axis| (axis.name.as_str(), axis.labels.len()));
        let axes: Vec<(&str, usize)> = part.lead.iter().copied().chain(own).collect();
        let shape: Vec<usize> = axes.iter().map(|axis| axis.1).collect();
        let dataset = group.new_dataset::<f64>().shape(&shape).create(name)?;
        dataset.write_raw(&variable.values)?;
        for (place, (axis, _)) in axes.iter().enumerate() {
            dataset.attach_scale(place, &scales[axis])?;
        }
        if *name != variable.name {
            write_attribute(&dataset, "long_name", &variable.name)?;
        }
        for (key, value) in &variable.attributes {
            write_attribute(&dataset, key, value)?;
        }
    }
    Ok(())
}

fn write_attribute(dataset: &H5Dataset, key: &str, value: &str) -> Result<()> {
    let attribute = dataset.new_attr::<VarLenUnicode>().shape(());
    attribute.create(key)?.write_string(value)
}

/// An axis whose labels are 0, 1, 2, …
fn counted_axis(group: &H5Group, name: &str, size: usize) -> Result<H5Dataset> {
    let labels: Vec<i64> = (0..size as i64).collect();
    let scale = group.new_dataset::<i64>().shape([size]).create(name)?;
    scale.write_raw(&labels)?;
    scale.set_scale(Some(name))?;
    Ok(scale)
}
