//! The sections of the page; empty ones are left out.

use crate::listing;
use crate::markup::Element;
use crate::number::{self, format_duration, print_minus, with_error};
use crate::plot::{self, Cloud, Histogram};
use crate::{Draws, ReportData};

use super::chain::chain_content;
use super::coefficient::{as_row, coefficient_content};
use super::correlation::{Pair, strongest_pairs};
use super::figure::{explained_figure, figure_element, legend_key, span};
use super::function::function_content;
use super::group::group_content;
use super::table;

/// A heading with its content.
pub(super) struct Section {
    pub(super) id: &'static str,
    pub(super) heading: &'static str,
    content: Vec<Element>,
}

impl Section {
    pub(super) fn into_element(self) -> Element {
        let section = Element::new("section").attr("id", self.id);
        let section = section.child(Element::with_text("h2", self.heading));
        section.children(self.content)
    }
}

/// The sections with content, in reading order.
pub(super) fn all_sections(data: &ReportData) -> Vec<Section> {
    let [check_title, _] = predictive_words(data);
    let sections = [
        ("model", "Model and priors", model_section(data)),
        ("coefficients", "Coefficients", coefficient_content(data)),
        ("explained", "Variance explained", share_section(data)),
        ("effects", "Conditional effects", effect_section(data)),
        (
            "functions",
            "Smooth functions",
            function_content(&data.functions),
        ),
        ("trace", "Training", training_section(data)),
        (
            "chains",
            "Markov chains",
            chain_content(data.chains.as_ref()),
        ),
        ("pairs", "Strongest correlations", pair_section(data)),
        ("predictive", check_title, predictive_section(data)),
        ("calibration", "Calibration", calibration_section(data)),
        ("counts", "Counts", count_section(data)),
        ("residuals", "Residuals", residual_section(data)),
        ("groups", "Group effects", group_content(&data.groups)),
        ("methods", "Methods compared", method_section(data)),
        ("run", "How it was run", run_section(data)),
    ];
    let filled = sections.into_iter().filter(|section| !section.2.is_empty());
    let named = filled.map(|(id, heading, content)| Section {
        id,
        heading,
        content,
    });
    named.collect()
}

fn model_section(data: &ReportData) -> Vec<Element> {
    let text = (!data.model.is_empty()).then(|| {
        let code = Element::with_text("code", &data.model);
        Element::new("pre").attr("tabindex", "0").child(code)
    });
    let rows = data.priors.iter().map(|prior| {
        let cells = [&prior.name, &prior.distribution, &prior.origin];
        cells.map(String::clone).into()
    });
    let priors =
        (!data.priors.is_empty()).then(|| table::word_table(&["prior on", "is", ""], rows));
    let parts: Vec<Element> = text.into_iter().chain(priors).collect();
    let split = (!parts.is_empty()).then(|| Element::with_class("div", "split").children(parts));
    let notes = data.notes.iter().map(|note| Element::with_text("li", note));
    let notes =
        (!data.notes.is_empty()).then(|| Element::with_class("ul", "notes").children(notes));
    split.into_iter().chain(notes).collect()
}

fn share_section(data: &ReportData) -> Vec<Element> {
    if data.explained.is_empty() {
        return Vec::new();
    }
    let rows: Vec<plot::Row> = data.explained.iter().map(as_row).collect();
    let mut words = vec![
        "R² is the variance of what the model expects of the rows, as a share of it and the noise \
         around it, on some of the rows that were fitted.",
    ];
    let has = |start: &str| data.explained.iter().any(|one| one.name.starts_with(start));
    if has("R2 marginal") {
        words.push("Conditional: with the effects of groups. Marginal: what the columns explain without them.");
    }
    if has("ICC") {
        words.push(
            "ICC: the correlation of two rows of one group that are alike otherwise, on the scale \
             of the linear predictor.",
        );
    }
    let plot = plot::plot_forest("Shares of variance", &rows);
    explained_figure(plot, [span("Median, 50 % and 90 % intervals.")], words)
}

fn effect_section(data: &ReportData) -> Vec<Element> {
    if data.effects.is_empty() {
        return Vec::new();
    }
    let plots = data.effects.iter().map(|one| {
        let words = format!("{} by {}", one.response, one.variable);
        figure_element([plot::plot_effect(one)], [span(words)])
    });
    let text = "What the response would be over the values of one column, the others at their \
                reference (numbers at their mean, levels at their commonest) and the effects of \
                groups at 0: posterior mean and 90 % interval.";
    vec![
        Element::with_class("p", "lead").text(text),
        Element::with_class("div", "clouds").children(plots),
    ]
}

fn training_section(data: &ReportData) -> Vec<Element> {
    let finite = data.trace.iter().filter(|point| point.value.is_finite());
    let finite = finite.count();
    if finite < 2 {
        return Vec::new();
    }
    let caption = [
        legend_key("one", "mean"),
        legend_key("one faint", "5 % to 95 % of the estimates"),
    ];
    let mut words = vec![
        "The bound is estimated anew at every step, so it trembles; training is done when its \
         mean no longer climbs."
            .to_string(),
    ];
    if let Some(bound) = data.bound {
        let bound = print_minus(&with_error(bound.mean, bound.se));
        words.push(format!(
            "At the end, with many draws and all rows, it is {bound}."
        ));
    }
    let failed = data.trace.len() - finite;
    if failed > 0 {
        words.push(format!(
            "{failed} steps met values that are not finite and were skipped."
        ));
    }
    explained_figure(plot::plot_trace(&data.trace), caption, words)
}

fn pair_section(data: &ReportData) -> Vec<Element> {
    let Some(draws) = &data.draws else {
        return Vec::new();
    };
    let mut pairs = strongest_pairs(draws, 8);
    let clear = pairs.iter().filter(|pair| pair.correlation.abs() >= 0.15);
    let shown = clear.count().max(4);
    pairs.truncate(shown);
    let plots: Vec<Element> = pairs.iter().map(|pair| pair_figure(draws, pair)).collect();
    if plots.is_empty() {
        return plots;
    }
    let text = "The pairs of unknowns that the posterior ties together most. A long thin cloud \
                says that the data inform a combination of the two better than each alone.";
    vec![
        Element::with_class("p", "lead").text(text),
        Element::with_class("div", "clouds").children(plots),
    ]
}

fn pair_figure(draws: &Draws, pair: &Pair) -> Element {
    let name = |column: usize| draws.names[column].as_str();
    let (first, second) = (name(pair.first), name(pair.second));
    let points = draws.column(pair.first).zip(draws.column(pair.second));
    let cloud = Cloud {
        title: &format!("{first} and {second}"),
        points: points.collect(),
        x: first,
        y: second,
        size: (190.0, 180.0),
        rule: None,
    };
    let text = format!("correlation {}", number::format_fixed(pair.correlation, 2));
    figure_element([plot::plot_cloud(&cloud)], [span(print_minus(&text))])
}

/// The name of the predictive check, and how to read it: outcomes are replicated from the posterior
/// or the prior.
fn predictive_words(data: &ReportData) -> [&'static str; 2] {
    match data.method.as_str() {
        "prior" => [
            "Prior predictive check",
            "Bars are the outcomes in the table; the band is what data sets drawn from the prior \
             look like, before any outcome is seen. It should be wider than the bars and not \
             absurd.",
        ],
        _ => [
            "Posterior predictive check",
            "Bars are the outcomes in the table; the band is what data sets drawn from the fitted \
             model look like. Where bars leave the band, the model misses something.",
        ],
    }
}

fn predictive_section(data: &ReportData) -> Vec<Element> {
    let bins = data.predictive.as_ref().and_then(Histogram::of_check);
    let Some(bins) = bins else {
        return Vec::new();
    };
    let caption = [
        legend_key("bar", "observed"),
        legend_key("two", "replicated: median and 90 %"),
    ];
    let [title, meaning] = predictive_words(data);
    let mut words = vec![meaning.to_string()];
    let outside = bins.outside.map(|share| 100.0 * share);
    if outside.iter().any(|share| *share > 0.05) {
        let [observed, replicated] = outside.map(|share| number::format_fixed(share, 1));
        words.push(format!(
            "Beyond the picture lie {observed} % of the observed and {replicated} % of the \
             replicated outcomes."
        ));
    }
    let bins = bins.with_names(&data.levels);
    let plot = plot::plot_histogram(title, "outcome", &bins);
    explained_figure(plot, caption, words)
}

fn calibration_section(data: &ReportData) -> Vec<Element> {
    if data.calibration.is_empty() {
        return Vec::new();
    }
    let caption = [
        legend_key("one", "observed, with interval"),
        legend_key("bar", "rows per bin"),
        span("Dashed: perfect calibration."),
    ];
    let bins = data.calibration.iter();
    let inside = bins
        .filter(|bin| (bin.low..=bin.high).contains(&bin.predicted))
        .count();
    let success = data.levels.last().map_or("succeed".into(), |level| {
        format!("be \u{201c}{level}\u{201d}")
    });
    let words = [
        format!(
            "Of the rows predicted to {success} with probability 0.3, three in ten should. Points \
             on the diagonal are honest predictions; above it the model is too cautious, below it \
             too sure."
        ),
        format!(
            "The intervals of {inside} of {} bins meet the diagonal.",
            data.calibration.len()
        ),
    ];
    explained_figure(plot::draw_calibration(&data.calibration), caption, words)
}

fn count_section(data: &ReportData) -> Vec<Element> {
    if data.rootogram.is_empty() {
        return Vec::new();
    }
    let caption = [
        legend_key("two", "expected"),
        legend_key("bar", "observed, hung from it"),
    ];
    let words = "Bars hang from the number of rows the model expects and are as long as the number \
                 seen, both as square roots. A bar that ends below zero was seen more often than \
                 expected, one that ends above it less often. Too many zeros or a heavy tail show \
                 at once.";
    explained_figure(plot::plot_rootogram(&data.rootogram), caption, [words])
}

fn residual_section(data: &ReportData) -> Vec<Element> {
    if data.residuals.is_empty() {
        return Vec::new();
    }
    let points = data.residuals.iter().map(|row| (row.fitted, row.residual));
    let cloud = Cloud {
        title: "Residuals",
        points: points.collect(),
        x: "fitted",
        y: "residual",
        size: (plot::WIDTH, 250.0),
        rule: Some(0.0),
    };
    let words = "Residuals should scatter evenly about zero whatever the fitted value. A bend asks \
                 for another term, a funnel for another family.";
    let caption = [span("Stronger colour means more rows.")];
    explained_figure(plot::plot_cloud(&cloud), caption, [words])
}

fn method_section(data: &ReportData) -> Vec<Element> {
    if data.comparison.is_empty() {
        return Vec::new();
    }
    let cells = listing::comparison_cells(&data.comparison);
    let table = table::number_table(&listing::COMPARISON, cells);
    let text = "Bound with two standard errors, mean log likelihood of held-out rows, time to fit. Filled: the best.";
    let plot = figure_element([plot::plot_comparison(&data.comparison)], [span(text)]);
    let side = Element::with_class("div", "side").child(table);
    vec![Element::with_class("div", "beside").children([plot, side])]
}

fn run_section(data: &ReportData) -> Vec<Element> {
    let choices = data.choices.iter();
    let choices = choices.map(|choice| vec![choice.key.clone(), choice.value.clone()]);
    let choices =
        (!data.choices.is_empty()).then(|| table::word_table(&["setting", "value"], choices));
    let seconds = data.seconds.map(|seconds| {
        let total = seconds.total();
        let rows = seconds.named_parts().into_iter().map(|(name, part)| {
            let share = if total > 0.0 {
                100.0 * part / total
            } else {
                0.0
            };
            vec![name.into(), format_duration(part), format!("{share:.0} %")]
        });
        table::number_table(&["stage", "time", "share"], rows)
    });
    let parts: Vec<Element> = choices.into_iter().chain(seconds).collect();
    if parts.is_empty() {
        return parts;
    }
    vec![Element::with_class("div", "split").children(parts)]
}
