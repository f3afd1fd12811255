//! `iaf`: the flow's volume and order, its gradients, where it starts, and what it reaches.

use std::sync::Arc;

use faer::Mat;
use lehr_infer::evaluate::evaluate;
use lehr_infer::fit::Fit;
use lehr_infer::guide::{FullRank, Gradient, Guide, Learned, Place, all_blocks};
use lehr_infer::method::{Bent, Flow, Iaf};
use lehr_infer::train::{Iterations, Program, Schedule, compile};
use lehr_model::distribution::{Distribution, HalfNormal, Normal};
use lehr_model::{Bound, Model};
use lehr_numeric::stream::Stream;
use lehr_table::Table;

use crate::model::{Linear, normals, standard};

/// Moves every weight at random, so that no part of the flow is idle.
fn stir(learned: &mut Learned, scale: f64) {
    let mut stream = Stream::new(9, "stir", 0);
    learned
        .values
        .iter_mut()
        .for_each(|w| *w += scale * stream.normal());
}

/// T(x), J(x) and the Jacobian of T, column by column.
fn flowed(flow: Flow, point: &[f64]) -> (f64, Mat<f64>) {
    let size = point.len();
    let density = standard(size);
    let mut learned = Learned::new(flow.blocks(size));
    stir(&mut learned, 0.3);
    let program = compile(&density, &learned, (1, 0), |context| {
        let graph = context.graph();
        let x = graph.input("x", [size]);
        let (y, log_volume) = flow.map(context, x);
        let axes = (0..size).map(|axis| {
            let unit: Vec<f64> = (0..size).map(|i| f64::from(u8::from(i == axis))).collect();
            graph.jvp(&[y], &[x], &[graph.constant([size], &unit)])[0]
        });
        std::iter::once(log_volume).chain(axes).collect()
    });
    let mut program = program.unwrap();
    program.set_learned(&learned.values);
    let slot = program.plan().input_named("x").unwrap();
    program.workspace_mut().set(slot, point);
    program.run();
    let jacobian = Mat::from_fn(size, size, |i, j| program.output(1 + j)[i]);
    (program.output(0)[0], jacobian)
}

#[test]
fn the_volume_is_the_determinant_of_the_jacobian() {
    for layers in [1, 2, 3] {
        let flow = Flow { layers, width: 16 };
        let (log_volume, jacobian) = flowed(flow, &normals(5, 1));
        let expected = jacobian.determinant().ln();
        assert!(
            (log_volume - expected).abs() < 1e-12,
            "{log_volume} for {expected}"
        );
        assert!(log_volume.abs() > 1e-3, "the flow bends");
    }
}

#[test]
fn no_output_of_a_layer_looks_ahead() {
    let (_, jacobian) = flowed(
        Flow {
            layers: 1,
            width: 16,
        },
        &normals(5, 2),
    );
    for i in 0..5 {
        for j in i + 1..5 {
            assert_eq!(jacobian[(i, j)], 0.0, "output {i} by input {j}");
        }
    }
    assert!(jacobian[(4, 0)] != 0.0);
}

fn bent(width: usize) -> Bent {
    Bent {
        base: Arc::new(FullRank { start_scale: 0.4 }),
        flow: Flow { layers: 2, width },
    }
}

#[test]
fn a_flow_starts_exactly_at_its_gaussian() {
    let linear = Linear::conditioned(4, 20.0);
    let (density, frame, bent) = (&linear.density, linear.frame(), bent(8));
    let place = Place {
        density,
        frame: &frame,
    };
    let own = Learned::new(all_blocks(density, &bent));
    let below = Learned::new(all_blocks(density, &bent.base));
    let found = evaluate(place, &bent, &own, (40, 3)).unwrap();
    let expected = evaluate(place, &bent.base, &below, (40, 3)).unwrap();
    assert_eq!(found.latents, expected.latents);
    for (found, expected) in found.log_weights.iter().zip(&expected.log_weights) {
        assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
    }
}

fn bound_at(program: &mut Program, values: &[f64]) -> f64 {
    program.set_learned(values);
    program.run();
    program.output(0)[0]
}

#[test]
fn gradients_of_the_bound_are_those_of_differences() {
    let linear = Linear::conditioned(4, 20.0);
    let (density, bent) = (&linear.density, bent(6));
    let mut learned = Learned::new(all_blocks(density, &bent));
    stir(&mut learned, 0.1);
    let program = compile(density, &learned, (3, 5), |context| {
        let drawn = bent.draw(context, Gradient::Total);
        let at = context.at(drawn.latents);
        let bound = (drawn.log_weight + context.density().log_prior(&at)).mean_lanes();
        let inputs: Vec<_> = learned
            .blocks()
            .iter()
            .map(|b| context.learned(b))
            .collect();
        let slopes = context.graph().grad(bound, &inputs);
        std::iter::once(bound).chain(slopes).collect()
    });
    let mut program = program.unwrap();
    program.fill(lehr_density::Density::source(density), 0);
    let mut values = learned.values.clone();
    bound_at(&mut program, &values);
    let places = learned.blocks().len();
    let slopes: Vec<f64> = (1..=places)
        .flat_map(|k| program.output(k).to_vec())
        .collect();
    for at in (0..values.len()).step_by(7) {
        let here = values[at];
        let mut moved = |by: f64| {
            values[at] = here + by;
            let found = bound_at(&mut program, &values);
            values[at] = here;
            found
        };
        let coarse = (moved(2e-3) - moved(-2e-3)) / 4e-3;
        let fine = (moved(1e-3) - moved(-1e-3)) / 2e-3;
        let expected = (4.0 * fine - coarse) / 3.0;
        let apart = (slopes[at] - expected).abs();
        assert!(
            apart < 1e-7 * (1.0 + expected.abs()),
            "{at}: {} for {expected}",
            slopes[at]
        );
    }
}

/// ln p(y) of [`groups`] by two-dimensional quadrature.
const LOG_EVIDENCE: f64 = -28.571_389;

/// yⱼ ~ N(θⱼ, 1), θⱼ ~ N(μ, τ²), μ ~ N(0, 1), τ ~ HalfNormal(1): a funnel of 22 latents.
fn groups() -> Bound {
    let y = vec![
        1.96, -1.33, 0.80, 0.09, 0.18, 0.35, -0.94, 0.33, -0.12, 2.87, 0.66, 0.25, 0.30, 0.02,
        -0.25, 0.22, 0.84, 0.33, 1.18, 0.36,
    ];
    let codes = (0..20).collect();
    let levels = (0..20).map(|group: u32| group.to_string()).collect();
    let table = Table::new()
        .with_number("y", y)
        .and_then(|t| t.with_category("group", codes, levels))
        .unwrap();
    let model = Model::new(|m| {
        let mean = m.sample("mean", Normal::new(0.0, 1.0));
        let spread = m.sample("spread", HalfNormal::new(1.0));
        let effect = m.sample("effect", Normal::new(mean, spread).expand([20]));
        m.rows(|row| row.observe("y", Normal::new(effect.at(row.index("group")), 1.0)));
    });
    model.bind(&table).unwrap()
}

#[test]
fn a_funnel_is_fitted_to_a_third_of_a_nat() {
    // The best full-rank bound is 1.52 nats below the evidence.
    let mut method = Iaf::default();
    method.variational.train.iterations = Iterations::Fixed(2500);
    method.variational.train.lanes = 64;
    let rates = vec![(0, 2e-3), (1500, 6e-4), (2200, 1e-4)];
    method.variational.train.schedule = Schedule::Table(rates);
    let posterior = Fit::new(method).seed(1).draws(4000).run(&groups()).unwrap();
    let bound = posterior.bound().unwrap();
    let gap = LOG_EVIDENCE - bound.mean;
    assert!(gap > -4.0 * bound.error, "{bound:?} is no bound");
    assert!(gap < 0.35, "{gap} nats below the evidence");
}
