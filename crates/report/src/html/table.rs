//! Tables of the page: names to the left, numbers to the right, scrolling when too wide.

use crate::markup::Element;
use crate::number::{group_digits, print_minus};

/// A table whose first column is names and whose others are numbers.
pub(crate) fn number_table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Element {
    let printed = |row: Vec<String>| {
        let mut cells = row.into_iter();
        let name = cells.next().into_iter();
        name.chain(cells.map(|cell| print_minus(&group_digits(&cell))))
            .collect()
    };
    build_table("table", head, rows.into_iter().map(printed))
}

/// A table of words.
pub(crate) fn word_table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Element {
    build_table("table words", head, rows)
}

fn build_table(class: &str, head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Element {
    let titles = head.iter().map(|text| {
        let cell = Element::new("th").attr("scope", "col");
        cell.text(text)
    });
    let row = |cells: Vec<String>| {
        let mut cells = cells.into_iter();
        let name = cells.next().unwrap_or_default();
        let first = Element::new("th").attr("scope", "row").text(name);
        let rest = cells.map(|cell| Element::with_text("td", cell));
        Element::new("tr").child(first).children(rest)
    };
    let table = Element::new("table")
        .child(Element::new("thead").child(Element::new("tr").children(titles)))
        .child(Element::new("tbody").children(rows.into_iter().map(row)));
    // A region that scrolls must be reachable by keyboard.
    let frame = Element::with_class("div", class).attr("tabindex", "0");
    frame
        .attr("role", "region")
        .attr("aria-label", "table")
        .child(table)
}
