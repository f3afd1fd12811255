//! Pairs of numbers: dots when few, shaded hexagons when many.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::markup::{Element, format_unit};

use super::dot_element;
use super::frame::{Caption, Frame};
use super::scale::Scale;

/// Pairs to be drawn, with their labels.
pub(crate) struct Cloud<'a> {
    pub(crate) title: &'a str,
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) x: &'a str,
    pub(crate) y: &'a str,
    /// Width and height in units.
    pub(crate) size: (f64, f64),
    /// A horizontal reference line.
    pub(crate) rule: Option<f64>,
}

/// Larger numbers of pairs are counted in hexagons.
const DOTS: usize = 300;
/// Units from a hexagon's centre to its tip.
const RADIUS: f64 = 4.6;
/// Shades of the hexagons.
const SHADES: usize = 6;

/// Draws a cloud of pairs.
pub(crate) fn plot_cloud(cloud: &Cloud) -> Element {
    let finite = |point: &&(f64, f64)| point.0.is_finite() && point.1.is_finite();
    let points: Vec<(f64, f64)> = cloud.points.iter().filter(finite).copied().collect();
    let caption = Caption {
        title: cloud.title,
        description: format!("{} pairs of {} and {}", points.len(), cloud.x, cloud.y),
        x: cloud.x,
        y: cloud.y,
    };
    let x = Scale::fit_values(points.iter().map(|point| point.0));
    let y = Scale::fit_values(points.iter().map(|point| point.1));
    let mut frame = Frame::new(cloud.size, x, y, &caption);
    let places = frame.points_at(points.iter().copied());
    if places.len() > DOTS {
        draw_hexagons(&mut frame, &places);
    } else {
        for place in places {
            frame.push_mark(dot_element("speck", place, 1.8));
        }
    }
    if let Some(rule) = cloud.rule.filter(|rule| frame.y.contains(*rule)) {
        frame.push_rule("zero", rule);
    }
    frame.svg
}

/// One path per shade, so that a cloud costs a few kilobytes whatever its size.
fn draw_hexagons(frame: &mut Frame, places: &[(f64, f64)]) {
    let counts = count_cells(places, RADIUS);
    let most = counts.values().copied().max().unwrap_or(1) as f64;
    let mut paths = vec![String::new(); SHADES];
    for (cell, count) in &counts {
        // Shades are proportional to the root of the count, so that sparse edges stay visible.
        let share = (*count as f64 / most).sqrt();
        let shade = ((share * SHADES as f64).ceil() as usize).clamp(1, SHADES) - 1;
        outline_cell(&mut paths[shade], cell_center(*cell, RADIUS), RADIUS);
    }
    for (shade, path) in paths.into_iter().enumerate() {
        if !path.is_empty() {
            let class = format!("hex shade{}", shade + 1);
            frame.push_mark(Element::with_class("path", &class).attr("d", path));
        }
    }
}

/// How many places fall into each hexagon, by its row and half-column.
fn count_cells(places: &[(f64, f64)], radius: f64) -> BTreeMap<(i32, i32), usize> {
    let mut counts = BTreeMap::new();
    for place in places {
        *counts.entry(cell_of(*place, radius)).or_insert(0) += 1;
    }
    counts
}

/// The hexagon whose centre is nearest: it is in one of two rectangular grids.
fn cell_of(place: (f64, f64), radius: f64) -> (i32, i32) {
    let (width, height) = (radius * 3f64.sqrt(), radius * 1.5);
    let row = place.1 / height;
    let candidates = [row.floor() as i32, row.ceil() as i32].map(|row| {
        let shift = f64::from(row.rem_euclid(2)) * 0.5;
        (row, (place.0 / width - shift).round() as i32)
    });
    let distance = |cell: (i32, i32)| {
        let center = cell_center(cell, radius);
        (center.0 - place.0).powi(2) + (center.1 - place.1).powi(2)
    };
    if distance(candidates[0]) <= distance(candidates[1]) {
        candidates[0]
    } else {
        candidates[1]
    }
}

fn cell_center((row, column): (i32, i32), radius: f64) -> (f64, f64) {
    let shift = f64::from(row.rem_euclid(2)) * 0.5;
    let x = (f64::from(column) + shift) * radius * 3f64.sqrt();
    (x, f64::from(row) * radius * 1.5)
}

/// Appends a hexagon that stands on its tip, in relative steps.
fn outline_cell(path: &mut String, (x, y): (f64, f64), radius: f64) {
    let half = radius * 3f64.sqrt() / 2.0;
    let (h, r) = (format_unit(half), format_unit(radius / 2.0));
    let (x, y) = (format_unit(x), format_unit(y - radius));
    let side = format_unit(radius);
    let _ = write!(path, "M{x} {y}l{h} {r}v{side}l-{h} {r}l-{h} -{r}v-{side}z");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_in_the_hexagon_nearest_to_it() {
        for index in 0..500 {
            let place = (f64::from(index % 23) * 1.37, f64::from(index / 23) * 0.91);
            let own = cell_center(cell_of(place, 3.0), 3.0);
            let far = (own.0 - place.0).hypot(own.1 - place.1);
            assert!(far <= 3.0 + 1e-9, "{place:?} is {far} from {own:?}");
        }
    }

    #[test]
    fn no_place_is_lost() {
        let places: Vec<_> = (0..1000)
            .map(|i| (f64::from(i % 40), f64::from(i / 40)))
            .collect();
        assert_eq!(count_cells(&places, 2.0).values().sum::<usize>(), 1000);
    }
}
