//! Output for a terminal: a verdict line and aligned tables.

use std::io::IsTerminal;

use unicode_width::UnicodeWidthStr;

use crate::abbreviation::abbreviate_names;
use crate::listing;
use crate::{Coefficient, Comparison, Level, ReportData, Verdict};

/// Whether text is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    /// Escape sequences for bold and colour.
    Ansi,
    /// Text without escape sequences.
    Plain,
}

/// The style of terminal output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Colour or none.
    pub color: Color,
    /// The line width; `None` means unlimited.
    pub width: Option<usize>,
}

impl Style {
    /// Plain text of any width, for a file or a pipe.
    pub const PLAIN: Self = Self {
        color: Color::Plain,
        width: None,
    };

    /// The style for this stream: colour and a width for a terminal, unless `NO_COLOR` is set or
    /// the terminal is dumb; plain otherwise.
    pub fn detect(stream: &impl IsTerminal) -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if !stream.is_terminal() {
            return Self::PLAIN;
        }
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let columns = std::env::var("COLUMNS")
            .ok()
            .and_then(|text| text.parse().ok());
        let asked = || terminal_size::terminal_size().map(|size| usize::from(size.0.0));
        Self {
            color: if set("NO_COLOR") || dumb {
                Color::Plain
            } else {
                Color::Ansi
            },
            width: columns.or_else(asked),
        }
    }

    /// The verdict in one line, then its advice.
    pub fn format_verdict(&self, verdict: &Verdict) -> String {
        let (mark, code) = match verdict.level {
            Level::Reliable => ("✓", "32"),
            Level::Corrected => ("≈", "33"),
            Level::LookAgain => ("?", "33"),
            Level::DoNotTrust => ("✗", "31"),
        };
        let head = format!("{mark} {}", verdict.level.verdict_words().to_lowercase());
        let mut line = self.paint_text(&format!("1;{code}"), &head);
        if !verdict.sentence.is_empty() {
            line.push_str(": ");
            line.push_str(&safe_text(&verdict.sentence));
        }
        let advice = verdict.advice.iter();
        let hints = advice.map(|hint| format!("  hint: {}", safe_text(hint)));
        let lines: Vec<String> = std::iter::once(line).chain(hints).collect();
        lines.join("\n") + "\n"
    }

    /// One line per coefficient, with corrected numbers if there are any.
    pub fn format_coefficients(&self, coefficients: &[Coefficient]) -> String {
        self.format_summaries(listing::COEFFICIENT[0], coefficients)
    }

    /// One line per share of variance.
    pub fn format_shares(&self, shares: &[Coefficient]) -> String {
        self.format_summaries("share of variance", shares)
    }

    /// One line per number, under this heading of their names.
    fn format_summaries(&self, what: &str, numbers: &[Coefficient]) -> String {
        let mut rows: Vec<Vec<String>> = numbers.iter().map(listing::coefficient_cells).collect();
        let mut head = listing::COEFFICIENT.to_vec();
        head[0] = what;
        // The column of Monte Carlo errors is left out if none is known.
        if numbers.iter().all(|one| one.best_summary().mcse.is_none()) {
            head.pop();
            for row in &mut rows {
                row.pop();
            }
        }
        self.format_table(&head, rows)
    }

    /// One line per method, with its results and costs.
    pub fn format_comparison(&self, methods: &[Comparison]) -> String {
        self.format_table(&listing::COMPARISON, listing::comparison_cells(methods))
    }

    /// Verdict, coefficients and, if there is one, the comparison.
    pub fn format_summary(&self, data: &ReportData) -> String {
        let mut parts = vec![self.format_verdict(&data.verdict)];
        if !data.coefficients.is_empty() {
            parts.push(self.format_coefficients(&data.coefficients));
        }
        if !data.comparison.is_empty() {
            parts.push(self.format_comparison(&data.comparison));
        }
        parts.join("\n")
    }

    /// Names left-aligned, numbers right-aligned, two spaces between. Names are shortened if the
    /// terminal is narrow. Every row has as many cells as the head.
    pub fn format_table(&self, head: &[&str], mut rows: Vec<Vec<String>>) -> String {
        for row in &mut rows {
            row[0] = safe_text(&row[0]);
        }
        let head: Vec<String> = head.iter().map(|&text| text.into()).collect();
        let widest = |column: usize| {
            let cells = std::iter::once(&head).chain(&rows);
            cells.map(|row| row[column].width()).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = (0..head.len()).map(widest).collect();
        let total = widths.iter().sum::<usize>() + 2 * (widths.len() - 1);
        let excess = self.width.map_or(0, |limit| total.saturating_sub(limit));
        widths[0] -= excess.min(widths[0].saturating_sub(6));
        let names: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
        let names = abbreviate_names(&names, widths[0]);
        for (row, name) in rows.iter_mut().zip(names) {
            row[0] = name;
        }
        let mut out = self.paint_text("1", align_cells(&head, &widths).trim_end()) + "\n";
        for row in &rows {
            out += align_cells(row, &widths).trim_end();
            out.push('\n');
        }
        out
    }

    fn paint_text(&self, code: &str, text: &str) -> String {
        match self.color {
            Color::Ansi => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            Color::Plain => text.into(),
        }
    }
}

fn align_cells(row: &[String], widths: &[usize]) -> String {
    let mut out = row[0].clone();
    out += &" ".repeat(widths[0].saturating_sub(out.width()));
    for (cell, width) in row.iter().zip(widths).skip(1) {
        out += &" ".repeat(2 + width.saturating_sub(cell.width()));
        out += cell;
    }
    out
}

/// Text without control characters, so that a name cannot control the terminal.
fn safe_text(text: &str) -> String {
    let shown = |letter: char| {
        if letter.is_control() {
            '\u{fffd}'
        } else {
            letter
        }
    };
    text.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Summary;

    fn coefficients() -> Vec<Coefficient> {
        let known = Summary {
            mcse: Some(0.0019),
            ..Summary::normal_summary(12.345_6, 0.123)
        };
        vec![
            Coefficient::new("Intercept", known),
            Coefficient::new("x", Summary::normal_summary(-0.5, 0.01)),
        ]
    }

    #[test]
    fn numbers_line_up_and_have_the_digits_of_their_error() {
        let table = Style::PLAIN.format_coefficients(&coefficients());
        let expected = "             mean    sd      5%     50%     95%    mcse\n\
                        Intercept   12.35  0.12   12.14   12.35   12.55   0.002\n\
                        x          -0.500 0.010  -0.516  -0.500  -0.484       –\n";
        let squeezed = |text: &str| -> Vec<String> {
            text.lines()
                .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
                .collect()
        };
        assert_eq!(squeezed(&table), squeezed(expected));
        let ends: Vec<usize> = table.lines().map(UnicodeWidthStr::width).collect();
        assert!(ends.windows(2).all(|pair| pair[0] == pair[1]), "{table}");
    }

    #[test]
    fn a_narrow_terminal_shortens_names_and_nothing_else() {
        let mut rows = coefficients();
        rows[0].name = "a_column_with_a_very_long_name_indeed".into();
        let style = Style {
            color: Color::Plain,
            width: Some(60),
        };
        let table = style.format_coefficients(&rows);
        assert!(table.lines().all(|line| line.width() <= 60), "{table}");
        assert!(table.contains("…") && table.contains("12.35"));
    }

    #[test]
    fn plain_text_has_no_escape_sequences_even_from_names() {
        let mut rows = coefficients();
        rows[0].name = "\u{1b}[31mred\u{7}".into();
        assert!(!Style::PLAIN.format_coefficients(&rows).contains('\u{1b}'));
        let colored = Style {
            color: Color::Ansi,
            width: None,
        };
        let text = colored.format_coefficients(&rows);
        assert_eq!(text.matches('\u{1b}').count(), 2);
    }

    #[test]
    fn the_verdict_leads_with_its_level() {
        let verdict = Verdict {
            level: Level::DoNotTrust,
            sentence: "k = 0.93".into(),
            advice: vec!["try --method sl-dais".into()],
        };
        let text = Style::PLAIN.format_verdict(&verdict);
        assert_eq!(
            text,
            "✗ do not trust: k = 0.93\n  hint: try --method sl-dais\n"
        );
    }

    #[test]
    fn something_that_is_no_terminal_gets_plain_text() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(Style::detect(&file), Style::PLAIN);
    }

    #[test]
    fn methods_without_a_test_set_show_a_dash() {
        let method = Comparison {
            method: "mean-field".into(),
            bound: -1234.567,
            se: 0.5,
            seconds: 3.2,
            test_log_likelihood: None,
            pareto_k: Some(0.3),
        };
        let table = Style::PLAIN.format_comparison(&[method]);
        assert!(
            table.contains("-1234.57 ± 0.50") && table.contains('–'),
            "{table}"
        );
    }
}
