//! Elements that escape their content, so that a user's text never becomes markup.

use std::fmt::{Display, Write};

/// Elements without content, in a form that both HTML and XML accept.
const VOID: [&str; 10] = [
    "meta", "link", "br", "hr", "line", "path", "circle", "rect", "polyline", "polygon",
];

/// One element of HTML or SVG with its attributes and children.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    children: Vec<Node>,
}

#[derive(Clone, Debug)]
enum Node {
    Element(Element),
    Text(String),
    /// Text of this crate in which escapes are not interpreted: the style sheet.
    Verbatim(&'static str),
}

impl Element {
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            name,
            attributes: Vec::new(),
            children: Vec::new(),
        }
    }

    /// An element with a class.
    pub(crate) fn with_class(name: &'static str, class: &str) -> Self {
        Self::new(name).attr("class", class)
    }

    /// An element around text alone.
    pub(crate) fn with_text(name: &'static str, text: impl Display) -> Self {
        Self::new(name).text(text)
    }

    pub(crate) fn attr(mut self, key: &'static str, value: impl Display) -> Self {
        self.attributes.push((key, value.to_string()));
        self
    }

    /// An attribute in units of a picture, to a tenth.
    pub(crate) fn with_coordinate(self, key: &'static str, value: f64) -> Self {
        let value = format_unit(value);
        self.attr(key, value)
    }

    pub(crate) fn text(mut self, text: impl Display) -> Self {
        self.children.push(Node::Text(text.to_string()));
        self
    }

    pub(crate) fn verbatim(mut self, text: &'static str) -> Self {
        self.children.push(Node::Verbatim(text));
        self
    }

    pub(crate) fn child(mut self, child: Self) -> Self {
        self.children.push(Node::Element(child));
        self
    }

    pub(crate) fn children(mut self, children: impl IntoIterator<Item = Self>) -> Self {
        self.children
            .extend(children.into_iter().map(Node::Element));
        self
    }

    pub(crate) fn push(&mut self, child: Self) {
        self.children.push(Node::Element(child));
    }

    /// Appends the element as text.
    pub(crate) fn render_into(&self, out: &mut String) {
        let _ = write!(out, "<{}", self.name);
        for (key, value) in &self.attributes {
            let _ = write!(out, " {key}=\"");
            escape_into(value, out);
            out.push('"');
        }
        if VOID.contains(&self.name) && self.children.is_empty() {
            out.push_str("/>");
            return;
        }
        out.push('>');
        for child in &self.children {
            match child {
                Node::Element(element) => element.render_into(out),
                Node::Text(text) => escape_into(text, out),
                Node::Verbatim(text) => out.push_str(text),
            }
        }
        let _ = write!(out, "</{}>", self.name);
    }
}

/// A coordinate to a tenth of a unit. Smaller differences are invisible and only enlarge the page.
pub(crate) fn format_unit(value: f64) -> String {
    let rounded = (value.clamp(-1e5, 1e5) * 10.0).round() / 10.0;
    if rounded.is_finite() {
        // Adding zero turns −0 into 0.
        format!("{}", rounded + 0.0)
    } else {
        "0".into()
    }
}

/// Appends text in escaped form, so that HTML or XML shows exactly that text. Characters that XML
/// forbids become U+FFFD.
fn escape_into(text: &str, out: &mut String) {
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(letter),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ if letter.is_control() => out.push('\u{fffd}'),
            _ => out.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(element: &Element) -> String {
        let mut out = String::new();
        element.render_into(&mut out);
        out
    }

    #[test]
    fn text_and_attributes_are_escaped() {
        let element = Element::new("p")
            .attr("title", "a\"b'c<d>")
            .text("x & <y>\0");
        assert_eq!(
            rendered(&element),
            "<p title=\"a&quot;b&#39;c&lt;d&gt;\">x &amp; &lt;y&gt;\u{fffd}</p>"
        );
    }

    #[test]
    fn only_empty_elements_close_themselves() {
        assert_eq!(rendered(&Element::new("td")), "<td></td>");
        assert_eq!(
            rendered(&Element::new("line").with_coordinate("x1", -0.01)),
            "<line x1=\"0\"/>"
        );
    }

    #[test]
    fn coordinates_that_are_no_numbers_stay_readable() {
        assert_eq!(format_unit(f64::NAN), "0");
        assert_eq!(format_unit(12.34), "12.3");
        assert_eq!(format_unit(12.0), "12");
    }
}
