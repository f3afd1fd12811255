//! Smooth functions: a curve with its band, or a map with a map of its uncertainty.

use crate::markup::Element;
use crate::plot::{Function, Surface, plot_function, plot_surface};
use crate::{FittedFunction, FunctionShape};

use super::figure::{figure_element, legend_key};

/// The most functions that are drawn.
const MOST: usize = 24;

/// One figure per function, two for those of two columns.
pub(super) fn function_content(functions: &[FittedFunction]) -> Vec<Element> {
    let words = "What each function adds to the linear predictor, less its mean over the rows, \
                 which the intercept has as well. A function that a column multiplies is shown as \
                 it is.";
    let figures = functions.iter().take(MOST).flat_map(draw_function);
    vec![
        Element::with_class("p", "lead").text(words),
        Element::with_class("div", "split").children(figures),
    ]
}

/// The name of a function with its level and class.
fn function_title(of: &FittedFunction) -> String {
    let mut title = of.name.clone();
    if let Some(level) = &of.level {
        title = format!("{title}, {level}");
    }
    if let Some(class) = &of.class {
        title = format!("{title} for {class}");
    }
    title
}

fn draw_function(of: &FittedFunction) -> Vec<Element> {
    let title = function_title(of);
    match &of.shape {
        FunctionShape::Curve {
            x,
            mean,
            low,
            high,
            places,
        } => {
            let plot = plot_function(&Function {
                title: &title,
                input: of.inputs.first().map_or("", String::as_str),
                x,
                mean,
                low,
                high,
                places,
            });
            let caption = vec![
                legend_key("one", "mean"),
                legend_key("one faint", "90 % interval"),
                legend_key("bar", "rows"),
            ];
            vec![figure_element(vec![plot], caption)]
        }
        FunctionShape::Surface {
            x,
            y,
            mean,
            sd,
            places,
        } => {
            let map = |title: &str, values: &[f64]| {
                plot_surface(&Surface {
                    title,
                    inputs: [0, 1].map(|place| of.inputs.get(place).map_or("", String::as_str)),
                    x,
                    y,
                    values,
                    places,
                })
            };
            let words = |text: String| vec![Element::with_text("span", text)];
            let spread = format!("standard deviation of {title}");
            vec![
                figure_element(
                    vec![map(&title, mean)],
                    words(format!("{title}: mean. Dots are rows.")),
                ),
                figure_element(
                    vec![map(&spread, sd)],
                    words(format!("{title}: standard deviation.")),
                ),
            ]
        }
    }
}
