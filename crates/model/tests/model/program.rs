//! A recorded model: printed, saved, loaded, bound again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lehr_density::{Density, Point, Predictive, Predictor, RowSet, Rows, Support};
use lehr_graph::Graph;
use lehr_graph::reference::evaluate;
use lehr_model::distribution::{
    Bernoulli, Categorical, Distribution, FAMILIES, Gamma, HalfNormal, LkjCholesky,
    MultivariateNormal, Normal, Poisson, ZeroInflated, find_family,
};
use lehr_model::{Bound, Model, Program, Schema};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::{at_point, bind, multilevel, near, row_values, table};

/// A model with every kind of statement.
fn rich() -> Model {
    Model::new(|m| {
        let start = m.graph().constant([2, 2], &[0.5, 1.0, 1.5, 2.0]);
        let theta = m.param("theta", start, Support::Positive);
        let factor = m.sample("factor", LkjCholesky::new(2, 2.0));
        let weight = m.sample("weight", MultivariateNormal::new([0.0, 0.0], factor));
        let scale = m.sample("scale", HalfNormal::new(theta.sum()));
        let effect = m.group_effect("effect", m.levels("group"), scale);
        m.factor("pull", -0.5 * weight.square().sum());
        m.rows(|row| {
            let at = row.matrix("x").dot(weight) + effect.at(row.index("group"));
            let logits = [row.filled_rows(0.0), at, -at].map(|e| e.reshape(row.batch_shape(&[1])));
            row.observe(
                "y",
                ZeroInflated::with_gate_logit(Poisson::with_log_rate(at), 0.5),
            );
            let logits = m.graph().concat(&logits, 1);
            row.observe("group", Categorical::with_logits(logits));
        });
    })
}

/// The log density of all rows and its gradient, to the last bit.
fn numbers(bound: &Bound) -> Vec<Vec<u64>> {
    let graph = Graph::new();
    let (z, theta) = (bound.latents().size(), bound.params().size());
    let point = Point::new(graph.input("z", [z]), graph.input("theta", [theta]));
    let set = RowSet::Range(0..bound.n_rows());
    let rows = Rows::inputs(&graph, bound.columns(), set.len(), "");
    let density = bound.log_prior(&point) + bound.log_likelihood(&point, &rows).sum();
    let mut outputs = graph.grad(density, &[point.latents, point.params]);
    outputs.push(density);
    outputs.extend(
        bound
            .deterministics(&point)
            .into_iter()
            .map(|(_, value)| value),
    );
    let at: Vec<f64> = (0..z).map(|k| 0.3 * (k as f64 - 2.0)).collect();
    let values = row_values(bound, &rows, &set)
        .with(point.latents, &at)
        .with(point.params, &vec![0.1; theta]);
    let found = evaluate(&outputs, &values, 1).into_iter();
    found
        .map(|values| values.into_iter().map(f64::to_bits).collect())
        .collect()
}

#[test]
fn a_program_survives_bytes_to_the_last_bit() {
    for model in [rich(), multilevel()] {
        let bound = bind(&model, &table());
        let bytes = bound.origin().unwrap();
        let program = Program::from_stored(&bytes).unwrap();
        assert_eq!(&program, bound.program());
        assert_eq!(program.to_string(), bound.program().to_string());
        let again = program.bind(&table()).unwrap();
        assert_eq!(numbers(&again), numbers(&bound));
    }
}

#[test]
fn a_loaded_program_predicts_as_the_model_does() {
    let bound = bind(&rich(), &table());
    let program = Program::from_bytes(&bound.program().to_bytes()).unwrap();
    let again = program.bind(&table()).unwrap();
    let draws = |bound: &Bound| {
        let mut random = ChaCha8Rng::seed_from_u64(4);
        let prior = bound.prior_predictive(&mut random).unwrap();
        let z = bound
            .draw_prior(bound.params().start(), &mut random)
            .unwrap();
        let means = Predictor::of_all_rows(bound).means(&z, bound.params().start());
        (prior, means)
    };
    assert_eq!(draws(&again), draws(&bound));
}

#[test]
fn the_function_of_a_model_runs_once() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&runs);
    let model = Model::new(move |m| {
        counter.fetch_add(1, Ordering::Relaxed);
        let mean = m.sample("mean", Normal::new(0.0, 1.0));
        m.rows(|row| row.observe("y", Bernoulli::with_logit(mean)));
    });
    let bound = bind(&model, &table());
    let _ = numbers(&bound);
    let _ = bound.linear().is_some();
    let _ = bound
        .prior_predictive(&mut ChaCha8Rng::seed_from_u64(1))
        .unwrap();
    assert_eq!(runs.load(Ordering::Relaxed), 1);
}

#[test]
fn a_program_prints_a_line_per_statement() {
    let schema = Schema::new()
        .number("y")
        .matrix("x", 28)
        .index("g", 5)
        .number("w");
    let model = Model::new(|m| {
        let noise = m.param("noise", 0.5, Support::Positive);
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([28]));
        let effect = m.group_effect("effect", m.levels("g"), noise);
        m.factor("pull", -0.5 * weight.square().sum());
        m.rows(|row| {
            row.weight("w");
            let own = row.local("own", Gamma::new(2.0, 2.0));
            let mean = row.matrix("x").dot(weight) + effect.at(row.index("g"));
            row.observe("y", Normal::new(mean, noise / own.sqrt()));
        });
    });
    let program = model.record(&schema).unwrap();
    assert_eq!(
        program.to_string(),
        "noise: a parameter, positive, from 0.5\n\
         weight ~ Normal(loc = 0, scale = 1), shape [28]\n\
         effect_raw ~ Normal(loc = 0, scale = 1), shape [5]\n\
         effect = effect_raw * noise, shape [5]\n\
         pull: a factor, -0.5 * sum(weight²)\n\
         w: the weight of each row\n\
         own ~ Gamma(shape = 2, rate = 2) in each row\n\
         y ~ Normal(loc = x · weight + effect[g], scale = noise / sqrt(own)) in each row"
    );
}

#[test]
fn arrays_of_constants_of_any_rank_start_parameters() {
    let model = Model::new(|m| {
        let start = m
            .graph()
            .constant([2, 2], &[0.5, 1.0, 1.5, 2.0])
            .transpose();
        let scale = m.param("scale", start, Support::Positive);
        let copies = m.param("copies", m.graph().full([2, 3], 0.25), Support::Real);
        m.sample("mean", Normal::new(copies.sum(), 1.0));
        m.rows(|row| row.observe("y", Bernoulli::with_logit(scale.sum())));
    });
    let bound = bind(&model, &table());
    let sites = bound.params().sites();
    assert_eq!(sites[0].start.as_deref(), Some(&[0.5, 1.5, 1.0, 2.0][..]));
    assert_eq!(sites[1].start.as_deref(), Some(&[0.25; 6][..]));
    let mistaken = Model::new(|m| {
        let mean = m.sample("mean", Normal::new(0.0, 1.0));
        m.param("theta", mean, Support::Real);
        m.rows(|row| row.observe("y", Bernoulli::with_logit(mean)));
    });
    let error = mistaken.bind(&table()).unwrap_err().to_string();
    assert_eq!(error, "site \"theta\": expected 1 values, found 0");
}

#[test]
fn quantities_are_computed_from_a_loaded_program() {
    let bytes = bind(&rich(), &table()).program().to_bytes();
    let bound = Program::from_bytes(&bytes).unwrap().bind(&table()).unwrap();
    let graph = Graph::new();
    let point = Point::new(graph.input("z", [7]), graph.input("theta", [4]));
    let named = bound.deterministics(&point);
    assert_eq!(named[0].0, "effect");
    let z = [0.0, 0.0, 0.0, 0.5, 1.0, 2.0, 3.0];
    let found = at_point(&[named[0].1], &point, &z, &[0.0; 4]);
    for (found, raw) in found[0].iter().zip([1.0, 2.0, 3.0]) {
        near(*found, raw * 0.5_f64.exp());
    }
}

#[test]
fn damaged_bytes_are_refused_or_still_a_program() {
    let bytes = bind(&rich(), &table()).program().to_bytes();
    for place in 0..bytes.len() {
        assert!(Program::from_bytes(&bytes[..place]).is_err());
        for flip in [0x01, 0x08, 0x80] {
            let mut damaged = bytes.clone();
            damaged[place] ^= flip;
            if let Ok(program) = Program::from_bytes(&damaged) {
                let _ = program.to_string();
                let _ = program.bind(&table());
            }
        }
    }
    let text = Program::from_bytes(&[]).unwrap_err().to_string();
    assert!(
        text.starts_with("the stored model cannot be read: "),
        "{text}"
    );
}

#[test]
fn a_table_of_another_schema_is_refused() {
    let program = bind(&multilevel(), &table()).program().clone();
    let mut other = table();
    other
        .replace("x", lehr_table::Column::Number(vec![0.0; 4]))
        .unwrap();
    assert_eq!(
        program.bind(&other).unwrap_err().to_string(),
        "column \"x\": expected the type the model was bound with, found a number\n  \
         hint: it was 2 numbers per row then"
    );
}

#[test]
fn families_are_found_by_their_names() {
    for known in FAMILIES {
        let found = find_family(known.name()).map(|family| family.name().to_owned());
        assert_eq!(found.as_deref(), Some(known.name()));
    }
    assert!(find_family("Nobody's").is_none());
}
