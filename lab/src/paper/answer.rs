//! A finished table, for the terminal, as JSON and as a page.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use lehr_report::{Chart, Part, Sheet, Style, TextTable};
use serde::Serialize;

use crate::paper::cell::Cell;
use crate::paper::error::PaperError;
use crate::paper::setting::Settings;

/// A finished table of the paper.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Answer {
    /// Its name on the command line.
    pub table: &'static str,
    /// Its title.
    pub title: String,
    /// The protocol of the run, with sizes and departures from the paper.
    pub protocol: Vec<String>,
    /// Its findings.
    pub findings: Vec<String>,
    /// Its tables.
    pub sections: Vec<Section>,
    /// The fits behind them.
    pub cells: Vec<Cell>,
    /// The page.
    pub page: PathBuf,
}

/// A part of a table.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Section {
    /// Its heading.
    pub heading: String,
    /// Remarks for the reader.
    pub words: Vec<String>,
    /// The head of each column.
    pub head: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
    /// Its pictures.
    #[serde(skip)]
    pub charts: Vec<Chart>,
}

impl Section {
    /// A part with these columns.
    pub fn new(heading: impl Into<String>, head: &[&str]) -> Section {
        Section {
            heading: heading.into(),
            head: head.iter().map(ToString::to_string).collect(),
            ..Section::default()
        }
    }

    /// The table for a terminal.
    fn text(&self, style: &Style) -> String {
        let mut out = format!("\n{}\n", self.heading);
        for words in &self.words {
            let _ = writeln!(out, "  {words}");
        }
        if !self.rows.is_empty() {
            let head: Vec<&str> = self.head.iter().map(String::as_str).collect();
            out += &style.format_table(&head, self.rows.clone());
        }
        out
    }
}

impl Answer {
    /// The whole answer for a terminal.
    pub fn text(&self, style: &Style) -> String {
        let mut out = format!("{}\n", self.title);
        for line in &self.protocol {
            let _ = writeln!(out, "  {line}");
        }
        for section in &self.sections {
            out += &section.text(style);
        }
        if !self.findings.is_empty() {
            out += "\nWhat it shows\n";
        }
        for line in &self.findings {
            let _ = writeln!(out, "  {line}");
        }
        out + &format!("\npage: {}\n", self.page.display())
    }

    /// Writes the page into the folder of the settings.
    pub(crate) fn written(mut self, settings: &Settings) -> Result<Answer, PaperError> {
        self.page = settings.out.join(format!("{}.html", self.table));
        self.write(&self.page)?;
        Ok(self)
    }

    fn write(&self, path: &Path) -> Result<(), PaperError> {
        let findings = Part {
            heading: "What it shows".into(),
            words: self.findings.clone(),
            ..Part::default()
        };
        let protocol = Part {
            heading: "What was run".into(),
            words: self.protocol.clone(),
            ..Part::default()
        };
        let mut parts = vec![findings];
        parts.extend(self.sections.iter().map(part));
        parts.push(protocol);
        let sheet = Sheet {
            title: self.title.clone(),
            byline: "Jankowiak & Phan 2022, run again".into(),
            parts,
            footer: format!(
                "lehr {} · lehr-lab paper {}",
                env!("CARGO_PKG_VERSION"),
                self.table
            ),
            ..Sheet::default()
        };
        Ok(sheet.write(path)?)
    }
}

fn part(section: &Section) -> Part {
    let table = TextTable {
        head: section.head.clone(),
        rows: section.rows.clone(),
    };
    Part {
        heading: section.heading.clone(),
        words: section.words.clone(),
        charts: section.charts.clone(),
        table: (!section.rows.is_empty()).then_some(table),
    }
}
