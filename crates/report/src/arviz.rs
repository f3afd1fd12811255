//! Draws as `NetCDF-4`, which `ArviZ` opens as `InferenceData`.

use std::collections::HashMap;
use std::path::Path;

use lehr_file::Draft;
use rust_hdf5::{H5Dataset, H5File, H5Group, VarLenUnicode};

use crate::{Draws, ReportError};

/// A named axis with a label for each place on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// The axis's name.
    pub name: String,
    /// One label per place.
    pub labels: Vec<String>,
}

/// One random variable: an array over chains, draws and its own axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its own axes, after chain and draw.
    pub dimensions: Vec<Dimension>,
    /// Row-major values: chain, draw, then its own axes.
    pub values: Vec<f64>,
}

/// The group `posterior` of an `InferenceData`, as `ArviZ` calls it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InferenceData {
    /// Chains. Independent draws are one chain.
    pub chains: usize,
    /// Draws per chain.
    pub draws: usize,
    /// What was drawn.
    pub variables: Vec<Variable>,
    /// Attributes of the group, such as `created_at`.
    pub attributes: Vec<(String, String)>,
}

impl InferenceData {
    /// Independent draws as one chain. Columns `site[a]`, `site[b]` become one variable `site`
    /// over an axis `site_level` with labels `a`, `b`; all others are numbers. Characters that
    /// HDF5 forbids in names are replaced; the name as it was is kept as `long_name`.
    pub fn from_draws(draws: &Draws) -> Result<Self, ReportError> {
        let mut groups: Vec<(&str, Columns)> = Vec::new();
        let mut places = HashMap::new();
        for (column, name) in draws.names.iter().enumerate() {
            let (base, level) = indexed(name);
            let place = *places
                .entry((base, level.is_some()))
                .or_insert(groups.len());
            if place == groups.len() {
                groups.push((base, Vec::new()));
            } else if level.is_none() {
                return Err(ReportError::DuplicateName { name: name.clone() });
            }
            groups[place].1.push((column, level));
        }
        let variables = groups
            .into_iter()
            .map(|(base, columns)| gathered(draws, base, &columns));
        Ok(Self {
            chains: 1,
            draws: draws.n_draws(),
            variables: variables.collect(),
            attributes: Vec::new(),
        })
    }

    /// The draws dealt to so many chains, which independent draws allow: some diagnostics ask
    /// for several. What does not fill all chains is dropped.
    pub fn in_chains(mut self, chains: usize) -> Self {
        let all = self.chains * self.draws;
        let chains = chains.clamp(1, all.max(1));
        let draws = all / chains;
        for variable in &mut self.variables {
            let width = variable.values.len() / all.max(1);
            variable.values.truncate(chains * draws * width);
        }
        Self {
            chains,
            draws,
            ..self
        }
    }

    /// Adds an attribute to the group.
    pub fn with_attribute(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.attributes.push((key.into(), value.into()));
        self
    }

    /// Writes a `NetCDF-4` file, which appears complete or not at all.
    pub fn write(&self, path: &Path) -> Result<(), ReportError> {
        let (variables, axes) = self.named()?;
        let draft = Draft::create(path).map_err(ReportError::write(path))?;
        let written = self.write_hdf5(draft.path(), &variables, &axes);
        written.map_err(ReportError::netcdf(path))?;
        draft.commit().map_err(ReportError::write(path))
    }

    /// The names that the file will use, each checked to be one thing's alone.
    fn named(&self) -> Result<(Vec<String>, Vec<Dimension>), ReportError> {
        let mut taken: HashMap<String, Option<&[String]>> = HashMap::new();
        taken.insert("chain".into(), None);
        taken.insert("draw".into(), None);
        let mut variables = Vec::with_capacity(self.variables.len());
        for variable in &self.variables {
            self.check_shape(variable)?;
            let mut name = allowed(&variable.name);
            while taken.contains_key(&name) {
                if name == variable.name && name != "chain" && name != "draw" {
                    return Err(ReportError::DuplicateName { name });
                }
                name.push('_');
            }
            taken.insert(name.clone(), None);
            variables.push(name);
        }
        let mut axes = Vec::new();
        for axis in self
            .variables
            .iter()
            .flat_map(|variable| &variable.dimensions)
        {
            match taken.get(&axis.name) {
                Some(Some(labels)) if **labels == axis.labels => {}
                None if allowed(&axis.name) == axis.name => {
                    taken.insert(axis.name.clone(), Some(&axis.labels));
                    axes.push(axis.clone());
                }
                _ => {
                    let name = axis.name.clone();
                    return Err(ReportError::DuplicateName { name });
                }
            }
        }
        Ok((variables, axes))
    }

    fn check_shape(&self, variable: &Variable) -> Result<(), ReportError> {
        let own = variable.dimensions.iter().map(|axis| axis.labels.len());
        let expected = self.chains * self.draws * own.product::<usize>();
        if variable.values.len() == expected {
            return Ok(());
        }
        Err(ReportError::Shape {
            name: variable.name.clone(),
            expected,
            found: variable.values.len(),
        })
    }

    fn write_hdf5(
        &self,
        path: &Path,
        names: &[String],
        axes: &[Dimension],
    ) -> rust_hdf5::Result<()> {
        let file = H5File::create(path)?;
        file.set_track_order(true)?;
        let posterior = file.create_group("posterior")?;
        for (key, value) in &self.attributes {
            posterior.set_attr_string(key, value)?;
        }
        let mut scales = HashMap::new();
        scales.insert("chain", counted_axis(&posterior, "chain", self.chains)?);
        scales.insert("draw", counted_axis(&posterior, "draw", self.draws)?);
        for axis in axes {
            let labels: Vec<&str> = axis.labels.iter().map(String::as_str).collect();
            let scale = posterior.write_vlen_strings(&axis.name, &labels)?;
            scale.set_scale(Some(&axis.name))?;
            scales.insert(&axis.name, scale);
        }
        for (variable, name) in self.variables.iter().zip(names) {
            self.write_variable(&posterior, (variable, name), &scales)?;
        }
        file.close()
    }

    fn write_variable(
        &self,
        posterior: &H5Group,
        (variable, name): (&Variable, &str),
        scales: &HashMap<&str, H5Dataset>,
    ) -> rust_hdf5::Result<()> {
        let own = variable.dimensions.iter().map(|axis| axis.labels.len());
        let shape: Vec<usize> = [self.chains, self.draws].into_iter().chain(own).collect();
        let dataset = posterior.new_dataset::<f64>().shape(&shape).create(name)?;
        dataset.write_raw(&variable.values)?;
        let own = variable.dimensions.iter().map(|axis| axis.name.as_str());
        for (axis, name) in ["chain", "draw"].into_iter().chain(own).enumerate() {
            dataset.attach_scale(axis, &scales[name])?;
        }
        if name != variable.name {
            let attribute = dataset
                .new_attr::<VarLenUnicode>()
                .shape(())
                .create("long_name")?;
            attribute.write_string(&variable.name)?;
        }
        Ok(())
    }
}

/// The columns of one variable, each with its level.
type Columns<'a> = Vec<(usize, Option<&'a str>)>;

/// An axis whose labels are 0, 1, 2, …
fn counted_axis(group: &H5Group, name: &str, size: usize) -> rust_hdf5::Result<H5Dataset> {
    let labels: Vec<i64> = (0..size as i64).collect();
    let scale = group.new_dataset::<i64>().shape([size]).create(name)?;
    scale.write_raw(&labels)?;
    scale.set_scale(Some(name))?;
    Ok(scale)
}

/// `site[a]` as `site` and `a`; a name of any other form as itself.
fn indexed(name: &str) -> (&str, Option<&str>) {
    let parts = name.strip_suffix(']').and_then(|open| open.split_once('['));
    match parts {
        Some((base, level)) if !base.is_empty() && !level.contains(['[', ']']) => {
            (base, Some(level))
        }
        _ => (name, None),
    }
}

/// One variable from its columns.
fn gathered(draws: &Draws, base: &str, columns: &[(usize, Option<&str>)]) -> Variable {
    let rows = draws.values.chunks_exact(draws.names.len().max(1));
    let values = rows.flat_map(|row| columns.iter().map(|(column, _)| row[*column]));
    let labels: Vec<String> = columns
        .iter()
        .filter_map(|(_, level)| level.map(String::from))
        .collect();
    let dimensions = if labels.is_empty() {
        Vec::new()
    } else {
        let name = allowed(&format!("{base}_level"));
        vec![Dimension { name, labels }]
    };
    Variable {
        name: base.into(),
        dimensions,
        values: values.collect(),
    }
}

/// A name that HDF5 and `NetCDF` accept: no slash, no control characters, no spaces at its ends.
fn allowed(name: &str) -> String {
    let letter = |letter: char| match letter {
        '/' => ':',
        _ if letter.is_control() => '_',
        _ => letter,
    };
    let text: String = name.trim().chars().map(letter).collect();
    if text.is_empty() || text == "." || text == ".." {
        return "_".into();
    }
    text
}

#[cfg(test)]
mod tests;
