//! Plots with their captions and colours, and the words beside them.

use std::fmt::Display;

use crate::markup::Element;

/// Plots with a caption under them.
pub(super) fn figure_element(
    plots: impl IntoIterator<Item = Element>,
    caption: impl IntoIterator<Item = Element>,
) -> Element {
    let caption = Element::new("figcaption").children(caption);
    Element::new("figure").children(plots).child(caption)
}

/// Words of a caption.
pub(super) fn span(words: impl Display) -> Element {
    Element::with_text("span", words)
}

/// A colour of the plots and what it stands for.
pub(super) fn legend_key(series: &str, words: &str) -> Element {
    let swatch = Element::with_class("span", &format!("swatch {series}"));
    let swatch = swatch.attr("aria-hidden", "true");
    Element::with_class("span", "key").child(swatch).text(words)
}

/// A plot beside an explanation of how to read it.
pub(super) fn explained_figure(
    plot: Element,
    caption: impl IntoIterator<Item = Element>,
    words: impl IntoIterator<Item = impl Display>,
) -> Vec<Element> {
    let side = Element::with_class("div", "side prose");
    let side = side.children(words.into_iter().map(|text| Element::with_text("p", text)));
    vec![Element::with_class("div", "split").children([figure_element([plot], caption), side])]
}
