//! The section about Markov chains: the quality of their draws, traces, ranks and energies.

use crate::markup::Element;
use crate::number::{self, format_fixed};
use crate::plot;
use crate::{ChainQuantity, ChainReport};

use super::figure::{figure_element, legend_key};
use super::table;

/// Numbers whose chains are plotted.
const SHOWN: usize = 4;
/// The largest number of lines of the table.
const LINES: usize = 40;

pub(super) fn chain_content(chains: &ChainReport) -> Vec<Element> {
    let mut worst: Vec<&ChainQuantity> = chains.quantities.iter().collect();
    worst.sort_by(|a, b| quantity_badness(b).total_cmp(&quantity_badness(a)));
    let drawn = worst.iter().filter(|one| !one.values.is_empty());
    let pictures = drawn.take(SHOWN).flat_map(|one| {
        let words = format!("R̂ {}", format_fixed(one.r_hat, 3));
        let trace = figure_element(
            vec![plot::plot_draws(chains, one)],
            vec![Element::with_text("span", words)],
        );
        let level = Element::with_text("span", "level lines: the chains agree");
        [
            trace,
            figure_element(vec![plot::plot_ranks(chains, one)], vec![level]),
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
        all.push(energy_figure(chains));
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
        count => format!(
            "{} trajectories diverged",
            number::format_count(count as u64)
        ),
    };
    format!(
        "{} chains of {} draws each, after {} that were not kept; {divergences}. Chains agree if R̂ is \
         below 1.01; means and quantiles are known well with more than 400 effective draws.",
        chains.count,
        number::format_count(length as u64),
        number::format_count(chains.warm_up as u64)
    )
}

/// The worst numbers first.
fn table_of(worst: &[&ChainQuantity]) -> Element {
    let row = |one: &&ChainQuantity| {
        vec![
            one.name.clone(),
            format_fixed(one.r_hat, 3),
            format_fixed(one.bulk, 0),
            format_fixed(one.tail, 0),
        ]
    };
    let rows: Vec<Vec<String>> = worst.iter().take(LINES).map(row).collect();
    table::number_table(&["", "R̂", "effective, centre", "effective, tails"], rows)
}

fn energy_figure(chains: &ChainReport) -> Element {
    let caption = vec![
        legend_key("one", "energies around their mean"),
        legend_key("two", "changes from draw to draw"),
    ];
    let words = format!(
        "Both should be about as wide: E-BFMI {}, where below 0.3 the chains explore the energies, and with \
         them the tails, too slowly.",
        format_fixed(chains.energy_information, 2)
    );
    let side = Element::with_class("div", "side prose").child(Element::with_text("p", words));
    let split = Element::with_class("div", "split")
        .child(figure_element(vec![plot::plot_energy(chains)], caption));
    split.child(side)
}
