//! A page of tables and charts about several things at once, in the style of the report.

use std::path::Path;

use crate::ReportError;
use crate::html::{HUES, STYLE, page_head, table, write_whole};
use crate::markup::Element;
use crate::plot::{self, Chart};

/// A page: its introduction, then its parts.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    /// The heading.
    pub title: String,
    /// One line below it.
    pub byline: String,
    /// Paragraphs before the first part.
    pub lead: Vec<String>,
    /// The parts.
    pub parts: Vec<Part>,
    /// The last line.
    pub footer: String,
}

/// A part of a page; empty items are left out.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// Its heading.
    pub heading: String,
    /// Paragraphs.
    pub words: Vec<String>,
    /// Pictures.
    pub charts: Vec<Chart>,
    /// A table.
    pub table: Option<TextTable>,
}

/// A table of text, names in the first column.
#[derive(Clone, Debug, Default)]
pub struct TextTable {
    /// The head of each column.
    pub head: Vec<String>,
    /// The rows, each as long as the head.
    pub rows: Vec<Vec<String>>,
}

impl Sheet {
    /// The page as text. It loads nothing, runs no script, and escapes every given text.
    pub fn render_page(&self) -> String {
        let mut out = String::from("<!DOCTYPE html>\n");
        let parts = self.parts.iter().map(part_element);
        let lead = self
            .lead
            .iter()
            .map(|words| paragraph_element("lead", words));
        let header = Element::new("header")
            .child(Element::with_text("h1", &self.title))
            .child(paragraph_element("byline", &self.byline));
        let body = Element::new("body")
            .child(header)
            .child(Element::new("main").children(lead).children(parts))
            .child(Element::new("footer").child(Element::with_text("p", &self.footer)));
        let html = Element::new("html").attr("lang", "en");
        html.child(page_head(&self.title, &[STYLE, HUES]))
            .child(body)
            .render_into(&mut out);
        out.push('\n');
        out
    }

    /// Writes the page to a file, which appears complete or not at all.
    pub fn write(&self, path: &Path) -> Result<(), ReportError> {
        write_whole(&self.render_page(), path)
    }
}

fn paragraph_element(class: &str, words: &str) -> Element {
    Element::with_class("p", class).text(words)
}

fn part_element(part: &Part) -> Element {
    let mut section = Element::new("section").child(Element::with_text("h2", &part.heading));
    for words in &part.words {
        section.push(paragraph_element("lead", words));
    }
    if !part.charts.is_empty() {
        let figures = part.charts.iter().map(chart_figure);
        section.push(Element::with_class("div", "split").children(figures));
    }
    if let Some(listing) = &part.table {
        let head: Vec<&str> = listing.head.iter().map(String::as_str).collect();
        section.push(table::number_table(&head, listing.rows.iter().cloned()));
    }
    section
}

fn chart_figure(chart: &Chart) -> Element {
    let (title, drawing, series) = match chart {
        Chart::Lines(chart) => (&chart.title, plot::plot_lines(chart), &chart.series),
        Chart::Dots(chart) => (&chart.title, plot::plot_dots(chart), &chart.series),
    };
    let keys = series.iter().enumerate().map(|(index, series)| {
        let kind = if series.dashed { "hollow" } else { "full" };
        let swatch = format!("swatch {kind} hue{}", index % 8);
        let key = Element::with_class("span", "key").child(Element::with_class("span", &swatch));
        key.text(&series.name)
    });
    Element::new("figure")
        .child(Element::with_class("p", "chart-title").text(title))
        .child(drawing)
        .child(Element::new("figcaption").children(keys))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Axis, Dots, Law, Lines, Mark, Series};

    fn sheet() -> Sheet {
        let mark = |x: f64| Mark {
            x,
            y: 1.0 / x,
            error: 0.1,
        };
        let series = Series {
            name: "a <b>".into(),
            marks: [1.0, 10.0, f64::NAN].map(mark).to_vec(),
            dashed: false,
        };
        let axis = |name: &str| Axis {
            name: name.into(),
            law: Law::Logarithmic,
        };
        let lines = Chart::Lines(Lines {
            title: "t".into(),
            x: axis("K"),
            y: axis("gap"),
            series: vec![series.clone()],
        });
        let dots = Chart::Dots(Dots {
            title: "d".into(),
            names: vec!["MF".into(), "MVN".into()],
            axis: axis("gap"),
            series: vec![series],
        });
        Sheet {
            title: "A & B".into(),
            parts: vec![Part {
                heading: "one".into(),
                charts: vec![lines, dots],
                table: Some(TextTable {
                    head: vec!["name".into(), "n".into()],
                    rows: vec![vec!["x".into(), "-1".into()]],
                }),
                ..Part::default()
            }],
            ..Sheet::default()
        }
    }

    #[test]
    fn a_page_is_well_formed_and_escapes_what_it_is_given() {
        let page = sheet().render_page();
        let body = page.strip_prefix("<!DOCTYPE html>").unwrap();
        roxmltree::Document::parse(body).unwrap();
        assert!(page.contains("A &amp; B") && page.contains("a &lt;b&gt;"));
        assert_eq!(page.matches("<svg").count(), 2);
        assert!(!page.contains("NaN") && !page.contains("http:"), "{page}");
    }

    #[test]
    fn a_page_is_written_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page.html");
        sheet().write(&path).unwrap();
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            sheet().render_page()
        );
    }
}
