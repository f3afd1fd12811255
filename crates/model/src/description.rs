//! A model in words, a line per site.

use lehr_density::Site;
use lehr_graph::{Expr, Graph};

use crate::distribution::Distribution;
use crate::record::Record;

/// `effect ~ Normal(loc = 0, scale = group_scale), shape [5]`
pub(crate) fn site<'g>(
    record: &Record<'g>,
    graph: &'g Graph,
    site: &Site,
    distribution: &impl Distribution<'g>,
) -> String {
    let law = law(record, graph, distribution);
    format!("{} ~ {law}{}", site.name, shape_of(site))
}

/// A latent of each row's own.
pub(crate) fn local<'g>(
    record: &Record<'g>,
    graph: &'g Graph,
    site: &Site,
    distribution: &impl Distribution<'g>,
) -> String {
    let law = law(record, graph, distribution);
    format!("{} ~ {law}{} in each row", site.name, shape_of(site))
}

/// An observed column.
pub(crate) fn observed<'g>(
    record: &Record<'g>,
    graph: &'g Graph,
    column: &str,
    distribution: &impl Distribution<'g>,
) -> String {
    let law = law(record, graph, distribution);
    format!("{column} ~ {law} observed in each row")
}

/// A parameter with its start.
pub(crate) fn param(site: &Site) -> String {
    let start = match site.start.as_deref() {
        Some([only]) => only.to_string(),
        Some(many) => format!("{many:?}"),
        None => "0".into(),
    };
    format!("{}: a parameter, {}, from {start}", site.name, site.support)
}

/// A quantity with a name.
pub(crate) fn deterministic(name: &str, value: Expr<'_>) -> String {
    format!(
        "{name} = a function of the above{}",
        shape_text(value.shape().dims())
    )
}

fn law<'g>(record: &Record<'g>, graph: &'g Graph, distribution: &impl Distribution<'g>) -> String {
    let shown: Vec<String> = (distribution.parameters(graph).into_iter())
        .map(|(name, value)| format!("{name} = {}", value_text(record, value)))
        .collect();
    format!("{}({})", distribution.name(), shown.join(", "))
}

/// The number a value is, the name it was given, or dots.
fn value_text<'g>(record: &Record<'g>, value: Expr<'g>) -> String {
    if let Some(number) = value.as_number() {
        return number.to_string();
    }
    let shape = value.shape();
    let is_it = |named: Expr<'g>| {
        named.shape().broadcast(shape) == Some(shape) && named.broadcast(shape).is(value)
    };
    let found = record.named.iter().find(|(_, named)| is_it(*named));
    found.map_or_else(|| "…".into(), |(name, _)| name.clone())
}

fn shape_of(site: &Site) -> String {
    shape_text(&site.dims)
}

fn shape_text(dims: &[usize]) -> String {
    match dims {
        [] => String::new(),
        _ => format!(", shape {dims:?}"),
    }
}
