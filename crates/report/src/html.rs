//! The report as one self-contained page.

mod chain;
mod coefficient;
mod correlation;
mod figure;
mod function;
mod group;
mod section;
pub(crate) mod table;

use std::io::Write;
use std::path::Path;

use lehr_file::Draft;

use crate::markup::Element;
use crate::number::{self, group_digits, print_minus, with_error};
use crate::{Estimate, Level, ReportData, ReportError};

/// The style sheet with the colours of series.
pub(crate) const HUES: &str = include_str!("html/sheet.css");

pub(crate) const STYLE: &str = include_str!("html/page.css");

/// The page allows its own style sheet and nothing else, whatever data it shows.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/// The report as one self-contained page of HTML, verdict first. It loads nothing, runs no script,
/// and escapes every given text. Sections without data are left out.
pub fn render_page(data: &ReportData) -> String {
    let mut out = String::from("<!DOCTYPE html>\n");
    let html = Element::new("html").attr("lang", "en");
    html.child(page_head(page_heading(data), &[STYLE, HUES]))
        .child(page_body(data))
        .render_into(&mut out);
    out.push('\n');
    out
}

/// Writes [`render_page`] to a file, which appears complete or not at all.
pub fn write_page(data: &ReportData, path: &Path) -> Result<(), ReportError> {
    write_whole(&render_page(data), path)
}

/// Writes a page to a file, which appears complete or not at all.
pub(crate) fn write_whole(page: &str, path: &Path) -> Result<(), ReportError> {
    let write = || {
        let mut draft = Draft::create_draft(path)?;
        draft.write_all(page.as_bytes())?;
        draft.commit_file()
    };
    write().map_err(ReportError::write_error(path))
}

/// The head of a page that needs no network.
pub(crate) fn page_head(title: &str, styles: &[&'static str]) -> Element {
    let meta = |name: &str, content: &str| {
        let element = Element::new("meta").attr("name", name);
        element.attr("content", content)
    };
    let policy = Element::new("meta").attr("http-equiv", "Content-Security-Policy");
    // An empty icon keeps browsers from requesting one from a server.
    let icon = Element::new("link")
        .attr("rel", "icon")
        .attr("href", "data:,");
    Element::new("head")
        .child(Element::new("meta").attr("charset", "utf-8"))
        .child(policy.attr("content", POLICY))
        .child(meta("viewport", "width=device-width, initial-scale=1"))
        .child(meta("color-scheme", "light dark"))
        .child(meta("generator", "lehr"))
        .child(icon)
        .child(Element::with_text("title", title))
        .child((styles.iter()).fold(Element::new("style"), |all, style| all.verbatim(style)))
}

fn page_heading(data: &ReportData) -> &str {
    if data.title.is_empty() {
        "Report"
    } else {
        &data.title
    }
}

fn page_body(data: &ReportData) -> Element {
    let sections = section::all_sections(data);
    let links = sections.iter().map(|section| {
        let link = Element::new("a").attr("href", format!("#{}", section.id));
        link.text(section.heading)
    });
    let mut main = Element::new("main").children([verdict_element(data), fact_list(data)]);
    if links.len() > 2 {
        let nav = Element::new("nav").attr("aria-label", "Sections");
        main.push(nav.children(links));
    }
    let main = main.children(sections.into_iter().map(section::Section::into_element));
    Element::new("body")
        .child(page_banner(data))
        .child(main)
        .children(page_footer(data))
}

fn page_banner(data: &ReportData) -> Element {
    let mut parts: Vec<String> = Vec::new();
    if !data.method.is_empty() {
        parts.push(format!("fitted by {}", data.method));
    }
    for (count, noun) in [(data.n_rows, "rows"), (data.n_latents, "unknowns")] {
        parts.extend(count.map(|count| format!("{} {noun}", number::format_count(count))));
    }
    if !data.date.is_empty() {
        parts.push(data.date.clone());
    }
    Element::new("header")
        .child(Element::with_text("h1", page_heading(data)))
        .child(Element::with_class("p", "byline").text(parts.join(" · ")))
}

fn verdict_element(data: &ReportData) -> Element {
    let (class, mark) = match data.verdict.level {
        Level::Reliable => ("verdict reliable", "✓"),
        Level::Corrected => ("verdict corrected", "≈"),
        Level::LookAgain => ("verdict corrected", "?"),
        Level::DoNotTrust => ("verdict distrust", "✕"),
    };
    let sign = Element::with_class("span", "sign").attr("aria-hidden", "true");
    let words = Element::new("div")
        .child(Element::with_text("h2", data.verdict.level.verdict_words()))
        .child(Element::with_text("p", &data.verdict.sentence));
    let advice = data.verdict.advice.iter();
    let advice: Vec<Element> = advice.map(|line| Element::with_text("li", line)).collect();
    let list = (!advice.is_empty()).then(|| Element::new("ul").children(advice));
    let words = words.children(list);
    let section = Element::with_class("section", class).attr("aria-label", "Verdict");
    section.child(sign.text(mark)).child(words)
}

/// A label, a number, and a comment.
type Fact = (&'static str, String, String);

fn fact_list(data: &ReportData) -> Element {
    let shape = data.pareto_k.map(|k| {
        let words = shape_words(k, data.pareto_k_limit);
        ("Pareto k", number::format_fixed(k, 2), words)
    });
    let worth = data.effective_sample_size.map(|size| {
        let size = group_digits(&number::format_fixed(size, 0));
        let words = match data.chains {
            Some(_) => "of the chains, for the worst unknown",
            None => "after weighting",
        };
        ("effective draws", size, words.into())
    });
    let steps = (data.iterations > 0).then(|| {
        let steps = number::format_count(data.iterations);
        ("iterations", steps, converged_words(data).into())
    });
    let time = data.seconds.map(|seconds| {
        let total = number::format_duration(seconds.total());
        ("time", total, "reading to final estimates".into())
    });
    let bound = estimate_fact("bound", data.bound, "a floor under the log evidence");
    let by = if data.bound.is_some() {
        "by importance sampling"
    } else {
        "by bridge sampling"
    };
    let evidence = estimate_fact("log evidence", data.evidence, by);
    let facts = [bound, evidence, shape, worth, steps, time];
    let tiles = facts.into_iter().flatten().map(|(name, value, note)| {
        Element::new("div")
            .child(Element::with_text("dt", name))
            .child(Element::with_text("dd", print_minus(&value)))
            .child(Element::with_class("dd", "note").text(note))
    });
    Element::with_class("dl", "facts").children(tiles)
}

fn estimate_fact(name: &'static str, estimate: Option<Estimate>, words: &str) -> Option<Fact> {
    let estimate = estimate?;
    let text = with_error(estimate.mean, estimate.se);
    let (mean, error) = text.split_once(" ± ").unwrap_or((&text, ""));
    let note = if error.is_empty() {
        words.into()
    } else {
        format!("± {error}, {words}")
    };
    Some((name, mean.into(), note))
}

fn shape_words(k: f64, limit: Option<f64>) -> String {
    let Some(limit) = limit else {
        return String::new();
    };
    match k {
        k if k < limit.min(0.5) => "below 0.5: weights behave well".into(),
        k if k < limit => format!("below {limit:.2}: weights are usable"),
        k if k.is_nan() => "could not be estimated".into(),
        _ => format!("above {limit:.2}: weights cannot be trusted"),
    }
}

fn converged_words(data: &ReportData) -> &'static str {
    match data.converged {
        Some(true) => "the bound had stopped rising",
        Some(false) => "the bound was still rising",
        None => "",
    }
}

fn page_footer(data: &ReportData) -> Option<Element> {
    let version = (!data.version.is_empty()).then(|| format!("lehr {}", data.version));
    let seed = data.seed.map(|seed| format!("seed {seed}"));
    let date = (!data.date.is_empty()).then(|| data.date.clone());
    let parts: Vec<String> = [version, seed, date].into_iter().flatten().collect();
    let words = Element::with_text("p", parts.join(" · "));
    (!parts.is_empty()).then(|| Element::new("footer").child(words))
}
