//! Sites for laws with a common name: one site for each run of laws of the same kind.

use std::ops::Range;

use lehr_graph::Expr;
use lehr_model::Tracer;

use crate::law::{Law, sample};

/// The sites of laws with a common name: one for each run of laws of one kind.
pub(crate) fn site_runs(name: &str, laws: &[Law]) -> Vec<(String, Range<usize>)> {
    let mut runs = Vec::new();
    let mut start = 0;
    for run in laws.chunk_by(Law::shares_site) {
        let site = match runs.len() {
            0 => name.to_owned(),
            before => format!("{name}#{}", before + 1),
        };
        runs.push((site, start..start + run.len()));
        start += run.len();
    }
    runs
}

/// The index of the law behind an entry of such a site, as in `weight#2[3]`.
pub(crate) fn law_of_entry(name: &str, laws: &[Law], entry: &str) -> Option<usize> {
    let (site, rest) = entry.split_once('[').unwrap_or((entry, "0"));
    let digits = rest.split([',', ']']).next()?;
    let place: usize = digits.trim().parse().ok()?;
    let runs = site_runs(name, laws);
    let (_, range) = runs.into_iter().find(|(own, _)| own == site)?;
    (place < range.len()).then_some(range.start + place)
}

/// One array of all laws: a site for each run of one kind, joined.
pub(crate) fn sample_runs<'g>(
    m: &Tracer<'g>,
    name: &str,
    laws: &[Law],
    copies: Option<usize>,
) -> Expr<'g> {
    let run = |(site, range): (String, Range<usize>)| {
        let dims: Vec<usize> = std::iter::once(range.len()).chain(copies).collect();
        sample(m, &site, &laws[range], &dims)
    };
    let parts: Vec<Expr<'g>> = site_runs(name, laws).into_iter().map(run).collect();
    match parts[..] {
        [only] => only,
        _ => m.graph().concat(&parts, 0),
    }
}
