//! Plots with their captions and colours, and the words beside them.

use crate::markup::Element;

/// Plots with a caption under them.
pub(super) fn figure_element(plots: Vec<Element>, caption: Vec<Element>) -> Element {
    let caption = Element::new("figcaption").children(caption);
    Element::new("figure").children(plots).child(caption)
}

/// A colour of the plots and what it stands for.
pub(super) fn legend_key(series: &str, words: &str) -> Element {
    let swatch =
        Element::with_class("span", &format!("swatch {series}")).attr("aria-hidden", "true");
    Element::with_class("span", "key").child(swatch).text(words)
}

/// A plot beside an explanation of how to read it.
pub(super) fn explained_figure(
    plot: Element,
    caption: Vec<Element>,
    words: &[String],
) -> Vec<Element> {
    let side = Element::with_class("div", "side prose");
    let side = side.children(words.iter().map(|text| Element::with_text("p", text)));
    let split = Element::with_class("div", "split").child(figure_element(vec![plot], caption));
    vec![split.child(side)]
}
