//! Observed values as bars, with the replicated values as a band and a line.

use crate::PredictiveCheck;
use crate::markup::Element;

use super::frame::{Caption, Frame};
use super::scale::Scale;
use super::{WIDTH, rectangle_element};

/// Heights over common bins.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    pub(crate) edges: Vec<f64>,
    pub(crate) observed: Vec<f64>,
    pub(crate) replicated: Vec<Vec<f64>>,
    /// Share of the observed and of the replicated values beyond the bins.
    pub(crate) outside: [f64; 2],
    /// The meaning of heights: densities of samples, or the caller's counts.
    pub(crate) height: &'static str,
    /// The names of the outcomes 0, 1, 2, …; empty for numbers.
    pub(crate) names: Vec<String>,
}

impl Histogram {
    /// Bins for a check; `None` if there is nothing to draw.
    pub(crate) fn of_check(check: &PredictiveCheck) -> Option<Self> {
        match check {
            PredictiveCheck::Samples {
                observed,
                replicated,
            } => Self::of_samples(observed, replicated),
            PredictiveCheck::Binned {
                edges,
                observed,
                replicated,
            } => {
                let bins = observed.len();
                let fits = bins > 0 && edges.len() == bins + 1;
                fits.then(|| Self {
                    edges: edges.clone(),
                    observed: observed.clone(),
                    replicated: (replicated.iter().filter(|heights| heights.len() == bins))
                        .cloned()
                        .collect(),
                    outside: [0.0; 2],
                    height: "rows",
                    names: Vec::new(),
                })
            }
        }
    }

    /// Densities of samples over bins that suit the observed ones.
    pub(crate) fn of_samples(observed: &[f64], replicated: &[Vec<f64>]) -> Option<Self> {
        let mut sorted: Vec<f64> = observed.iter().copied().filter(|y| y.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let edges = bin_edges(&sorted)?;
        let (heights, out) = bin_densities(&sorted, &edges);
        let (replicated, outs): (Vec<_>, Vec<_>) = replicated
            .iter()
            .map(|values| bin_densities(values, &edges))
            .unzip();
        let mean_out = outs.iter().sum::<f64>() / outs.len().max(1) as f64;
        Some(Self {
            edges,
            observed: heights,
            replicated,
            outside: [out, mean_out],
            height: "density",
            names: Vec::new(),
        })
    }

    /// The same with names for the outcomes 0, 1, 2, ….
    pub(crate) fn with_names(self, names: &[String]) -> Self {
        let names = names.to_vec();
        Self { names, ..self }
    }

    /// The 5 %, 50 % and 95 % quantiles of the replicated heights of each bin.
    fn density_envelope(&self) -> Vec<[f64; 3]> {
        let of_bin = |bin| {
            let mut heights: Vec<f64> = self.replicated.iter().map(|row| row[bin]).collect();
            heights.sort_by(f64::total_cmp);
            let rank = |share: f64| heights[((heights.len() - 1) as f64 * share).round() as usize];
            [rank(0.05), rank(0.5), rank(0.95)]
        };
        if self.replicated.is_empty() {
            return Vec::new();
        }
        (0..self.observed.len()).map(of_bin).collect()
    }
}

/// Draws the bars of the observed and the band of the replicated values.
pub(crate) fn plot_histogram(title: &str, x_name: &str, data: &Histogram) -> Element {
    let envelope = data.density_envelope();
    let tops = envelope.iter().map(|heights| heights[2]);
    let heights = data.observed.iter().copied().chain(tops).chain([0.0]);
    let caption = Caption {
        title,
        description: format!("histogram of {} bins", data.observed.len()),
        x: x_name,
        y: data.height,
    };
    let x = Scale::exact_ends(data.edges.iter().copied());
    let y = Scale::exact_ends(heights);
    let size = (WIDTH, 230.0);
    let mut frame = match data.names[..] {
        [] => Frame::new(size, x, y, &caption),
        _ => Frame::with_axes(size, [x, y], &caption, &data.names),
    };
    draw_bars(&mut frame, data);
    draw_envelope(&mut frame, &data.edges, &envelope);
    frame.svg
}

fn draw_bars(frame: &mut Frame, data: &Histogram) {
    for (ends, height) in data.edges.windows(2).zip(&data.observed) {
        let (left, top) = frame.point_at(ends[0], *height);
        let right = frame.x.place_value(ends[1]);
        let size = (right - left - 0.8, frame.bottom - top);
        frame.push_mark(rectangle_element("bar", (left + 0.4, top), size));
    }
}

/// Steps as wide as the bins, because the replicated values were binned too.
fn draw_envelope(frame: &mut Frame, edges: &[f64], envelope: &[[f64; 3]]) {
    if envelope.is_empty() {
        return;
    }
    let [low, middle, high] = [0, 1, 2].map(|rank| {
        let bins = edges.windows(2).zip(envelope);
        frame.points_at(bins.flat_map(|(ends, heights)| [0, 1].map(|k| (ends[k], heights[rank]))))
    });
    frame.push_band("two", [&low, &middle, &high]);
}

/// Bin edges: one bin per value for small whole numbers, else by the root of the sample size.
fn bin_edges(sorted: &[f64]) -> Option<Vec<f64>> {
    let (first, last) = (*sorted.first()?, *sorted.last()?);
    if sorted.iter().all(|value| value.fract() == 0.0) && last - first <= 60.0 {
        let bins = (last - first) as usize + 1;
        return Some((0..=bins).map(|index| first - 0.5 + index as f64).collect());
    }
    let rank = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
    let range = Scale::exact_ends([rank(0.002), rank(0.998)]);
    let margin = (range.high - range.low) * 0.1;
    let (low, high) = (range.low - margin, range.high + margin);
    let bins = (sorted.len() as f64).sqrt().clamp(10.0, 48.0) as usize;
    let width = (high - low) / bins as f64;
    Some((0..=bins).map(|index| low + width * index as f64).collect())
}

/// The density of the values in each bin, and the share of values outside all bins.
fn bin_densities(values: &[f64], edges: &[f64]) -> (Vec<f64>, f64) {
    let (low, bins) = (edges[0], edges.len() - 1);
    let width = (edges[bins] - low) / bins as f64;
    let mut counts = vec![0.0; bins];
    let mut outside = 0.0;
    for value in values {
        let place = (value - low) / width;
        if place >= 0.0 && place < bins as f64 {
            counts[place as usize] += 1.0;
        } else {
            outside += 1.0;
        }
    }
    let total = values.len().max(1) as f64;
    let heights = counts.iter().map(|count| count / (total * width));
    (heights.collect(), outside / total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn densities_integrate_to_the_share_inside() {
        let values: Vec<f64> = (0..1000).map(|i| f64::from(i) * 0.01 + 0.005).collect();
        let data = Histogram::of_samples(&values, &[vec![1e9, 5.0]]).unwrap();
        let width = data.edges[1] - data.edges[0];
        let area: f64 = data.observed.iter().map(|height| height * width).sum();
        assert!((area - 1.0 + data.outside[0]).abs() < 1e-9);
        assert_eq!(data.outside[1], 0.5);
    }

    #[test]
    fn small_whole_numbers_get_a_bin_each() {
        let data = Histogram::of_samples(&[0.0, 1.0, 1.0, 3.0], &[]).unwrap();
        assert_eq!(data.edges, [-0.5, 0.5, 1.5, 2.5, 3.5]);
        assert_eq!(data.observed, [0.25, 0.5, 0.0, 0.25]);
    }

    #[test]
    fn nothing_observed_is_nothing_to_draw() {
        assert!(Histogram::of_samples(&[f64::NAN], &[]).is_none());
    }
}
