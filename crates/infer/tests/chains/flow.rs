//! Flows: their volume and order, their gradients alone and below a chain, their starts, and their
//! bounds.

use std::sync::Arc;

use faer::Mat;
use lehr_graph::Expr;
use lehr_infer::annealed::{AnnealedGuide, AnnealedStart, Drive, Momentum};
use lehr_infer::draw::evaluate;
use lehr_infer::fit::Fit;
use lehr_infer::guide::{
    Autoregressive, BASES, Base, BlockNeural, Context, Flow, FlowBase, FullRank, Guide, Image,
    LearnedBlocks, WhitenedDensity, all_blocks,
};
use lehr_infer::method::{self, Bnaf, Iaf, Method, VariationalSettings};
use lehr_infer::program::{Program, compile};
use lehr_infer::train::{Iterations, Schedule};
use lehr_model::distribution::{Distribution, HalfNormal, Normal};
use lehr_model::{Bound, Model};
use lehr_numeric::stream::Stream;
use lehr_table::Table;

use crate::model::{Linear, normals, standard};

/// Moves every weight at random, so that every part of the flow has an effect.
fn stir(learned: &mut LearnedBlocks, scale: f64) {
    let mut stream = Stream::new(9, "stir", 0);
    learned
        .values
        .iter_mut()
        .for_each(|w| *w += scale * stream.normal());
}

/// A flow of `size` numbers with random weights.
fn stirred(flow: &impl Flow, size: usize) -> LearnedBlocks {
    let mut learned = LearnedBlocks::new(flow.blocks(size));
    stir(&mut learned, 0.3);
    learned
}

fn image<'g>(flow: &impl Flow, context: &Context<'g, '_>, x: Expr<'g>) -> Image<'g> {
    let blocks = flow.blocks(x.shape().size());
    let weights: Vec<Expr<'g>> = blocks.iter().map(|block| context.learned(block)).collect();
    flow.write(context, &weights).apply(x)
}

/// J(x) and the Jacobian of T.
fn flowed(flow: &impl Flow, point: &[f64]) -> (f64, Mat<f64>) {
    let size = point.len();
    let (density, learned) = (standard(size), stirred(flow, size));
    let program = compile(&density, &learned, (1, 0), |context| {
        let graph = context.graph();
        let x = graph.input("x", [size]);
        let image = image(flow, context, x);
        let axes = (0..size).map(|axis| {
            let unit: Vec<f64> = (0..size).map(|i| f64::from(u8::from(i == axis))).collect();
            graph.jvp(&[image.latents], &[x], &[graph.constant([size], &unit)])[0]
        });
        std::iter::once(image.log_volume).chain(axes).collect()
    });
    let mut program = program.unwrap();
    program.set_learned(&learned.values);
    let slot = program.plan().input_named("x").unwrap();
    program.workspace_mut().set(slot, point);
    program.run();
    let jacobian = Mat::from_fn(size, size, |i, j| program.output(1 + j)[i]);
    (program.output(0)[0], jacobian)
}

fn layers(layers: usize) -> Autoregressive {
    Autoregressive { layers, width: 16 }
}

fn blocks(gated: bool) -> BlockNeural {
    BlockNeural { units: 4, gated }
}

fn assert_volume(flow: &impl Flow) {
    let (log_volume, jacobian) = flowed(flow, &normals(5, 1));
    let expected = jacobian.determinant().ln();
    let apart = (log_volume - expected).abs();
    assert!(apart < 1e-12, "{log_volume} for {expected} of {flow:?}");
    assert!(log_volume.abs() > 1e-3, "{flow:?} bends");
}

#[test]
fn the_volume_is_the_determinant_of_the_jacobian() {
    for count in [1, 2, 3] {
        assert_volume(&layers(count));
    }
    assert_volume(&blocks(true));
    assert_volume(&blocks(false));
}

fn assert_looks_back(flow: &impl Flow) {
    let (_, jacobian) = flowed(flow, &normals(5, 2));
    for i in 0..5 {
        for j in i + 1..5 {
            assert_eq!(jacobian[(i, j)], 0.0, "output {i} by input {j}");
        }
    }
    assert!(jacobian[(4, 0)] != 0.0);
}

#[test]
fn no_output_of_a_layer_looks_ahead() {
    assert_looks_back(&layers(1));
    assert_looks_back(&blocks(true));
    assert_looks_back(&blocks(false));
}

/// T and J at many points of two numbers.
struct Planar {
    program: Program,
    points: usize,
}

impl Planar {
    fn new(flow: &impl Flow, points: usize) -> Planar {
        let (density, learned) = (standard(2), stirred(flow, 2));
        let program = compile(&density, &learned, (points, 0), |context| {
            let x = context.graph().laned_input("x", [2]);
            let image = image(flow, context, x);
            vec![image.latents, image.log_volume]
        });
        let mut program = program.unwrap();
        program.set_learned(&learned.values);
        Planar { program, points }
    }

    fn run(&mut self, x: &[f64]) -> (&[f64], &[f64]) {
        let slot = self.program.plan().input_named("x").unwrap();
        self.program.workspace_mut().set(slot, x);
        self.program.run();
        (self.program.output(0), self.program.output(1))
    }

    /// x with T(x) = y: the first number by bisection, then the second given it.
    fn inverse(&mut self, y: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; 2 * self.points];
        for axis in 0..2 {
            let mut limits = vec![(-60.0, 60.0); self.points];
            for _ in 0..56 {
                for (point, (low, high)) in limits.iter().enumerate() {
                    x[2 * point + axis] = 0.5 * (low + high);
                }
                let found = self.run(&x).0.to_vec();
                for (point, (low, high)) in limits.iter_mut().enumerate() {
                    let at = 2 * point + axis;
                    *(if found[at] < y[at] { low } else { high }) = x[at];
                }
            }
        }
        x
    }
}

/// ∫ q(y) dy over a square that holds all but 10⁻⁶ of it.
fn mass(flow: &impl Flow, half_width: f64) -> f64 {
    let steps = 140;
    let spacing = 2.0 * half_width / f64::from(steps);
    let axis = |k: i32| f64::from(k) * spacing - half_width;
    let y: Vec<f64> = (0..=steps)
        .flat_map(|i| (0..=steps).flat_map(move |j| [axis(i), axis(j)]))
        .collect();
    let mut planar = Planar::new(flow, y.len() / 2);
    let x = planar.inverse(&y);
    let log_volumes = planar.run(&x).1.to_vec();
    let density = |(x, log_volume): (&[f64], &f64)| {
        let square = x[0] * x[0] + x[1] * x[1];
        (-0.5 * square - log_volume).exp() / std::f64::consts::TAU
    };
    let sum: f64 = x.chunks_exact(2).zip(&log_volumes).map(density).sum();
    sum * spacing * spacing
}

#[test]
fn a_flow_of_two_numbers_has_mass_one() {
    for found in [mass(&layers(1), 14.0), mass(&blocks(true), 9.0)] {
        assert!((found - 1.0).abs() < 1e-5, "{found}");
    }
}

#[test]
fn a_block_flow_has_as_many_weights_as_it_should() {
    let flow = BlockNeural {
        gated: false,
        ..BlockNeural::default()
    };
    for (size, expected) in [(19, 29_526), (29, 68_266), (55, 243_870)] {
        assert_eq!(LearnedBlocks::new(flow.blocks(size)).values.len(), expected);
    }
}

fn bent<F: Flow>(flow: F) -> FlowBase<F> {
    FlowBase {
        base: Arc::new(FullRank { start_scale: 0.4 }),
        flow,
    }
}

/// Draws of a guide at its start, and their log weights.
fn drawn(linear: &Linear, guide: &dyn Guide) -> (Vec<f64>, Vec<f64>) {
    let whitening = linear.whitening();
    let place = WhitenedDensity::new(&linear.density, &whitening);
    let learned = LearnedBlocks::new(all_blocks(&linear.density, guide));
    let found = evaluate(place, guide, &learned, (40, 3)).unwrap();
    (found.latents, found.log_weights)
}

#[test]
fn a_flow_starts_exactly_at_its_gaussian() {
    let linear = Linear::conditioned(4, 20.0);
    let bent = bent(layers(2));
    let (found, expected) = (drawn(&linear, &bent), drawn(&linear, bent.base.as_ref()));
    assert_eq!(found.0, expected.0);
    for (found, expected) in found.1.iter().zip(&expected.1) {
        assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
    }
}

#[test]
fn a_gate_starts_a_block_flow_near_its_gaussian() {
    let linear = Linear::conditioned(4, 20.0);
    let bent = bent(BlockNeural::default());
    let (found, expected) = (drawn(&linear, &bent), drawn(&linear, bent.base.as_ref()));
    for (found, expected) in found.1.iter().zip(&expected.1) {
        let apart = (found - expected).abs();
        assert!(apart > 0.0 && apart < 0.5, "{found} for {expected}");
    }
}

/// A chain with `steps` steps on a base, driven by all rows.
fn chain(base: Arc<dyn Base>, steps: usize) -> AnnealedGuide {
    AnnealedGuide {
        base,
        drive: Drive::FullData,
        steps,
        momentum: Momentum::Whitened,
        start: AnnealedStart {
            step_size: 0.1,
            ..AnnealedStart::default()
        },
    }
}

#[test]
fn a_chain_of_no_steps_on_a_flow_is_the_flow() {
    let linear = Linear::conditioned(4, 20.0);
    let base: Arc<dyn Base> = Arc::new(bent(blocks(true)));
    assert_eq!(
        drawn(&linear, &chain(base.clone(), 0)),
        drawn(&linear, base.as_ref())
    );
}

fn bound_at(program: &mut Program, values: &[f64]) -> f64 {
    program.set_learned(values);
    program.run();
    program.output(0)[0]
}

fn assert_gradients(guide: &dyn Guide) {
    let linear = Linear::conditioned(4, 20.0);
    let density = &linear.density;
    let mut learned = LearnedBlocks::new(all_blocks(density, guide));
    stir(&mut learned, 0.1);
    let program = compile(density, &learned, (3, 5), |context| {
        let drawn = guide.draw(context);
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
    // Some entries of every block.
    let chosen = (0..places).flat_map(|place| learned.range(place).step_by(7));
    for at in chosen {
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

#[test]
fn gradients_of_the_bound_are_those_of_differences() {
    let narrow = Autoregressive {
        layers: 2,
        width: 6,
    };
    let small = BlockNeural {
        units: 3,
        gated: true,
    };
    assert_gradients(&bent(narrow));
    assert_gradients(&bent(small));
    assert_gradients(&chain(Arc::new(bent(narrow)), 2));
    assert_gradients(&chain(Arc::new(bent(small)), 2));
}

#[test]
fn every_base_below_a_chain_is_stored_with_it() {
    let linear = Linear::conditioned(3, 5.0);
    for base in BASES {
        let fit = Fit::named("sl-dais")
            .unwrap()
            .set("base", base.name)
            .unwrap();
        // Condensed rows would have to be computed again to draw from the fit.
        let fit = fit.set("surrogate", "rand").unwrap();
        let fit = fit.set("iterations", "30").unwrap().seed(2).draws(100);
        let posterior = fit.run(&linear.density).unwrap();
        let sampler = method::restore(&posterior.origin.method).unwrap();
        let again = sampler.draw(&linear.density, 100, 5).unwrap();
        assert_eq!(again.len(), 300, "{}", base.name);
        assert!(again.iter().all(|z| z.is_finite()), "{}", base.name);
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

/// 64 draws per step, and three rates for six, three and one tenths of the steps.
fn trained(settings: &mut VariationalSettings, steps: u64) {
    settings.train.iterations = Iterations::Fixed(steps);
    settings.train.lanes = 64;
    let rates = vec![(0, 2e-3), (steps * 6 / 10, 6e-4), (steps * 9 / 10, 1e-4)];
    settings.train.schedule = Schedule::Table(rates);
}

/// The gap between the evidence of [`groups`] and the bound; for the best full-rank Gaussian it is
/// 1.52 nats.
fn gap(method: impl Method + 'static) -> f64 {
    let posterior = Fit::new(method).seed(1).draws(4000).run(&groups()).unwrap();
    let bound = posterior.bound().unwrap();
    let gap = LOG_EVIDENCE - bound.mean;
    assert!(gap > -4.0 * bound.error, "{bound:?} is no bound");
    gap
}

#[test]
fn a_funnel_is_fitted_to_a_third_of_a_nat() {
    let mut method = Iaf::default();
    trained(&mut method.variational, 2500);
    let gap = gap(method);
    assert!(gap < 0.35, "{gap} nats below the evidence");
}

#[test]
#[ignore = "a minute of training"]
fn a_block_flow_fits_a_funnel_to_two_thirds_of_a_nat() {
    let mut method = Bnaf::default();
    trained(&mut method.variational, 6000);
    let gap = gap(method);
    println!("{gap} nats below the evidence");
    // The gap is 0.60 here; a prototype reached 0.5.
    assert!(gap < 0.67, "{gap} nats below the evidence");
}
