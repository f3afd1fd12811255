//! Markov chains: their traces, ranks and energies.

use crate::markup::Element;
use crate::{ChainQuantity, ChainReport};

use super::frame::{Caption, Frame};
use super::lines::series_hue;
use super::scale::Scale;
use super::{WIDTH, curve_element, line_element};

/// The most points of a chain's curve; more would not be visible.
const POINTS: usize = 150;
/// Bins of a histogram.
const BINS: usize = 20;
/// The size of one of several small pictures.
const SMALL: (f64, f64) = (250.0, 150.0);

/// The draws of a number in their order, one line for each chain.
pub(crate) fn plot_draws(chains: &ChainReport, quantity: &ChainQuantity) -> Element {
    let all = chains.split_chains(&quantity.values).collect::<Vec<_>>();
    let length = all.first().map_or(0, |chain| chain.len());
    let caption = Caption {
        title: &quantity.name,
        description: "draws of each chain in their order".into(),
        x: "draw",
        y: &quantity.name,
    };
    let x = Scale::exact_ends([0.0, length as f64]);
    let y = Scale::fit_values(quantity.values.iter().copied());
    let mut frame = Frame::new(SMALL, x, y, &caption);
    let every = length.div_ceil(POINTS).max(1);
    for (place, chain) in all.iter().enumerate() {
        let points = chain.iter().enumerate().step_by(every);
        push_thin(
            &mut frame,
            place,
            points.map(|(k, value)| (k as f64, *value)),
        );
    }
    frame.svg
}

/// Histograms of each chain's ranks among the draws of all chains: flat if the chains agree.
pub(crate) fn plot_ranks(chains: &ChainReport, quantity: &ChainQuantity) -> Element {
    let values = &quantity.values;
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let length = (values.len() / chains.count.max(1)).max(1);
    let mut counts = vec![[0.0; BINS]; chains.count];
    for (rank, draw) in order.into_iter().enumerate() {
        if let Some(own) = counts.get_mut(draw / length) {
            own[rank * BINS / values.len()] += 1.0;
        }
    }
    let caption = Caption {
        title: &format!("Ranks of {}", quantity.name),
        description: "draws of each chain by their rank among all".into(),
        x: "rank",
        y: "draws",
    };
    let level = length as f64 / BINS as f64;
    let heights = counts.iter().flatten().copied().chain([0.0, 2.0 * level]);
    let x = Scale::exact_ends([0.0, values.len() as f64]);
    let y = Scale::exact_ends(heights);
    let mut frame = Frame::new(SMALL, x, y, &caption);
    let width = values.len() as f64 / BINS as f64;
    let [from, to] = [0.0, values.len() as f64].map(|rank| frame.point_at(rank, level));
    frame.push_mark(line_element("axis", from, to));
    for (place, own) in counts.iter().enumerate() {
        let steps = own
            .iter()
            .enumerate()
            .flat_map(|(bin, count)| [bin, bin + 1].map(|edge| (edge as f64 * width, *count)));
        push_thin(&mut frame, place, steps);
    }
    frame.svg
}

/// The curve of a chain, in its colour.
fn push_thin(frame: &mut Frame, chain: usize, pairs: impl Iterator<Item = (f64, f64)>) {
    let class = format!("curve thin {}", series_hue(chain));
    frame.push_mark(curve_element(&class, &frame.points_at(pairs)));
}

/// The energies, and their changes from draw to draw: both have about the same distribution if the
/// chains explore all energies.
pub(crate) fn plot_energy(chains: &ChainReport) -> Element {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let (mut apart, mut steps) = (Vec::new(), Vec::new());
    for chain in chains.split_chains(&chains.energies) {
        let centre = mean(chain);
        apart.extend(chain.iter().map(|energy| energy - centre));
        steps.extend(chain.windows(2).map(|pair| pair[1] - pair[0]));
    }
    let caption = Caption {
        title: "Energies",
        description: "energies around their mean, and their changes from draw to draw".into(),
        x: "energy",
        y: "share of draws",
    };
    let x = Scale::fit_values(apart.iter().chain(&steps).copied());
    let [apart, steps] = [apart, steps].map(|values| bin_shares(&values, &x));
    let heights = apart.iter().chain(&steps).map(|(_, share)| *share);
    let y = Scale::exact_ends(heights.chain([0.0]));
    let mut frame = Frame::new((WIDTH, 230.0), x, y, &caption);
    for (class, curve_of) in [("curve one", apart), ("curve two", steps)] {
        frame.push_mark(curve_element(class, &frame.points_at(curve_of)));
    }
    frame.svg
}

/// The middle of each bin, and the share of the values that lie in it.
fn bin_shares(values: &[f64], scale: &Scale) -> Vec<(f64, f64)> {
    const FINE: usize = 40;
    let width = (scale.high - scale.low) / FINE as f64;
    let mut counts = [0.0; FINE];
    for value in values.iter().filter(|value| value.is_finite()) {
        let bin = ((value - scale.low) / width).max(0.0) as usize;
        counts[bin.min(FINE - 1)] += 1.0 / values.len() as f64;
    }
    let middle = |bin: usize| scale.low + (bin as f64 + 0.5) * width;
    let pairs = counts.into_iter().enumerate();
    pairs.map(|(bin, share)| (middle(bin), share)).collect()
}
