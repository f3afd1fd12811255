//! The report as one page that needs nothing but itself.

mod coefficient;
mod correlation;
mod group;
mod section;
mod table;

use std::path::Path;

use crate::draft::Draft;
use crate::markup::Element;
use crate::number::{self, grouped, print, short, with_error};
use crate::{Level, ReportData, ReportError};

const STYLE: &str = include_str!("html/page.css");

/// The page allows itself its own style and nothing else, whatever it was given to show.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/// The report as one self-contained page of HTML, verdict first. It loads nothing, runs no
/// script, and shows every given text as text. Sections without data are left out.
pub fn page(data: &ReportData) -> String {
    let mut out = String::from("<!DOCTYPE html>\n");
    let html = Element::new("html").attr("lang", "en");
    html.child(head(data)).child(body(data)).render(&mut out);
    out.push('\n');
    out
}

/// Writes [`page`] to a file, which appears complete or not at all.
pub fn write_page(data: &ReportData, path: &Path) -> Result<(), ReportError> {
    let draft = Draft::create(path)?;
    std::fs::write(draft.path(), page(data)).map_err(ReportError::write(path))?;
    draft.commit()
}

fn head(data: &ReportData) -> Element {
    let meta = |name: &str, content: &str| {
        let element = Element::new("meta").attr("name", name);
        element.attr("content", content)
    };
    let policy = Element::new("meta").attr("http-equiv", "Content-Security-Policy");
    // An empty icon keeps browsers from asking a server for one.
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
        .child(Element::with_text("title", heading(data)))
        .child(Element::new("style").verbatim(STYLE))
}

fn heading(data: &ReportData) -> &str {
    if data.title.is_empty() {
        "Report"
    } else {
        &data.title
    }
}

fn body(data: &ReportData) -> Element {
    let sections = section::all(data);
    let links = sections.iter().map(|section| {
        let link = Element::new("a").attr("href", format!("#{}", section.id));
        link.text(section.heading)
    });
    let links: Vec<Element> = links.collect();
    let mut main = Element::new("main").child(verdict(data)).child(facts(data));
    if links.len() > 2 {
        main.push(
            Element::new("nav")
                .attr("aria-label", "Sections")
                .children(links),
        );
    }
    let main = main.children(sections.into_iter().map(section::Section::element));
    Element::new("body")
        .child(banner(data))
        .child(main)
        .child(footer(data))
}

fn banner(data: &ReportData) -> Element {
    let mut parts: Vec<String> = Vec::new();
    if !data.method.is_empty() {
        parts.push(format!("fitted by {}", data.method));
    }
    let rows = data
        .n_rows
        .map(|rows| format!("{} rows", number::count(rows)));
    let latents = data
        .n_latents
        .map(|n| format!("{} unknowns", number::count(n)));
    parts.extend(rows.into_iter().chain(latents));
    if !data.date.is_empty() {
        parts.push(data.date.clone());
    }
    Element::new("header")
        .child(Element::with_text("h1", heading(data)))
        .child(Element::classed("p", "byline").text(parts.join(" · ")))
}

fn verdict(data: &ReportData) -> Element {
    let (class, mark) = match data.verdict.level {
        Level::Reliable => ("verdict reliable", "✓"),
        Level::Corrected => ("verdict corrected", "≈"),
        Level::DoNotTrust => ("verdict distrust", "✕"),
    };
    let sign = Element::classed("span", "sign").attr("aria-hidden", "true");
    let words = Element::new("div")
        .child(Element::with_text("h2", data.verdict.level.words()))
        .child(Element::with_text("p", &data.verdict.sentence));
    let advice = data.verdict.advice.iter();
    let advice: Vec<Element> = advice.map(|line| Element::with_text("li", line)).collect();
    let words = if advice.is_empty() {
        words
    } else {
        words.child(Element::new("ul").children(advice))
    };
    let section = Element::classed("section", class).attr("aria-label", "Verdict");
    section.child(sign.text(mark)).child(words)
}

fn facts(data: &ReportData) -> Element {
    let estimate = |mean: f64, se: f64| print(&with_error(mean, se));
    let bound = data.bound.map(|bound| {
        (
            "bound",
            estimate(bound.mean, bound.se),
            "log evidence is at least this",
        )
    });
    let evidence = data.evidence.map(|e| {
        (
            "log evidence",
            estimate(e.mean, e.se),
            "by importance sampling",
        )
    });
    let shape = data
        .pareto_k
        .map(|k| ("Pareto k", print(&number::fixed(k, 2)), shape_words(k)));
    let worth = data.effective_sample_size.map(|n| {
        (
            "effective draws",
            grouped(&number::fixed(n, 0)),
            "after weighting",
        )
    });
    let steps = (data.iterations > 0).then(|| {
        (
            "iterations",
            number::count(data.iterations),
            converged_words(data),
        )
    });
    let time = data.seconds.map(|s| {
        (
            "time",
            number::duration(s.total()),
            "reading to final estimates",
        )
    });
    let facts = [bound, evidence, shape, worth, steps, time]
        .into_iter()
        .flatten();
    let tiles = facts.map(|(name, value, note)| {
        Element::new("div")
            .child(Element::with_text("dt", name))
            .child(Element::with_text("dd", value))
            .child(Element::classed("dd", "note").text(note))
    });
    Element::classed("dl", "facts").children(tiles)
}

fn shape_words(k: f64) -> &'static str {
    match k {
        k if k < 0.5 => "below 0.5: weights behave well",
        k if k < 0.7 => "below 0.7: weights are usable",
        k if k.is_nan() => "could not be estimated",
        _ => "above 0.7: weights cannot be trusted",
    }
}

fn converged_words(data: &ReportData) -> &'static str {
    match data.converged {
        Some(true) => "the bound had stopped rising",
        Some(false) => "the bound was still rising",
        None => "",
    }
}

fn footer(data: &ReportData) -> Element {
    let version = (!data.version.is_empty()).then(|| format!("lehr {}", data.version));
    let seed = data.seed.map(|seed| format!("seed {seed}"));
    let date = (!data.date.is_empty()).then(|| data.date.clone());
    let parts: Vec<String> = [version, seed, date].into_iter().flatten().collect();
    Element::new("footer").child(Element::with_text("p", parts.join(" · ")))
}

/// A number for a table of the page.
fn shown(value: Option<f64>) -> String {
    value.map_or_else(|| "–".into(), |value| print(&short(value)))
}
