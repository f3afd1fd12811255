//! Smooth functions: a curve with its band, or a map with a map of its uncertainty.

use crate::markup::Element;
use crate::plot::{SurfaceValues, plot_function, plot_surface};
use crate::{FittedFunction, FunctionShape};

use super::figure::{figure_element, legend_key, span};

/// The most functions that are drawn.
const MOST: usize = 24;

/// One figure per function, two for those of two columns.
pub(super) fn function_content(functions: &[FittedFunction]) -> Vec<Element> {
    if functions.is_empty() {
        return Vec::new();
    }
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
    let level = of.level.iter().map(|level| format!(", {level}"));
    let class = of.class.iter().map(|class| format!(" for {class}"));
    of.name.clone() + &level.chain(class).collect::<String>()
}

fn draw_function(of: &FittedFunction) -> Vec<Element> {
    let title = function_title(of);
    let [x, y] = [0, 1].map(|place| of.inputs.get(place).map_or("", String::as_str));
    match &of.shape {
        FunctionShape::Curve(curve) => {
            let caption = [
                legend_key("one", "mean"),
                legend_key("one faint", "90 % interval"),
                legend_key("bar", "rows"),
            ];
            vec![figure_element([plot_function(&title, x, curve)], caption)]
        }
        FunctionShape::Surface(grid) => {
            let map = |title: &str, values: &[f64], words: String| {
                let plot = plot_surface(title, [x, y], SurfaceValues { grid, values });
                figure_element([plot], [span(words)])
            };
            let spread = format!("standard deviation of {title}");
            vec![
                map(&title, &grid.mean, format!("{title}: mean. Dots are rows.")),
                map(&spread, &grid.sd, format!("{title}: standard deviation.")),
            ]
        }
    }
}
