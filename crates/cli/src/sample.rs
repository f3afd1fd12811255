//! The generated table that the demonstration fits.

use anyhow::Result;
use lehr::numeric::stream::Stream;
use lehr::table::Table;

/// The formula of the demonstration.
pub(crate) const DEMO_FORMULA: &str = "failed ~ age + load + age:load + shift + (1 | site)";

const SITES: usize = 60;
const SHIFTS: [(&str, f64); 3] = [("day", 0.0), ("evening", 0.3), ("night", 0.7)];

/// Machines that rarely fail, at sites that differ. The parameters that generated the rows are
/// known, so the report can be compared with them.
pub(crate) fn sample_machines(rows: usize, seed: u64) -> Result<Table> {
    let mut stream = Stream::new(seed, "demo", 0);
    // The sites are the same for every seed, so that held-out rows come from the same ones.
    let mut own = Stream::new(1, "demo sites", 0);
    let sites: Vec<f64> = (0..SITES).map(|_| 0.8 * own.normal()).collect();
    let (mut age, mut load, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    let (mut shift, mut site) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let years = 10.0 * stream.uniform() * stream.uniform();
        let share = 0.6 + 0.15 * stream.normal();
        let when = stream.below(SHIFTS.len() as u64) as u32;
        // Few machines belong to the later sites, so that partial pooling matters.
        let at = (SITES as f64 * stream.uniform() * stream.uniform()) as u32;
        let logit = -5.5
            + 0.15 * years
            + 1.5 * share
            + 0.1 * years * share
            + SHIFTS[when as usize].1
            + sites[at as usize];
        age.push(years);
        load.push(share);
        shift.push(when);
        site.push(at);
        failed.push(f64::from(stream.uniform() < sigmoid(logit)));
    }
    let shifts = SHIFTS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let names = (0..SITES).map(|k| format!("S{:02}", k + 1)).collect();
    Ok(Table::new()
        .with_number("failed", failed)?
        .with_number("age", age)?
        .with_number("load", load)?
        .with_category("shift", shift, shifts)?
        .with_category("site", site, names)?)
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}
