//! The section about Markov chains: the quality of their draws, traces, ranks and energies.

use crate::markup::Element;
use crate::number::{format_count, format_fixed};
use crate::plot;
use crate::{ChainQuantity, ChainReport};

use super::figure::{explained_figure, figure_element, legend_key, span};
use super::table;

/// Numbers whose chains are plotted.
const SHOWN: usize = 4;
/// The largest number of lines of the table.
const LINES: usize = 40;

pub(super) fn chain_content(chains: Option<&ChainReport>) -> Vec<Element> {
    let Some(chains) = chains else {
        return Vec::new();
    };
    let mut worst: Vec<&ChainQuantity> = chains.quantities.iter().collect();
    worst.sort_by(|a, b| quantity_badness(b).total_cmp(&quantity_badness(a)));
    let drawn = worst.iter().filter(|one| !one.values.is_empty());
    let pictures = drawn.take(SHOWN).flat_map(|one| {
        let words = format!("R̂ {}", format_fixed(one.r_hat, 3));
        let level = "level lines: the chains agree";
        [
            figure_element([plot::plot_draws(chains, one)], [span(words)]),
            figure_element([plot::plot_ranks(chains, one)], [span(level)]),
        ]
    });
    let pictures: Vec<Element> = pictures.collect();
    let mut all = vec![
        Element::with_class("p", "lead").text(lead_sentence(chains)),
        table_of(&worst),
    ];
    if !pictures.is_empty() {
        all.push(Element::with_class("div", "clouds").children(pictures));
    }
    if chains.energies.len() > chains.count {
        all.extend(energy_figure(chains));
    }
    all
}

/// NaN counts as worse than any number.
fn quantity_badness(quantity: &ChainQuantity) -> f64 {
    if quantity.r_hat.is_nan() {
        f64::INFINITY
    } else {
        quantity.r_hat
    }
}

fn lead_sentence(chains: &ChainReport) -> String {
    let length = chains.energies.len() / chains.count.max(1);
    let divergences = match chains.divergences {
        0 => "no trajectory diverged".to_owned(),
        1 => "1 trajectory diverged".to_owned(),
        count => format!("{} trajectories diverged", format_count(count as u64)),
    };
    format!(
        "{} chains of {} draws each, after {} that were not kept; {divergences}. Chains agree if R̂ is \
         below 1.01; means and quantiles are known well with more than 400 effective draws.",
        chains.count,
        format_count(length as u64),
        format_count(chains.warm_up as u64)
    )
}

/// The worst numbers first.
fn table_of(worst: &[&ChainQuantity]) -> Element {
    let row = |one: &&ChainQuantity| {
        let numbers = [(one.r_hat, 3), (one.bulk, 0), (one.tail, 0)];
        let cells = numbers.map(|(value, digits)| format_fixed(value, digits));
        std::iter::once(one.name.clone()).chain(cells).collect()
    };
    let rows: Vec<Vec<String>> = worst.iter().take(LINES).map(row).collect();
    table::number_table(&["", "R̂", "effective, centre", "effective, tails"], rows)
}

fn energy_figure(chains: &ChainReport) -> Vec<Element> {
    let caption = [
        legend_key("one", "energies around their mean"),
        legend_key("two", "changes from draw to draw"),
    ];
    let words = format!(
        "Both should be about as wide: E-BFMI {}, where below 0.3 the chains explore the energies, and with \
         them the tails, too slowly.",
        format_fixed(chains.energy_information, 2)
    );
    explained_figure(plot::plot_energy(chains), caption, [words])
}
