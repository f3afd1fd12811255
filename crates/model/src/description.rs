//! A program in words, one line per statement.

use std::fmt;

use lehr_density::Site;

use crate::program::Program;
use crate::statement::{RecordedDistribution, Statement};

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = self.deterministics();
        let statements = self.parts.statements.iter();
        let lines = statements.map(|statement| self.describe_statement(statement, &named));
        f.write_str(&lines.collect::<Vec<String>>().join("\n"))
    }
}

impl Program {
    fn describe_statement(&self, statement: &Statement, named: &[usize]) -> String {
        let parts = &*self.parts;
        let output = |output: usize| {
            let (name, shape) = parts.recording.output(output);
            (name, parts.recording.format_output(output, named), shape)
        };
        match statement {
            Statement::Sample { site, law, .. } => {
                let site = &parts.latents.sites()[*site];
                let (law, shape) = (self.describe_law(law, named), describe_shape(&site.dims));
                format!("{} ~ {law}{shape}", site.name)
            }
            Statement::Local { site, law, .. } => {
                let site = &parts.locals.sites()[*site];
                let (law, shape) = (self.describe_law(law, named), describe_shape(&site.dims));
                format!("{} ~ {law}{shape} in each row", site.name)
            }
            Statement::Observe(observed) => {
                let law = self.describe_law(&observed.law, named);
                format!("{} ~ {law} in each row", observed.column)
            }
            Statement::Param { site } => describe_param(&parts.params.sites()[*site]),
            Statement::Deterministic { output: place } => {
                let (name, text, found) = output(*place);
                format!("{name} = {text}{}", describe_shape(found.dims()))
            }
            Statement::Factor { output: place } => {
                let (name, text, _) = output(*place);
                format!("{name}: a factor, {text}")
            }
            Statement::RowQuantity { output: place } => {
                let (name, text, _) = output(*place);
                format!("{name} = {text} in each row")
            }
            Statement::Weight { column } => format!("{column}: the weight of each row"),
        }
    }

    /// `Normal(loc = 0, scale = group_scale)`
    fn describe_law(&self, law: &RecordedDistribution, named: &[usize]) -> String {
        let shown = law.parameters.iter().map(|parameter| {
            let text = self.parts.recording.format_output(parameter.output, named);
            format!("{} = {text}", parameter.name)
        });
        let shown: Vec<String> = shown.collect();
        format!("{}({})", law.family.0.name(), shown.join(", "))
    }
}

/// A parameter with its start.
fn describe_param(site: &Site) -> String {
    let start = match site.start.as_deref() {
        Some([only]) => only.to_string(),
        Some(many) => format!("{many:?}"),
        None => "0".into(),
    };
    format!("{}: a parameter, {}, from {start}", site.name, site.support)
}

fn describe_shape(dims: &[usize]) -> String {
    match dims {
        [] => String::new(),
        _ => format!(", shape {dims:?}"),
    }
}
