//! Which models read the latents through linear predictors.

use lehr_density::{Density, Point, RowSet, Rows};
use lehr_graph::Graph;
use lehr_graph::reference::evaluate;
use lehr_model::Model;
use lehr_model::distribution::{Distribution, HalfNormal, Normal};

use crate::{X, bind, multilevel, near, row_values, table};

/// How many predictors the model has, if it knows any.
fn predictors(model: &Model, latents: usize) -> Option<usize> {
    let bound = bind(model, &table());
    let graph = Graph::new();
    let point = Point::new(graph.laned_input("z", [latents]), graph.input("theta", [0]));
    let rows = Rows::inputs(&graph, bound.columns(), 4, "");
    let linear = bound.linear()?;
    let found = linear.predictors(&point, &rows);
    Some(found.rows.len() + found.shared.len())
}

#[test]
fn a_regression_has_its_predictor_and_its_noise() {
    let model = Model::new(|m| {
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([2]));
        let noise = m.sample("noise", HalfNormal::new(1.0));
        m.rows(|row| row.observe("y", Normal::new(row.matrix("x").dot(weight), noise)));
    });
    let bound = bind(&model, &table());
    let graph = Graph::new();
    let point = Point::new(graph.input("z", [3]), graph.input("theta", [0]));
    let rows = Rows::inputs(&graph, bound.columns(), 4, "");
    let found = bound.linear().unwrap().predictors(&point, &rows);
    let values =
        row_values(&bound, &rows, &RowSet::Range(0..4)).with(point.latents, &[0.5, 2.0, 0.3]);
    let numbers = evaluate(&found.rows, &values, 1);
    assert_eq!(numbers.len(), 1);
    near(numbers[0][3], X[6] * 0.5 + X[7] * 2.0);
    assert_eq!(found.shared, [2]);
}

#[test]
fn grouped_effects_are_linear_centred_and_not_otherwise() {
    assert_eq!(predictors(&multilevel(), 6), Some(1));
    let many = Model::new(|m| {
        let scale = m.sample("scale", HalfNormal::new(1.0));
        let effect = m.group_effect("effect", 40, scale);
        m.rows(|row| row.observe("y", Normal::new(effect.at(row.index("group")), 1.0)));
    });
    assert_eq!(predictors(&many, 41), None);
}
