//! Draws as `NetCDF-4`, which `ArviZ` opens as `InferenceData`.

#[cfg(feature = "netcdf")]
mod netcdf;

use std::collections::{HashMap, HashSet};

use crate::{AxisKind, Draws, Name, Place, ReportError};

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
    /// Attributes of its own.
    pub attributes: Vec<(String, String)>,
}

impl Variable {
    fn new(name: String, dimensions: Vec<Dimension>, values: Vec<f64>) -> Variable {
        Variable {
            name,
            dimensions,
            values,
            attributes: Vec::new(),
        }
    }
}

/// The leading axes of the variables of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lead {
    /// Chains and draws.
    Draws,
    /// Chains, draws and this many rows.
    DrawsOfRows(usize),
    /// This many rows.
    Rows(usize),
}

/// A group of an `InferenceData` besides the posterior.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Its name, as `ArviZ` knows it.
    pub name: String,
    /// The leading axes of its variables.
    pub lead: Lead,
    /// Its variables.
    pub variables: Vec<Variable>,
}

impl Group {
    /// A group of numbers without axes of their own.
    pub fn plain_group(
        name: impl Into<String>,
        lead: Lead,
        variables: impl IntoIterator<Item = (String, Vec<f64>)>,
    ) -> Group {
        let variable = |(name, values)| Variable::new(name, Vec::new(), values);
        Group {
            name: name.into(),
            lead,
            variables: variables.into_iter().map(variable).collect(),
        }
    }
}

/// An `InferenceData` of `ArviZ`: the group `posterior`, and others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InferenceData {
    /// Chains. Independent draws are one chain.
    pub chains: usize,
    /// Draws per chain.
    pub draws: usize,
    /// The variables of the group `posterior`.
    pub variables: Vec<Variable>,
    /// The other groups.
    pub groups: Vec<Group>,
    /// Attributes of every group, such as `created_at`.
    pub attributes: Vec<(String, String)>,
}

impl InferenceData {
    /// Independent draws as one chain. Numbers of one variable become an array over its axes:
    /// `site[a]`, `site[b]` are `site` over `site_level` with labels `a`, `b`. Characters that HDF5
    /// forbids in names are replaced; the original name is kept as `long_name`.
    pub fn from_draws(draws: &Draws) -> Result<Self, ReportError> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut known = HashMap::new();
        for (column, name) in draws.names.iter().enumerate() {
            let axes: Vec<AxisKind> = name.places().iter().map(|place| place.axis).collect();
            let group = *known.entry((name.variable(), axes)).or_insert(groups.len());
            if group == groups.len() {
                groups.push(Vec::new());
            }
            groups[group].push(column);
        }
        let mut variables = Vec::with_capacity(groups.len());
        for columns in &groups {
            variables.extend(gather_variables(draws, columns)?);
        }
        Ok(Self {
            chains: 1,
            draws: draws.n_draws(),
            variables,
            ..Self::default()
        })
    }

    /// Deals the draws to this many chains, which is valid for independent draws; some diagnostics
    /// require several chains. Draws that do not fill all chains are dropped.
    pub fn in_chains(mut self, chains: usize) -> Self {
        let all = self.chains * self.draws;
        let chains = chains.clamp(1, all.max(1));
        let draws = all / chains;
        let others = self.groups.iter_mut();
        let drawn = others.filter(|group| !matches!(group.lead, Lead::Rows(_)));
        let drawn = drawn.flat_map(|group| &mut group.variables);
        for variable in self.variables.iter_mut().chain(drawn) {
            let width = variable.values.len() / all.max(1);
            variable.values.truncate(chains * draws * width);
        }
        Self {
            chains,
            draws,
            ..self
        }
    }

    /// Adds a group; its draws are in the order of the posterior's.
    pub fn with_group(mut self, group: Group) -> Self {
        self.groups.push(group);
        self
    }

    /// Adds an attribute to every group.
    pub fn with_attribute(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.attributes.push((key.into(), value.into()));
        self
    }

    /// Returns an error, because this build has no `NetCDF`.
    #[cfg(not(feature = "netcdf"))]
    pub fn write(&self, path: &std::path::Path) -> Result<(), ReportError> {
        self.data_parts()?;
        Err(ReportError::Netcdf {
            path: path.into(),
            reason: "this program was built without the feature \"netcdf\"".into(),
        })
    }

    /// All groups in the form of the file.
    fn data_parts(&self) -> Result<Vec<Part<'_>>, ReportError> {
        let posterior = ("posterior", Lead::Draws, &self.variables);
        let groups = self.groups.iter();
        let groups = groups.map(|group| (group.name.as_str(), group.lead, &group.variables));
        let parts = std::iter::once(posterior).chain(groups);
        parts
            .map(|(name, lead, variables)| Part::new(name, self.group_axes(lead), variables))
            .collect()
    }

    /// The axes that come before a variable's own.
    fn group_axes(&self, lead: Lead) -> Vec<(&'static str, usize)> {
        let (chain, draw) = (("chain", self.chains), ("draw", self.draws));
        match lead {
            Lead::Draws => vec![chain, draw],
            Lead::DrawsOfRows(rows) => vec![chain, draw, ("row", rows)],
            Lead::Rows(rows) => vec![("row", rows)],
        }
    }
}

/// A group in the form of the file.
#[cfg_attr(
    not(feature = "netcdf"),
    expect(
        dead_code,
        reason = "without files shapes and names are checked all the same"
    )
)]
struct Part<'a> {
    name: &'a str,
    /// The axes before the variables' own, with their lengths.
    lead: Vec<(&'static str, usize)>,
    variables: &'a [Variable],
    /// The variables' names in the file.
    names: Vec<String>,
    /// The variables' own axes.
    axes: Vec<Dimension>,
}

impl<'a> Part<'a> {
    /// Checks shapes, and that names are unique.
    fn new(
        name: &'a str,
        lead: Vec<(&'static str, usize)>,
        variables: &'a [Variable],
    ) -> Result<Part<'a>, ReportError> {
        let mut taken: HashMap<String, Option<&[String]>> = HashMap::new();
        taken.extend(lead.iter().map(|(name, _)| ((*name).to_owned(), None)));
        let mut names = Vec::with_capacity(variables.len());
        for variable in variables {
            check_shape(&lead, variable)?;
            let mut name = allowed_name(&variable.name);
            while taken.contains_key(&name) {
                if name == variable.name && lead.iter().all(|(axis, _)| *axis != name) {
                    return Err(ReportError::repeated_name(&name));
                }
                name.push('_');
            }
            taken.insert(name.clone(), None);
            names.push(name);
        }
        let mut axes = Vec::new();
        for axis in variables.iter().flat_map(|one| &one.dimensions) {
            match taken.get(&axis.name) {
                Some(Some(labels)) if **labels == axis.labels => {}
                None if allowed_name(&axis.name) == axis.name => {
                    taken.insert(axis.name.clone(), Some(&axis.labels));
                    axes.push(axis.clone());
                }
                _ => return Err(ReportError::repeated_name(&axis.name)),
            }
        }
        Ok(Part {
            name,
            lead,
            variables,
            names,
            axes,
        })
    }
}

fn check_shape(lead: &[(&str, usize)], variable: &Variable) -> Result<(), ReportError> {
    let own = variable.dimensions.iter().map(|axis| axis.labels.len());
    let expected = lead.iter().map(|axis| axis.1).chain(own).product();
    if variable.values.len() == expected {
        return Ok(());
    }
    Err(ReportError::Shape {
        name: variable.name.clone(),
        expected,
        found: variable.values.len(),
    })
}

/// The variable of these columns, which have the same axes. If they do not fill an array, each
/// column becomes a variable.
fn gather_variables(draws: &Draws, columns: &[usize]) -> Result<Vec<Variable>, ReportError> {
    let names: Vec<&Name> = columns.iter().map(|column| &draws.names[*column]).collect();
    let mut found = HashSet::new();
    if let Some(name) = names.iter().find(|name| !found.insert(name.places())) {
        return Err(ReportError::repeated_name(name));
    }
    let dimensions = name_dimensions(&names);
    let size = dimensions.iter().map(|axis| axis.labels.len()).product();
    let values = |columns: &[usize]| -> Vec<f64> {
        let rows = draws.values.chunks_exact(draws.names.len().max(1));
        rows.flat_map(|row| columns.iter().map(|column| row[*column]))
            .collect()
    };
    if columns.len() != size {
        let alone = |(name, column): (&&Name, &usize)| {
            Variable::new(name.to_string(), Vec::new(), values(&[*column]))
        };
        return Ok(names.iter().zip(columns).map(alone).collect());
    }
    let numbers: Vec<HashMap<&str, usize>> = (dimensions.iter())
        .map(|axis| axis.labels.iter().map(String::as_str).zip(0..).collect())
        .collect();
    let mut in_order: Vec<usize> = vec![0; size];
    for (name, column) in names.iter().zip(columns) {
        let places = name.places().iter().zip(&numbers);
        let flat = places.fold(0, |flat, (place, numbers)| {
            flat * numbers.len() + numbers[place.label.as_str()]
        });
        in_order[flat] = *column;
    }
    let name = names[0].variable().into();
    Ok(vec![Variable::new(name, dimensions, values(&in_order))])
}

/// The axes of names of one variable, their labels in the order in which they occur.
fn name_dimensions(names: &[&Name]) -> Vec<Dimension> {
    let dimension = |(number, place): (usize, &Place)| {
        let mut known = HashSet::new();
        let labels = names.iter().map(|name| &name.places()[number].label);
        let labels = labels.filter(|label| known.insert(*label));
        Dimension {
            name: allowed_name(&place.axis.axis_name(names[0].variable())),
            labels: labels.cloned().collect(),
        }
    };
    let places = names[0].places().iter().enumerate();
    places.map(dimension).collect()
}

/// A name that HDF5 and `NetCDF` accept: no slash, no control characters, no spaces at its ends.
fn allowed_name(name: &str) -> String {
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

#[cfg(all(test, feature = "netcdf"))]
mod tests;
